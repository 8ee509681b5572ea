import type { NodeState, VerdictKind } from '#contracts';

export const NodeStates: readonly NodeState[] = ['Unknown', 'Discovered', 'Disappeared'];

/** What may change whether a node counts as heard. */
export type StateCause =
  VerdictKind | 'monitor-discovered' | 'monitor-disappeared' | 'proven-off' | 'proof-void' | 'revoked';

/** The state of a node after each cause, whatever it was before; undefined: the cause leaves it as it is. */
export const stateAfter = {
  UP: 'Discovered',
  DEGRADED: 'Discovered',
  DOWN: 'Disappeared',
  LEFT: 'Disappeared',
  SUSPECT: undefined,
  UNKNOWN: undefined,
  'monitor-discovered': 'Discovered',
  'monitor-disappeared': 'Disappeared',
  'proven-off': 'Disappeared',
  'proof-void': 'Discovered',
  revoked: 'Unknown',
} as const satisfies Readonly<Record<StateCause, NodeState | undefined>>;

/** The state of a node whose record is new, by what has made it. */
export const stateBeginnings = {
  registered: 'Unknown',
  'monitor-discovered': 'Discovered',
} as const satisfies Readonly<Record<string, NodeState>>;
