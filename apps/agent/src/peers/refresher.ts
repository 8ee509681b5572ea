import type { Clock, Timer } from '#contracts/ports/clock.js';
import type { Random } from '#contracts/ports/random.js';
import type { PeerList } from '#contracts/wire/peers.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';
import type { PeerCache } from './peer-cache.js';
import { parsePeerList, whyNotAccept } from './parse-peer-list.js';

/**
 * ms. `firstRetry`: while there is no list at all, and so nobody to probe. `jitter`: share by which each wait before a
 * retry is drawn shorter or longer, for what fails for one agent often fails for all.
 */
const refresherNumbers = {
  period: 300_000,
  firstRetry: 1_000,
  retry: 5_000,
  mostRetry: 60_000,
  deadline: 5_000,
  jitter: 0.1,
};

export interface RefresherParts {
  self: { node: string; cluster: string };
  cache: PeerCache;
  /** Asks the control plane; must settle by itself within the deadline that it is given. */
  ask: (deadlineMs: number) => Promise<string>;
  accept: (list: PeerList) => void;
  /** Whether a list in use names keys that are not in use yet: then it is asked again soon. */
  lacksKeys: (keys: PeerList['keys']) => boolean;
  clock: Clock;
  random: Random;
  log: AgentLog;
  numbers?: typeof refresherNumbers;
}

/**
 * Keeps the peer list fresh: every five minutes and when told. A task of its own with its own deadline: the probe loop
 * never waits for it, and it never waits for the disk. Whatever goes wrong, the last good list stays in use, and
 * `warning` says why.
 */
export class Refresher {
  /** Why what is on disk could not be used; until a good list has taken its place. */
  private onDisk: string | undefined;
  /** Why the last question brought no list. */
  private asked: string | undefined;
  /** Why the list in use could not be written. */
  private notWritten: string | undefined;
  private current: PeerList | undefined;
  private timer: Timer | undefined;
  private running = false;
  private again = false;
  private failures = 0;
  /** Good lists in a row that were not written, or whose keys were not taken, when they came. */
  private unfinished = 0;
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
    const reasons = [this.onDisk, this.notWritten, this.asked].filter((w) => w !== undefined);
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
    this.timer?.cancel();
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
    this.timer?.cancel();
    // Where it fails, that is said by whom it was written for.
    await Promise.allSettled([this.saving]);
  }

  private plan(): void {
    if (this.stopped) return;
    const more = this.failures === 0 && this.unfinished > 0;
    this.timer = this.p.clock.after(this.wait(), () => {
      if (!more || this.isUnfinished()) return this.refresh();
      this.unfinished = 0;
      this.plan();
    });
  }

  private wait(): number {
    const tries = Math.max(this.failures, this.unfinished);
    if (tries === 0) return this.n.period;
    const { firstRetry, retry, mostRetry, jitter } = this.n;
    const ms = this.current ? Math.min(mostRetry, retry * 2 ** Math.min(6, tries - 1)) : firstRetry;
    return ms * (1 + jitter * (2 * this.p.random.number() - 1));
  }

  private isUnfinished(): boolean {
    return this.unsaved || this.p.lacksKeys(this.current?.keys);
  }

  private async once(): Promise<void> {
    try {
      const list = parsePeerList(await this.p.ask(this.n.deadline), this.p.self);
      if (this.stopped) return;
      const why = whyNotAccept(list, this.current, (reason) => (this.refused?.why === reason ? this.refused.times : 0));
      this.refused = why && { why, times: this.refused?.why === why ? this.refused.times + 1 : 1 };
      if (why !== undefined)
        throw new Error(`the new list (version ${list.version}) is ${why}; the last good one stays`);
      if (JSON.stringify(list) !== JSON.stringify(this.current)) {
        this.current = list;
        this.unsaved = true;
        this.p.accept(list);
      }
      // Not waited for: a disk that hangs must not keep the next list away.
      if (this.unsaved) this.saving ??= this.save().finally(() => (this.saving = undefined));
      this.unfinished = this.isUnfinished() ? this.unfinished + 1 : 0;
      this.failures = 0;
      this.asked = undefined;
    } catch (e) {
      this.failures++;
      this.asked = reasonOf(e);
      // Once per row of failures: a control plane that is down for an hour shall not fill the log.
      if (this.failures === 1) this.p.log.warn('the peer list could not be refreshed', { reason: reasonOf(e) });
    }
  }

  /** The list in use, and those that come into use meanwhile. */
  private async save(): Promise<void> {
    try {
      for (let list = this.current, saved; list && list !== saved; list = this.current) {
        await this.p.cache.save(list);
        saved = list;
      }
      this.unsaved = false;
      this.onDisk = this.notWritten = undefined;
    } catch (e) {
      if (this.notWritten === undefined) this.p.log.warn('the peer list could not be written', { reason: reasonOf(e) });
      this.notWritten = reasonOf(e);
    }
  }
}
