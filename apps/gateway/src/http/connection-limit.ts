import type { Socket } from 'node:net';
import { sourceOf } from '../auth/failed-tries.js';

/** Connections to the gateway by TCP. Each costs memory and a file, whatever it sends. */
export const ConnectionNumbers = {
  /** In all. A page holds six at most, and a stream of events one. */
  most: 2_000,
  /** From one place (of IPv6 the /64), so that no single one takes them all. This machine, and proxies, are not one place. */
  mostOfOne: 500,
  /** A request's head must be there within, ms. */
  headMs: 15_000,
  /** A whole request must be there within, ms. */
  requestMs: 60_000,
} as const;

/** Counts the open connections by where they come from. */
export class ConnectionLimit {
  private readonly open = new Map<string, number>();
  private all = 0;

  constructor(
    private readonly o: { most: number; mostOfOne: number } = ConnectionNumbers,
    /** Many come through it, one after the other. */
    private readonly isShared: (source: string) => boolean = () => false,
  ) {}

  /** @returns the place that has too many; undefined: it may stay, and counts until it is closed */
  admit(socket: Socket): string | undefined {
    const source = sourceOf(socket.remoteAddress);
    const own = this.open.get(source) ?? 0;
    if (this.all >= this.o.most || (own >= this.o.mostOfOne && !this.isShared(source))) return source;
    this.all += 1;
    this.open.set(source, own + 1);
    socket.once('close', () => this.closed(source));
    return undefined;
  }

  private closed(source: string): void {
    this.all -= 1;
    const left = (this.open.get(source) ?? 1) - 1;
    if (left === 0) this.open.delete(source);
    else this.open.set(source, left);
  }
}
