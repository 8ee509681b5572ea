import type {
  AgentKeyView,
  AgentToken,
  ClusterSettings,
  DiagnosisView,
  NodeView,
  RpcAnswer,
  StatusView,
  TokenRecord,
} from '#contracts';
import { Failure } from '../failure/failure.js';
import { NoServer } from '../server/ask.js';
import type { Server } from '../server/server.js';
import type { Asked } from './finding.js';
import type { PowerReads } from './power.js';

/** Nodes whose power devices are read at once: a BMC that is dead takes 6 s. */
const READS_AT_ONCE = 16;

/** All that the server was asked. */
export interface ServerFacts {
  nodes: Asked<NodeView[]>;
  status: Asked<StatusView>;
  diagnosis: Asked<DiagnosisView>;
  settings: Asked<ClusterSettings>;
  tokens: Asked<(TokenRecord & { id: string })[]>;
  agentTokens: Asked<AgentToken[]>;
  key: Asked<AgentKeyView>;
  /** By node. */
  reads: Map<string, PowerReads>;
}

/** @param o.power whether power devices are read, each by one status command */
export async function askServer(server: Server, o: { power: boolean }): Promise<ServerFacts> {
  const asked = await Promise.all([
    orFailed(() => server.all<NodeView>('/v1/nodes')),
    orFailed(() => server.get<StatusView>('/v1/status')),
    orFailed(() => server.get<DiagnosisView>('/v1/diagnosis')),
    orFailed(() => server.get<ClusterSettings>('/v1/settings')),
    orFailed(async () => (await server.get<{ items: (TokenRecord & { id: string })[] }>('/v1/tokens')).items),
    orFailed(async () => (await server.get<{ items: AgentToken[] }>('/v1/agents/tokens')).items),
    orFailed(() => server.get<AgentKeyView>('/v1/agents/key')),
  ]);
  const [nodes, status, diagnosis, settings, tokens, agentTokens, key] = asked;
  const reads = 'failed' in nodes || !o.power ? new Map<string, PowerReads>() : await readAll(server, nodes.value);
  return { nodes, status, diagnosis, settings, tokens, agentTokens, key, reads };
}

async function readAll(server: Server, nodes: readonly NodeView[]): Promise<Map<string, PowerReads>> {
  const reads = new Map<string, PowerReads>();
  const waiting = nodes.filter((n) => n.powerLevels.flat().length > 0).map((n) => n.name);
  const reader = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const path = `/v1/nodes/${encodeURIComponent(name)}/power`;
      reads.set(name, await orFailed(async () => (await server.get<RpcAnswer<'fencer.power.read'>>(path)).devices));
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, reader));
  return reads;
}

/** What was refused is a fact of its own; a defect of ours is not. */
async function orFailed<T>(ask: () => Promise<T>): Promise<Asked<T>> {
  try {
    return { value: await ask() };
  } catch (e) {
    if (e instanceof NoServer) return { failed: e.message };
    if (e instanceof Failure) return { failed: `not asked: ${e.message}` };
    throw e;
  }
}
