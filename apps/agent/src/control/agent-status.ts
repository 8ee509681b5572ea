import type { PeerList } from '#contracts/wire/peers.js';
import type { Report } from '#contracts/wire/report.js';
import type { RejoinSwitches } from '../membership/membership.js';
import type { RejoinHappening } from '../membership/rejoin-diary.js';

/** Answer of the status socket to `{"op":"status"}`: the report as it would go out now, with its metrics, and what is behind it. */
export interface AgentStatus extends Report {
  list: PeerList | null;
  /** Networks over which NATS is connected. */
  nats: string[];
  sockets: { network: string; up: boolean; bufferBytes: number; lastError: string | null }[];
  rejoin: {
    switches: RejoinSwitches;
    /** Peers that are lost now. */
    lost: string[];
    /** Every peer is lost: the loop runs every 5 s. */
    isolated: boolean;
    /** ms until the timer begins a run; null: it is switched off. */
    nextRunInMs: number | null;
    /** The last 50, newest last. */
    happenings: RejoinHappening[];
  };
  /** Bare probes that were answered; absent: switched off. */
  plainAnswered?: number;
}
