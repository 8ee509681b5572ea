import type { PeerList } from '#contracts/peers.js';
import { reasonOf, type AgentLog } from '../log.js';
import type { PeerCache } from './peer-cache.js';
import { parsePeerList, whyNotAccept } from './parse-peer-list.js';

/** ms. `firstRetry`: while there is no list at all, and so nobody to probe. */
export const refresherNumbers = {
  period: 300_000,
  firstRetry: 1_000,
  retry: 5_000,
  mostRetry: 60_000,
  deadline: 5_000,
};

export interface RefresherParts {
  self: { node: string; cluster: string };
  cache: PeerCache;
  /** Asks the control plane; must settle by itself within the deadline that it is given. */
  ask: (deadlineMs: number) => Promise<string>;
  accept: (list: PeerList) => void;
  log: AgentLog;
  numbers?: typeof refresherNumbers;
}

/**
 * Keeps the peer list fresh: every five minutes and when told. A task of its own with its own deadline: the probe loop
 * never waits for it. Whatever goes wrong, the last good list stays in use, and `warning` says why.
 */
export class Refresher {
  /** Why what is on disk could not be used; until a good list has taken its place. */
  private onDisk: string | undefined;
  /** Why the last question brought no list. */
  private asked: string | undefined;
  private current: PeerList | undefined;
  private timer: NodeJS.Timeout | undefined;
  private running = false;
  private again = false;
  private failures = 0;
  /** Why the last list that came was refused, and how many in a row. */
  private refused: { why: 'empty' | 'older'; times: number } | undefined;
  /** What is on disk is not the list in use, or was broken. */
  private unsaved = false;
  private saving: Promise<void> | undefined;
  private stopped = false;

  private readonly n: typeof refresherNumbers;

  constructor(private readonly p: RefresherParts) {
    this.n = p.numbers ?? refresherNumbers;
  }

  get list(): PeerList | undefined {
    return this.current;
  }

  /** Why the list in use may be old, or would be gone with this process. */
  get warning(): string | undefined {
    const reasons = [this.onDisk, this.asked].filter((w) => w !== undefined);
    return reasons.length > 0 ? `peer list: ${reasons.join('; ')}` : undefined;
  }

  /** The list on disk first: an agent resumes before anybody answers. */
  async start(): Promise<void> {
    const { list, warning } = await this.p.cache.load();
    this.onDisk = warning;
    this.unsaved = warning !== undefined;
    if (warning !== undefined) this.p.log.warn('the cached peer list cannot be used', { reason: warning });
    if (list) {
      this.current = list;
      this.p.accept(list);
    }
    this.refresh();
  }

  /** Asks now; several wishes during one question become one more question. */
  refresh(): void {
    if (this.stopped) return;
    if (this.running) {
      this.again = true;
      return;
    }
    this.running = true;
    clearTimeout(this.timer);
    void this.once().finally(() => {
      this.running = false;
      const again = this.again;
      this.again = false;
      if (again) this.refresh();
      else this.plan();
    });
  }

  /** Resolves when nothing of it writes any more. It waits for no answer: one that comes later is nobody's. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    // Where it fails, that is said by whom it was written for.
    await Promise.allSettled([this.saving]);
  }

  private plan(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => this.refresh(), this.wait());
  }

  private wait(): number {
    if (this.failures === 0) return this.n.period;
    if (!this.current) return this.n.firstRetry;
    return Math.min(this.n.mostRetry, this.n.retry * 2 ** Math.min(6, this.failures - 1));
  }

  private async once(): Promise<void> {
    try {
      const list = parsePeerList(await this.p.ask(this.n.deadline), this.p.self);
      if (this.stopped) return;
      const why = whyNotAccept(list, this.current, (reason) => (this.refused?.why === reason ? this.refused.times : 0));
      this.refused = why && { why, times: this.refused?.why === why ? this.refused.times + 1 : 1 };
      if (why !== undefined)
        throw new Error(`the new list (version ${list.version}) is ${why}; the last good one stays`);
      const changed = JSON.stringify(list) !== JSON.stringify(this.current);
      this.current = list;
      if (changed) this.p.accept(list);
      this.unsaved ||= changed;
      if (this.unsaved) await (this.saving = this.p.cache.save(list));
      this.unsaved = false;
      this.onDisk = undefined;
      this.failures = 0;
      this.asked = undefined;
    } catch (e) {
      this.failures++;
      this.asked = reasonOf(e);
      // Once per row of failures: a control plane that is down for an hour shall not fill the log.
      if (this.failures === 1) this.p.log.warn('the peer list could not be refreshed', { reason: reasonOf(e) });
    }
  }
}
