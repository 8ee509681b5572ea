import type { ServerInfo } from '../ports/wire.js';

/** How long the store is waited for. */
export interface Patience {
  /** One try of a write, ms: a stream without a leader answers with silence, and the next try may meet its new one. */
  tryMs: number;
  /** All tries together, ms. */
  limitMs: number;
  /** The same question of a read is asked again after this long without an answer, ms; absent: it is asked once. */
  askAgainMs?: number;
}

const SINGLE: Patience = { tryMs: 1_500, limitMs: 5_000 };
/** A Raft election took 4–9 s here on three servers of 2.15.1. */
const CLUSTER: Patience = { tryMs: 500, limitMs: 12_000, askAgainMs: 500 };

/** @param server that this process is or was last connected to */
export const patienceWith = (server: Pick<ServerInfo, 'cluster'> | undefined): Patience =>
  server?.cluster === undefined ? SINGLE : CLUSTER;
