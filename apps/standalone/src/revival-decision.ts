import { hasRoom, isFull, type StoreFacts } from '#bus';

/** A disk that has room for so long has it: whoever makes room is still at it before, ms. */
const ROOM_FOR_MS = 2_000;
/** A store that has not answered for so long, although its disk has room, does not by itself, ms. */
const SILENT_FOR_MS = 20_000;
/** Between two restarts, ms: one that did not help is not repeated at once. */
const BETWEEN_MS = 30_000;

export interface RevivalState {
  /** The disk was full since the server was started last: it writes no more, whatever it says. */
  wasFull: boolean;
  /** Since when there is room again, by the caller's clock. */
  roomSince?: number;
  restartedAt?: number;
}

export interface RevivalDecision {
  state: RevivalState;
  /** Why nats-server is to be restarted now; undefined: it is not. */
  restart?: string;
}

/**
 * A nats-server whose disk was full does not go on when there is room again: one of 2.9 stands still with all its
 * streams, one of 2.15 with each that it could not write. So it is restarted, once, when there is room; never while
 * there is none, since it could not even read what it has.
 */
export function decideRevival(
  was: RevivalState,
  facts: Pick<StoreFacts, 'disk' | 'silentForMs'>,
  now: number,
): RevivalDecision {
  const { disk, silentForMs } = facts;
  if (disk === undefined) return { state: was };
  const state: RevivalState = { wasFull: was.wasFull || isFull(disk) };
  if (was.restartedAt !== undefined) state.restartedAt = was.restartedAt;
  if (!hasRoom(disk)) return { state };
  state.roomSince = was.roomSince ?? now;
  const rested = was.restartedAt === undefined || now - was.restartedAt >= BETWEEN_MS;
  const why = state.wasFull
    ? 'its disk was full and has room again'
    : silentForMs >= SILENT_FOR_MS
      ? `its store has not answered for ${Math.round(silentForMs / 1000)} s`
      : undefined;
  if (why === undefined || now - state.roomSince < ROOM_FOR_MS) return { state };
  if (!state.wasFull && !rested) return { state };
  return { state: { wasFull: false, restartedAt: now, roomSince: state.roomSince }, restart: why };
}
