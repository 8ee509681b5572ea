import type { NatsServerFacts } from '#contracts';
import { asRevoker, type RevocationOptions } from './revocation.js';
import { SystemRequests } from './revoker-key.js';

/** No further server has answered for so long: all have, ms. */
const QUIET_MS = 300;
/** ms for all of them. */
const ANSWERS_MS = 1_500;

/**
 * What every server of the cluster tells of itself that answers within 1.5 s, by name. One that is down is not among
 * them.
 * @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED as for a revocation. A NATS that was started before its `muster init`
 * allowed this question answers nothing: the list is empty.
 */
export const natsServers = (o: RevocationOptions): Promise<NatsServerFacts[]> =>
  asRevoker(o, async (nc) => {
    const found: NatsServerFacts[] = [];
    try {
      const answers = await nc.requestMany(SystemRequests.servers, '', {
        strategy: 'stall',
        maxWait: ANSWERS_MS,
        stall: QUIET_MS,
      });
      for await (const answer of answers) {
        const facts = serverFacts(answer.json());
        if (facts !== undefined) found.push(facts);
      }
    } catch (cause) {
      // Nobody may be asked that, by the account that this server was started with.
      if (!/permissions violation|no responders/i.test((cause as Error).message)) throw cause;
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  });

interface Varz {
  server?: { name?: string; ver?: string; cluster?: string };
  data?: {
    jetstream?: {
      config?: { max_storage?: number; sync_interval?: number; sync_always?: boolean };
      stats?: { storage?: number };
    };
  };
}

/** From an answer to VARZ; undefined: it is none. Servers before 2.10 do not tell when they write to the disk. */
export function serverFacts(answer: unknown): NatsServerFacts | undefined {
  const { server, data } = answer as Varz;
  if (typeof server?.name !== 'string' || typeof server.ver !== 'string') return undefined;
  const { config = {}, stats = {} } = data?.jetstream ?? {};
  const { sync_always: always, sync_interval: intervalNs, max_storage: limit } = config;
  return {
    name: server.name,
    version: server.ver,
    ...(server.cluster !== undefined && server.cluster !== '' && { cluster: server.cluster }),
    ...(always === true
      ? { sync: 'always' as const }
      : intervalNs !== undefined && { sync: Math.round(intervalNs / 1e6) }),
    ...(stats.storage !== undefined && { storeBytes: stats.storage }),
    ...(limit !== undefined && limit > 0 && { storeLimitBytes: limit }),
  };
}
