import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { forgetOldest, SparseLog } from '#bus';
import { MusterError } from '#contracts';
import { FailedTries, sourceOf } from './failed-tries.js';

/** Tokens that were right, by where they came from, that are remembered. */
const MOST_KNOWN = 10_000;

/**
 * Wrong API tokens, counted by where they come from. Who shows too many is refused for a while, and so is every token
 * from there that was not right from there before: a guess must not be told from a miss. Who is at work already goes on.
 */
export class GuessedTokens {
  private readonly tries = new FailedTries();
  private readonly lines = new SparseLog({ burst: 3, every: 60_000 });
  private readonly known = new Set<string>();

  constructor(
    private readonly log: Pick<Logger, 'warn'>,
    /** Monotonic, ms. */
    private readonly now: () => number,
  ) {}

  /** @throws MusterError what `identify` throws; TOO_MANY_TRIES without asking it */
  check<T>(request: FastifyRequest, token: string, identify: () => T): T {
    const source = sourceOf(request.ip, request.raw.socket.remoteAddress);
    const mark = createHash('sha256').update(`${source} ${token}`).digest('base64');
    const waitMs = this.known.has(mark) ? 0 : this.tries.waitMs(source, this.now());
    if (waitMs > 0) {
      this.warn(source, 'wrong API tokens: who shows them is refused for a while');
      const retryAfter = Math.ceil(waitMs / 1000);
      throw new MusterError('TOO_MANY_TRIES', `too many wrong tokens from here: try again in ${retryAfter} s`, {
        retryAfter,
      });
    }
    try {
      const identity = identify();
      this.remember(mark);
      return identity;
    } catch (e) {
      if (MusterError.from(e).code === 'UNAUTHORIZED') {
        this.known.delete(mark);
        this.tries.failed(source, this.now());
        this.warn(source, 'a wrong API token');
      }
      throw e;
    }
  }

  private remember(mark: string): void {
    this.known.add(mark);
    forgetOldest(this.known, MOST_KNOWN);
  }

  private warn(source: string, what: string): void {
    const leftOut = this.lines.next(source, this.now());
    if (leftOut !== undefined) this.log.warn({ source, leftOut }, what);
  }
}
