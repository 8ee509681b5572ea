import { NatsLink } from './nats-link.js';

/** All connections of this agent, one per network: whatever is said goes out on each, and the first answer counts. */
export class NatsLinks {
  constructor(private readonly links: NatsLink[]) {}

  start(): void {
    for (const link of this.links) link.start();
  }

  /** By network; see {@link NatsLink.follow}. */
  follow(servers: Record<string, readonly string[]> | undefined): void {
    for (const link of this.links) link.follow(servers?.[link.network]);
  }

  connected(): string[] {
    return this.links.filter((l) => l.up).map((l) => l.network);
  }

  publish(subject: string, text: string): boolean {
    return this.links.map((l) => l.publish(subject, text)).some(Boolean);
  }

  /** The first answer of any connection; rejects with one sentence when none came. */
  async request(subject: string, text: string, timeoutMs: number): Promise<string> {
    try {
      return await Promise.any(this.links.map((l) => l.request(subject, text, timeoutMs)));
    } catch (e) {
      const reasons = e instanceof AggregateError ? e.errors.map((x) => (x as Error).message) : [String(e)];
      throw new Error([...new Set(reasons)].join('; '), { cause: e });
    }
  }

  async flush(limitMs: number): Promise<void> {
    await Promise.all(this.links.map((l) => l.flush(limitMs)));
  }

  async close(): Promise<void> {
    await Promise.all(this.links.map((l) => l.close()));
  }
}
