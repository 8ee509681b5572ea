import { MusterError, type Verdict } from '#contracts';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import type { Suspect } from '../polls/poll-book.js';
import type { OwnProbes } from '../probe/own-probe.js';
import type { Examiner, Vantage } from './examiner.js';
import { judge, type Judgement } from './verdict.js';
import type { VerdictLog } from './verdict-log.js';

/** Once the fleet is large, nodes are looked at in this many turns: news in a report does not wait, nor does a suspect. */
const TURNS = 5;
const LARGE = 100;
/** A node that was asked about and is not heard is looked at for so long after the question, ms. */
const ASKED_MS = 10_000;

export interface News {
  node: string;
  was: Judgement;
  is: Judgement;
}

/** Goes from what is known to what is said: examines nodes, writes down what is news, and has suspects looked at. */
export class Assessor {
  private readonly suspects = new Set<string>();
  /** Node → when somebody asked about it last: whoever decides on it needs our own look, also while there is no quorum. */
  private readonly asked = new Map<string, number>();
  /** Beside the suspects: asked about, and not heard. */
  private readonly missed = new Set<string>();
  private turn = 0;

  constructor(
    private readonly fleet: FleetView,
    private readonly examiner: Examiner,
    private readonly log: VerdictLog,
    private readonly probes: Pick<OwnProbes, 'watch'>,
  ) {}

  /** Whose turn it is: everyone in a small fleet, and always who is suspect: what stands between it and DOWN may be time. */
  inTurn(): string[] {
    const all = [...this.fleet.targets.keys()];
    if (all.length <= LARGE) return all;
    this.turn = (this.turn + 1) % TURNS;
    return all.filter((node, i) => i % TURNS === this.turn || this.log.judgementOf(node).verdict === 'SUSPECT');
  }

  /** @param quiet learn whom to look at, say nothing */
  assess(nodes: readonly string[], v: Vantage, wall: number, quiet: boolean): News[] {
    let moved = false;
    const news: News[] = [];
    for (const node of nodes) {
      const target = this.fleet.targets.get(node);
      if (!target) continue;
      const was = this.log.judgementOf(node);
      const { said, suspect, missed } = this.assessOne(target, was, v, wall, quiet);
      if (said) news.push({ node, was, is: this.log.judgementOf(node) });
      if (put(this.suspects, node, suspect)) moved = true;
      if (put(this.missed, node, missed)) moved = true;
    }
    if (moved) this.probeSuspects();
    return news;
  }

  /** As of now, with the evidence as of now. */
  current(node: string, v: Vantage, wall: number, quiet: boolean): { verdict: Verdict; news: News[] } {
    const target = this.fleet.targets.get(node);
    if (!target) throw new MusterError('NODE_UNKNOWN', `${node} is not watched`, { node });
    this.asked.set(node, v.now);
    const news = this.assess([node], v, wall, quiet);
    const found = this.examiner.examine(target, v);
    const verdict = this.log.asVerdict(node, wall, this.examiner.evidence(target, found, v.now));
    if (quiet)
      Object.assign(verdict, { verdict: 'UNKNOWN', networks: [], reason: 'The detector has just begun to look.' });
    return { verdict, news };
  }

  /** Nodes that are no longer enrolled leave no trace. */
  forgetStrangers(): void {
    this.log.keepOnly(this.fleet.targets);
    const strangers = (of: Iterable<string>): string[] => [...of].filter((node) => !this.fleet.targets.has(node));
    for (const node of strangers(this.asked.keys())) this.asked.delete(node);
    const gone = strangers([...this.suspects, ...this.missed]);
    for (const node of gone) [this.suspects, this.missed].forEach((set) => set.delete(node));
    if (gone.length > 0) this.probeSuspects();
  }

  /** Whom others are asked about: in a large fleet every suspect. */
  suspectsToPoll(): Suspect[] {
    if (!this.fleet.polls) return [];
    return [...this.suspects].map((node) => {
      const { verdict } = this.log.judgementOf(node);
      return { node, settled: verdict === 'DOWN' || verdict === 'LEFT', watchedBy: this.fleet.observersOf(node) };
    });
  }

  get anySuspect(): boolean {
    return this.suspects.size > 0;
  }

  /** No term, nobody to look at. */
  rest(): void {
    this.suspects.clear();
    this.missed.clear();
    this.asked.clear();
    this.probeSuspects();
  }

  private assessOne(
    target: WatchedTarget,
    was: Judgement,
    v: Vantage,
    wall: number,
    quiet: boolean,
  ): { said: boolean; suspect: boolean; missed: boolean } {
    const { name, confirmedOff } = target.record;
    const found = this.examiner.examine(target, v);
    const off = confirmedOff !== undefined;
    const wanted = v.now - (this.asked.get(name) ?? -Infinity) < ASKED_MS;
    const missed = wanted && !off && !found.facts.ownFresh;
    if (quiet) return { said: false, suspect: found.tally.suspect && !off, missed };
    const is = judge(was, found.facts, found.tally, this.fleet.settings.leaveGrace);
    const said = this.log.say(name, is, this.examiner.lifeOf(target, found.facts), wall, () =>
      this.examiner.evidence(target, found, v.now),
    );
    // One whose power is proven off is not asked whether it lives: its own reports will tell.
    return { said, suspect: !off && (found.tally.suspect || is.verdict === 'DOWN'), missed };
  }

  private probeSuspects(): void {
    const nodes = new Set([...this.suspects, ...this.missed]);
    const targets = [...nodes].map((node) => this.fleet.targets.get(node)).filter((t) => t !== undefined);
    this.probes.watch(targets.map((t) => this.fleet.probeTarget(t)));
  }
}

/** @returns whether that is new */
function put(set: Set<string>, node: string, is: boolean): boolean {
  if (is === set.has(node)) return false;
  if (is) set.add(node);
  else set.delete(node);
  return true;
}
