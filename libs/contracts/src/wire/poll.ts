/** Whom an agent is asked to look at, with addresses: in a large fleet most are not on its own peer list. */
export interface PollTarget {
  name: string;
  /** Address per network. */
  networks: Record<string, string>;
}

/** `muster.poll.<node>`: the monitor suspects these, and asks somebody who does not watch them. */
export interface PollRequest {
  /** At most {@link POLL_TARGETS}. */
  targets: PollTarget[];
  /** UDP port of every agent. */
  port: number;
}

/**
 * Per target and network how many of the probes that left were answered. A network of which nothing is said was not
 * tried (not shared, or our own sending failed): it says nothing of the target.
 */
export interface PollAnswer {
  node: string;
  /** Of the answering process: an answer of an older one does not count. */
  epoch: number;
  /** The answering agent's loop stood still meanwhile, or it abstains: none of this reports anybody down. */
  abstain: boolean;
  targets: { name: string; networks: Record<string, { sent: number; answered: number }> }[];
}

/** ms; who has not answered by then reports nobody down. */
export const POLL_LIMIT_MS = 1000;
/** Beyond so many members, so many are drawn at random to be polled. */
export const POLLED_MOST = 64;
export const POLL_TARGETS = 64;
