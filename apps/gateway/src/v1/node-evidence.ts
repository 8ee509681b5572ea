import { Injectable } from '@nestjs/common';
import { MusterError, Subjects, type NodeEvidence, type NodeRecord, type Verdict } from '#contracts';
import { EventHistory } from '../events/event-history.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { evidenceMatrix, type HealthNumbers } from './evidence-matrix.js';

/** Verdicts that are looked at for since when one has stood. */
const LOOKED_AT = 50;
/** A verdict is stored a moment after it was given; a bus that was gone stores it late, ms. */
const STORED_WITHIN_MS = 10_000;

/** Why a node is judged as it is, or was at a moment of the past. */
@Injectable()
export class EvidenceService {
  constructor(
    private readonly rpc: RpcClient,
    private readonly history: EventHistory,
  ) {}

  /**
   * As of now where the active detector answers, else the last that was published.
   * @throws MusterError NODE_UNKNOWN
   */
  async now(name: string): Promise<NodeEvidence> {
    const node = await this.rpc.read('inventory.nodes.get', { name });
    const [asked, verdicts] = await Promise.all([
      node.enrolled ? this.rpc.read('inventory.nodes.verdict', { name }) : { verdict: undefined },
      this.history.verdictsOf(name, LOOKED_AT),
    ]);
    const now = asked.verdict;
    if (now !== undefined) return this.shown('now', now, verdicts);
    if (verdicts[0] !== undefined) return this.shown('stored', verdicts[0], verdicts);
    return recorded(name, node.verdict);
  }

  /**
   * The last verdict that was given at or before that moment.
   * @throws MusterError NODE_UNKNOWN, NOT_FOUND where none from before is kept, BAD_REQUEST where it is yet to come
   */
  async at(name: string, moment: Date): Promise<NodeEvidence> {
    const ahead = moment.getTime() - Date.now();
    // The asker's clock and ours need not agree to the second.
    if (ahead > STORED_WITHIN_MS)
      throw new MusterError(
        'BAD_REQUEST',
        `at: ${moment.toISOString()} is yet to come, it is ${new Date().toISOString()}: without it the answer is as of now`,
      );
    const { seq, keptSince } = await this.history.lastUntil(
      Subjects.verdict(name),
      new Date(moment.getTime() + STORED_WITHIN_MS),
    );
    const verdicts = seq === undefined ? [] : await this.history.verdictsOf(name, LOOKED_AT, seq + 1, moment);
    if (verdicts[0] !== undefined) return this.shown('stored', verdicts[0], verdicts);
    const { verdict } = await this.rpc.read('inventory.nodes.get', { name });
    // Nothing has changed for longer than verdicts are kept.
    if (verdict !== undefined && verdict.at <= moment.getTime()) return recorded(name, verdict);
    throw new MusterError(
      'NOT_FOUND',
      `no verdict on ${name} is kept from ${moment.toISOString()} or before${keptSince === undefined ? '' : `; what is kept begins at ${keptSince.toISOString()}`}`,
      { node: name, ...(keptSince && { keptSince: keptSince.getTime() }) },
    );
  }

  private async shown(source: NodeEvidence['source'], v: Verdict, verdicts: readonly Verdict[]): Promise<NodeEvidence> {
    const { evidence, ...verdict } = v;
    const { observers, wordless, ...counts } = evidence;
    const since = standsSince(v, verdicts);
    return {
      node: v.node,
      source,
      asOf: v.at,
      verdict,
      ...(since !== undefined && { since }),
      ...evidenceMatrix(observers, await this.numbers(), wordless),
      counts,
    };
  }

  private async numbers(): Promise<HealthNumbers> {
    return (await this.rpc.read('inventory.settings.get', {})).detection;
  }
}

/** What the registry keeps of a verdict, without its evidence. */
function recorded(node: string, verdict: NodeRecord['verdict']): NodeEvidence {
  const nothing = { node, source: 'stored' as const, networks: [], observers: [] };
  if (verdict === undefined) return { ...nothing, verdict: null };
  return { ...nothing, asOf: verdict.at, verdict: { node, ...verdict, reason: verdict.reason ?? '' } };
}

/**
 * When it was first said, without another word in between: a new detector says again what stood before.
 * @param verdicts newest first
 */
export function standsSince(v: Verdict, verdicts: readonly Verdict[]): number | undefined {
  const other = verdicts.findIndex((t) => t.verdict !== v.verdict || t.networks.join() !== v.networks.join());
  return (other === -1 ? verdicts : verdicts.slice(0, other)).at(-1)?.at;
}
