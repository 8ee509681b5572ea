import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Bus, Watch } from '#bus';
import { hasEnded, MusterError, type StoredToken } from '#contracts';
import type { Identity } from './token-file.js';

/** How often open answers are asked whether their token still stands, ms: one that is deleted ends them within a second. */
const LOOK_MS = 250;

/** Tokens that were made over the API, followed in their bucket. */
export class TokenBook {
  private readonly byName = new Map<string, StoredToken>();
  private readonly byHash = new Map<string, StoredToken>();
  private readonly answers = new Map<ServerResponse, string>();
  private readonly watch: Watch;
  private readonly timer: NodeJS.Timeout;

  constructor(
    bus: Bus,
    private readonly now: () => number = () => Date.now(),
  ) {
    this.watch = bus.bucket<StoredToken>('tokens').watch({ onChange: (name, token) => this.apply(name, token) });
    this.timer = setInterval(() => this.endAnswers(), LOOK_MS).unref();
  }

  /**
   * Who a token belongs to. `answer` is cut off when the token has ended before it: a stream may last for days.
   * @throws MusterError UNAUTHORIZED; BUS_UNAVAILABLE while a token may have been deleted without our knowing
   */
  identify(token: string, answer: ServerResponse): Identity {
    if (!this.watch.live)
      throw new MusterError(
        'BUS_UNAVAILABLE',
        'this token cannot be checked without NATS and inventory; ask again in a moment',
      );
    const hash = createHash('sha256').update(token).digest('hex');
    if (!this.stands(hash)) throw new MusterError('UNAUTHORIZED', 'this token is not known, or it has ended');
    this.answers.set(answer, hash);
    answer.once('close', () => this.answers.delete(answer));
    const { name, role } = this.byHash.get(hash)!;
    return { name, role };
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.watch.close();
  }

  private stands(hash: string): boolean {
    const token = this.byHash.get(hash);
    return token !== undefined && !hasEnded(token, this.now());
  }

  private apply(name: string, token: StoredToken | undefined): void {
    const before = this.byName.get(name);
    if (before !== undefined) this.byHash.delete(before.sha256);
    this.byName.delete(name);
    if (token === undefined) return;
    this.byName.set(name, token);
    this.byHash.set(token.sha256, token);
  }

  private endAnswers(): void {
    for (const [answer, hash] of this.answers) if (!this.stands(hash)) answer.destroy();
  }
}
