/**
 * What made a storm. `brake`: more unhealthy nodes at once than may be. `domain`: most of a failure domain fell together.
 * `blindness`: the detector could judge nobody since too many reports were missing, and these were silent when it could again.
 */
export const StormCauses = ['brake', 'domain', 'blindness'] as const;
export type StormCause = (typeof StormCauses)[number];

/** A member of a storm: for as long as it stands nobody fences it without an operator's word. */
export interface StormMember {
  /** It was heard again. Later returns of the same node do not count. */
  returned?: true;
  /** An operator let it go: it is judged as if there were no storm. */
  released?: { by: string; reason: string; at: number };
}

/** A storm that stands: written beside the permits, in the same compare-and-set. */
export interface StormTrip {
  id: string;
  cause: StormCause;
  /** `domain`: which one. */
  domain?: string;
  /** Wall clock, ms: for people. */
  at: number;
  members: Record<string, StormMember>;
}

/** A storm as it is shown. */
export interface StormView {
  id: string;
  cause: StormCause;
  domain?: string;
  at: number;
  /** All, by name. */
  members: string[];
  /** Heard again since, at least once. */
  returned: string[];
  /** Neither heard as UP now, nor cordoned, confirmed down, deleted, fenced or released. */
  rest: string[];
  released: string[];
  /** Of the rest, at most so many may be for it to end by itself: of what `restDomain` counts, where that is there. */
  limit: number;
  /**
   * The failure domain that `limit` is of: `rest` of its `nodes` are not back. Absent: it is of the fleet, and all that are
   * not back count.
   */
  restDomain?: { name: string; rest: number; nodes: number };
  /** ms for which it has stood, on the answering process's monotonic clock; at most 10 s less than it is. */
  standsForMs: number;
  /** Wall clock, ms: it ends by itself then, if nobody else returns first. Absent: an operator ends it. */
  resumesAt?: number;
  /** One sentence. */
  detail: string;
}

/** What became of one member that an operator named. */
export interface StormOutcome {
  node: string;
  ok: boolean;
  /** Why not; or a note. */
  detail?: string;
}
