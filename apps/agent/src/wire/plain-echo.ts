import type { RemoteInfo } from 'node:dgram';
import type { Clock } from '#contracts/ports/clock.js';
import type { AgentLog } from '../log/agent-log.js';
import { UdpSocket } from './udp-socket.js';

/** Bytes of a bare probe, and of its answer. */
export const PLAIN_BYTES = 16;
/** Answers a second on one address. */
const RATE = 200;
/** So many answered probes are remembered at least. */
const REMEMBERED = 4096;

/**
 * Which bare probes are answered: 16 bytes, not too many, and never the same bytes twice. A probe and its answer look
 * alike, so that with a forged sender two of us, or one of us and any old echo service, would answer each other for
 * ever: bytes that come back are known. Honest probes are 16 fresh random bytes.
 */
export class PlainGate {
  private second = -1;
  private answers = 0;
  private recent = new Set<string>();
  private before = new Set<string>();

  /** @param now monotonic ms */
  allows(bytes: Buffer, now: number): boolean {
    if (bytes.length !== PLAIN_BYTES) return false;
    const second = Math.floor(now / 1000);
    if (second !== this.second) [this.second, this.answers] = [second, 0];
    if (this.answers >= RATE) return false;
    const key = bytes.toString('latin1');
    if (this.recent.has(key) || this.before.has(key)) return false;
    this.answers++;
    this.recent.add(key);
    if (this.recent.size >= REMEMBERED) [this.before, this.recent] = [this.recent, new Set()];
    return true;
  }
}

/**
 * `wire: plain`: answers bare probes of other implementations on a port of its own, with what came and no more. Nothing
 * is authenticated here, so nothing is believed: no vote, no peer, no report knows of it.
 */
export class PlainEcho {
  private readonly sockets: UdpSocket[];
  /** Probes that were answered. */
  answered = 0;

  constructor(networks: Record<string, { bind: string }>, port: number, clock: Clock, log: AgentLog) {
    this.sockets = Object.entries(networks).map(([network, { bind }]) => {
      const gate = new PlainGate();
      const onDatagram = (bytes: Buffer, from: RemoteInfo): void => {
        if (!gate.allows(bytes, clock.monotonicMs())) return;
        this.answered++;
        socket.send(bytes, from.address, from.port, () => undefined);
      };
      const socket: UdpSocket = new UdpSocket(
        `${network}, plain`,
        bind,
        port,
        { onUp: () => undefined, onDatagram },
        clock,
        log,
      );
      return socket;
    });
  }

  /** Rejects when the port is taken. */
  async open(): Promise<void> {
    for (const socket of this.sockets) await socket.open();
  }

  close(): void {
    for (const socket of this.sockets) socket.close();
  }
}
