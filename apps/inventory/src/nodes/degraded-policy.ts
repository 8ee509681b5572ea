import type { DegradedSettings, NodeRecord } from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { isDegraded, networksDown } from '#domain/verdict/networks-out.js';

/** What is done about a node that stays DEGRADED: its workloads are moved away, or it is treated as DOWN. */
export type DegradedStep = Exclude<DegradedSettings['policy'], 'alarm'>;

/**
 * Networks on which the node alone is silent; none: there is nothing to do about it. One that is cordoned is left to its
 * operator.
 */
export const ownSilence = (n: NodeRecord, down: ReadonlySet<string>): string[] =>
  isDegraded(n) && isMember(n) ? (n.verdict?.networks ?? []).filter((network) => !down.has(network)) : [];

export interface DegradedFacts {
  policy: DegradedSettings;
  /** The detector is heard and sees the fleet: else every verdict is UNKNOWN, and nothing follows from it. */
  sighted: boolean;
  nodes: readonly NodeRecord[];
  /** ms that the node has been DEGRADED, on the asker's clock. */
  degradedForMs(node: string): number;
}

/** Which nodes have been DEGRADED for so long that the policy has something done about them. */
export function degradedSteps(f: DegradedFacts): Map<string, DegradedStep> {
  const { policy, after } = f.policy;
  if (policy === 'alarm' || !f.sighted) return new Map();
  const down = networksDown(f.nodes);
  const due = f.nodes.filter((n) => ownSilence(n, down).length > 0 && f.degradedForMs(n.name) >= after);
  return new Map(due.map((n) => [n.name, policy]));
}

/** Why nothing new may be placed on the node while the policy is more than an alarm, from the first moment on. */
export function avoidedBecause(
  n: NodeRecord,
  policy: DegradedSettings['policy'],
  down: () => ReadonlySet<string>,
): string | undefined {
  if (policy === 'alarm' || !isDegraded(n)) return undefined;
  const silent = ownSilence(n, down());
  return silent.length === 0 ? undefined : `it is silent on ${silent.join(', ')}`;
}
