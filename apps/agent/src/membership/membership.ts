import type { RejoinDiary, RejoinWhy } from './rejoin-diary.js';

/** Times in ms. */
export interface MembershipNumbers {
  /** Between two runs of the rejoin loop; each is drawn ± jitter. */
  period: number;
  /** The same while no peer at all is a member. */
  isolatedPeriod: number;
  jitter: number;
  /** A lost peer is asked to rejoin this often, also between the runs. */
  lostProbe: number;
  /** Rejoin attempts in flight at once. */
  parallel: number;
  /** How long an attempt waits for its welcome. */
  limit: number;
}

export const membershipNumbers: MembershipNumbers = {
  period: 60_000,
  isolatedPeriod: 5_000,
  jitter: 0.1,
  lostProbe: 30_000,
  parallel: 8,
  limit: 2_000,
};

/** Parts of the rejoin loop that can be switched off one by one, to show what each is for. */
export interface RejoinSwitches {
  /** Runs at all, and the attempt with a lost peer that was heard. */
  loop: boolean;
  /** Runs by the timer. */
  timer: boolean;
  /** Runs and attempts by whatever else happens. */
  triggers: boolean;
  /** A lost peer is asked every 30 s also without a run. */
  lowRate: boolean;
}

export const allSwitchedOn: RejoinSwitches = { loop: true, timer: true, triggers: true, lowRate: true };

/** A peer to be asked to rejoin, and what for. */
export interface RejoinAttempt {
  peer: string;
  why: RejoinWhy;
}

/**
 * Who is a member and who is lost, and which lost peers are asked to rejoin now. Members never are. A run asks every
 * lost peer once; triggers that come during a run become one more run after it. Attempts overlap by at most
 * `parallel`, and none waits for another: there is no lock that a dead peer could hold.
 */
export class Membership {
  private readonly peers = new Set<string>();
  private readonly lost = new Map<string, { attemptedAt: number; why: RejoinWhy }>();
  private readonly queue: RejoinAttempt[] = [];
  private readonly inFlight = new Map<string, number>();
  private again: RejoinWhy | undefined;
  private nextRunAt: number;

  constructor(
    private readonly n: MembershipNumbers,
    private readonly random: () => number,
    now: number,
    readonly diary: RejoinDiary,
    readonly switches: RejoinSwitches = allSwitchedOn,
  ) {
    this.nextRunAt = now + this.draw(n.period);
  }

  isLost(peer: string): boolean {
    return this.lost.has(peer);
  }

  lostPeers(): string[] {
    return [...this.lost.keys()];
  }

  isolated(): boolean {
    return this.peers.size > 0 && this.lost.size === this.peers.size;
  }

  /** ms until the timer begins a run; undefined: it is switched off. */
  nextRunIn(now: number): number | undefined {
    return this.switches.loop && this.switches.timer ? Math.max(0, this.nextRunAt - now) : undefined;
  }

  /** A new peer counts as a member until it proves silent. */
  setPeers(names: Iterable<string>, now: number): void {
    const next = new Set(names);
    for (const peer of [...this.peers])
      if (!next.has(peer)) {
        this.peers.delete(peer);
        this.dropLost(peer);
      }
    for (const peer of next) this.peers.add(peer);
    this.trigger(now, 'peer-list');
  }

  lose(peer: string, now: number): void {
    if (!this.peers.has(peer) || this.lost.has(peer)) return;
    this.lost.set(peer, { attemptedAt: now, why: 'timer' });
    this.diary.note(peer, 'lost', 'silent');
    if (this.isolated()) this.nextRunAt = Math.min(this.nextRunAt, now + this.draw(this.n.isolatedPeriod));
  }

  /** The peer answered our attempt: true when it is a member again by this. */
  welcome(peer: string): boolean {
    const state = this.lost.get(peer);
    this.dropLost(peer);
    if (state) this.diary.note(peer, 'joined', state.why);
    return state !== undefined;
  }

  /** Whoever is not (or no more) proven silent, by other numbers or after a standstill, is a member: to be examined at the full rate. */
  readmitUnless(silent: (peer: string) => boolean): void {
    for (const peer of this.lostPeers()) if (!silent(peer)) this.dropLost(peer);
  }

  /** Something changed: look at all lost peers now. */
  trigger(now: number, why: RejoinWhy): void {
    if (!this.switches.loop || !this.switches.triggers) return;
    if (this.running()) this.again ??= why;
    else this.startRun(now, why);
  }

  /** A lost peer was heard: ask just that one. */
  attemptSoon(peer: string): void {
    if (this.switches.loop && this.switches.triggers && this.enqueue(peer, 'heard')) this.diary.ran('heard');
  }

  /** Whom to ask to rejoin now; each counts as in flight until its welcome or its limit. */
  next(now: number): RejoinAttempt[] {
    for (const [peer, deadline] of this.inFlight) if (deadline <= now) this.inFlight.delete(peer);
    if (!this.running()) {
      const due = now >= this.nextRunAt && this.switches.loop && this.switches.timer;
      if (this.again) this.startRun(now, this.again);
      else if (due) this.startRun(now, 'timer');
    }
    if (this.switches.lowRate)
      for (const [peer, { attemptedAt }] of this.lost)
        if (now - attemptedAt >= this.n.lostProbe) this.enqueue(peer, 'low-rate');
    const due: RejoinAttempt[] = [];
    while (this.queue.length > 0 && this.inFlight.size < this.n.parallel) {
      const next = this.queue.shift() as RejoinAttempt;
      const state = this.lost.get(next.peer);
      if (!state || this.inFlight.has(next.peer)) continue;
      state.attemptedAt = now;
      state.why = next.why;
      this.inFlight.set(next.peer, now + this.n.limit);
      this.diary.note(next.peer, 'greeted', next.why);
      due.push(next);
    }
    return due;
  }

  private enqueue(peer: string, why: RejoinWhy): boolean {
    if (!this.lost.has(peer) || this.inFlight.has(peer) || this.queue.some((g) => g.peer === peer)) return false;
    this.queue.unshift({ peer, why });
    return true;
  }

  private running(): boolean {
    return this.queue.length > 0 || this.inFlight.size > 0;
  }

  private startRun(now: number, why: RejoinWhy): void {
    this.again = undefined;
    this.diary.ran(why);
    for (const peer of this.lost.keys()) this.queue.push({ peer, why });
    this.nextRunAt = now + this.draw(this.isolated() ? this.n.isolatedPeriod : this.n.period);
  }

  private dropLost(peer: string): void {
    this.lost.delete(peer);
    this.inFlight.delete(peer);
    const queued = this.queue.findIndex((g) => g.peer === peer);
    if (queued >= 0) this.queue.splice(queued, 1);
  }

  private draw(ms: number): number {
    return ms * (1 + this.n.jitter * (2 * this.random() - 1));
  }
}
