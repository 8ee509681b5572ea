import { expect, it } from 'vitest';
import {
  defaultSettings,
  DetectionProfiles,
  STORM_NEWS_MS,
  type BlindnessEnd,
  type ClusterSettings,
  type DetectionSettings,
  type NodeRecord,
  type Report,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { FleetView, type Records } from '../fleet/fleet-view.js';
import { ReportBook } from '../observers/report-book.js';
import { PollBook } from '../polls/poll-book.js';
import type { News } from './assessor.js';
import { Monitor } from './monitor.js';
import { VerdictLog } from './verdict-log.js';

const NAMES = ['n-0', 'n-1', 'n-2', 'n-3', 'n-4', 'n-5'];
const DEAD = 'n-0';
const { lan, fast, wan } = DetectionProfiles;
const TICK = 100;

const records = <T>(values: () => Map<string, T>, live = () => true): Records<T> => ({
  get live() {
    return live();
  },
  get: (key) => (values().has(key) ? { value: values().get(key) as T } : undefined),
  entries: () => [...values()].map(([key, value]) => ({ key, value, revision: 1 })),
  onChange: () => () => undefined,
});

/** Six nodes that report by the numbers in force, of which some are lost to the monitor and to those that it hears. */
class Played {
  now = 0;
  numbers: DetectionSettings = lan;
  /** The registry is followed; else what is known of it may be old. */
  followed = true;
  readonly news: (News & { at: number })[] = [];
  /** Node → since when it is lost. */
  private readonly lost = new Map<string, number>();
  private seq = 0;
  private spokeAt = -Infinity;
  private settings: ClusterSettings = defaultSettings('spec');
  private readonly monitor: Monitor;
  private readonly verdicts = new VerdictLog();
  /** Whom the monitor has looked at itself. */
  probed: string[] = [];

  /** @param off nodes whose power was proven off in this boot */
  constructor(off: Record<string, string> = {}) {
    const record = (name: string): NodeRecord => {
      const bootId = off[name];
      return aNode(name, bootId === undefined ? {} : { confirmedOff: { at: 1, incident: 'i', bootId } });
    };
    const nodes = new Map(NAMES.map((name): [string, NodeRecord] => [name, record(name)]));
    this.monitor = new Monitor(
      {
        fleet: new FleetView(
          records(
            () => nodes,
            () => this.followed,
          ),
          records(() => new Map([['cluster', this.settings]])),
          'spec',
        ),
        reports: new ReportBook(),
        polls: new PollBook(() => 0),
        verdicts: this.verdicts,
        probes: {
          watch: (targets) => (this.probed = targets.map((t) => t.node)),
          state: () => 'silent',
          evidence: () => undefined,
        },
        witness: () => false,
        leads: () => true,
        wall: () => 0,
        publish: (news) => this.news.push(...news.map((n) => ({ ...n, at: this.now }))),
        ask: () => undefined,
        log: { debug: () => undefined },
      },
      0,
    );
    this.monitor.lead(1, 0);
  }

  lose(...nodes: string[]): void {
    for (const node of nodes) this.lost.set(node, this.now);
  }

  /** It reports at once, and is asked to rejoin by the others when they have found it again. */
  returns(node: string): void {
    this.lost.delete(node);
    this.say(node);
    this.monitor.tick(this.now);
  }

  change(numbers: DetectionSettings): void {
    this.settings = { ...this.settings, detection: numbers };
    this.numbers = numbers;
  }

  /** What is learnt of the death until then. */
  verdictsUntil(end: number): string[] {
    const from = this.news.length;
    while (this.now < end) {
      this.now += TICK;
      if (this.now - this.spokeAt >= this.numbers.reportPeriod) this.report();
      this.monitor.tick(this.now);
    }
    return this.news.slice(from).flatMap((n) => (n.node === DEAD ? [n.is.verdict] : []));
  }

  /** Somebody asks for the verdict as of now. */
  asked(node: string): string {
    return this.monitor.current(node, this.now).verdict;
  }

  get calledDown(): string[] {
    return this.news.filter((n) => n.is.verdict === 'DOWN').map((n) => n.node);
  }

  /** What is published when another machine reports a node's start as its own, which ends all that it says. */
  clone(node: string): string[] {
    const from = this.news.length;
    const taken = this.monitor.hear({ ...this.reportOf(node), bootId: 'another', peers: [] }, this.now);
    this.monitor.settle(this.now);
    return [`taken: ${taken}`, ...this.news.slice(from).map((n) => `${n.node}: ${n.is.verdict}, ${n.is.reason}`)];
  }

  /** Of whom its last verdict says that it has been powered on since its off. */
  get poweredOn(): string[] {
    return this.verdicts.waiting().flatMap((v) => (v.poweredOn === true ? [`${v.node}: ${v.verdict}`] : []));
  }

  /** Another term of the same monitor. */
  leadsAnew(): void {
    this.monitor.lead(2, this.now);
  }

  /** A quorum came back a moment ago. */
  get blindnessEnded(): BlindnessEnd | undefined {
    return this.monitor.blindnessEnded(this.now);
  }

  get lastAt(): number {
    return this.news.at(-1)?.at ?? NaN;
  }

  private report(): void {
    this.spokeAt = this.now;
    for (const node of NAMES) if (!this.lost.has(node)) this.say(node);
  }

  private say(node: string): void {
    this.monitor.hear(this.reportOf(node), this.now);
  }

  private reportOf(node: string): Report {
    this.seq += 1;
    const misses = (peer: string): number =>
      Math.max(0, Math.floor((this.now - (this.lost.get(peer) ?? this.now)) / this.numbers.interval));
    return {
      ...{ v: 1 as const, node, bootId: 'boot', epoch: 1, seq: this.seq, listVersion: 1, networks: ['management'] },
      peers: NAMES.filter((n) => n !== node).map((n) => [n, [this.lost.has(n) ? [misses(n), -1] : [0, 200]]]),
      health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
    };
  }
}

it('speaks for two report periods of nobody when its numbers change, in the longer of both, and then as before', () => {
  for (const [from, to] of [
    [lan, fast],
    [wan, fast],
    [lan, wan],
  ] as const) {
    const sut = new Played();
    sut.change(from);
    expect(sut.verdictsUntil(20_000)).toEqual(['UP']);
    sut.lose(DEAD);
    // Less than the silence that either asks for, and by the shorter numbers enough of it soon.
    sut.verdictsUntil(21_300);
    sut.change(to);
    const quiet = 2 * Math.max(from.reportPeriod, to.reportPeriod);
    expect([from.profile, to.profile, sut.verdictsUntil(21_300 + quiet)]).toEqual([from.profile, to.profile, []]);
    expect(sut.verdictsUntil(60_000).at(-1)).toBe('DOWN');
    expect(sut.lastAt).toBeGreaterThan(21_300 + quiet);
  }
});

it('is quiet for as long as other numbers ask, too, that came after it led and before its first look', () => {
  const sut = new Played();
  sut.change(wan);
  expect(sut.verdictsUntil(2 * wan.reportPeriod)).toEqual([]);
  expect(sut.verdictsUntil(20_000)).toEqual(['UP']);
});

it('goes on as it was where settings are written again with the same numbers', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  sut.lose(DEAD);
  sut.verdictsUntil(22_000);
  sut.change({ ...lan });
  sut.verdictsUntil(40_000);
  expect(sut.news.at(-1)).toMatchObject({ node: DEAD, is: { verdict: 'DOWN' } });
  expect(sut.lastAt).toBeLessThanOrEqual(20_000 + lan.interval * lan.misses + lan.reportPeriod + TICK);
});

it('says nothing of a death while it does not follow the registry, and calls it DOWN as soon as it does', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  sut.followed = false;
  sut.lose(DEAD);
  expect(sut.verdictsUntil(40_000)).toEqual([]);
  sut.followed = true;
  expect(sut.verdictsUntil(40_000 + TICK)).toEqual(['DOWN']);
});

it('calls nobody DOWN while a fleet that was split in halves is being joined, node by node, and the dead soon after', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  sut.lose('n-3', 'n-4', 'n-5');
  sut.verdictsUntil(32_000);
  expect(sut.calledDown).toEqual([]);
  sut.returns('n-5');
  sut.verdictsUntil(32_900);
  sut.returns('n-4');
  const joined = 34_000;
  sut.verdictsUntil(joined);
  expect(sut.calledDown).toEqual([]);
  sut.verdictsUntil(joined + lan.freshness);
  expect(sut.calledDown).toEqual(['n-3']);
});

it('judges no node whose start two machines report: at once, by neither’s word, and not before both are silent', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  expect(sut.clone(DEAD)).toEqual(['taken: false', `${DEAD}: UNKNOWN, CONFLICT: two machines use this name.`]);
  sut.lose(DEAD);
  for (; sut.now < 28_000; sut.clone(DEAD)) expect(sut.verdictsUntil(sut.now + 1000)).toEqual([]);
  expect(sut.verdictsUntil(28_000 + 10_000 - TICK)).toEqual([]);
  expect(sut.verdictsUntil(39_000)).toEqual(['DOWN']);
});

it('says of one that is proven off, and reports in another boot, that it is on: also while there is no quorum without it', () => {
  const played = new Played({ 'n-3': 'ended', 'n-4': 'ended', 'n-5': 'boot' });
  played.lose('n-1', 'n-2', 'n-3');
  played.verdictsUntil(20_000);
  // One of three members reports. n-5 speaks in the boot that was ended, n-3 does not speak at all.
  expect(played.asked('n-0')).toBe('UNKNOWN');
  expect(played.poweredOn).toEqual(['n-4: UNKNOWN']);
  played.returns('n-3');
  played.verdictsUntil(21_000);
  expect(played.poweredOn.sort()).toEqual(['n-3: UNKNOWN', 'n-4: UNKNOWN']);
  played.clone('n-4');
  expect(played.poweredOn).toEqual(['n-3: UNKNOWN']);
  played.lose('n-3');
  played.verdictsUntil(25_000);
  expect(played.poweredOn).toEqual([]);
});

it('looks for itself at a node that is asked about and not heard, also without a quorum, and as long as that is so', () => {
  const played = new Played();
  played.verdictsUntil(5_000);
  played.lose(...NAMES.slice(0, 4));
  played.verdictsUntil(10_000);
  expect(played.probed).not.toContain(DEAD);
  expect(played.asked(DEAD)).toBe('UNKNOWN');
  expect(played.asked('n-5')).toBe('UNKNOWN');
  expect(played.probed).toEqual([DEAD]);
  played.verdictsUntil(15_000);
  expect(played.probed).toEqual([DEAD]);
  played.verdictsUntil(25_000);
  expect(played.probed).toEqual([]);
  played.asked(DEAD);
  expect(played.probed).toEqual([DEAD]);
  // With it the monitor sees again, and suspects the others.
  played.returns(DEAD);
  expect(played.probed).not.toContain(DEAD);
});

it('suspects all that are silent in the very look in which it sees enough again: a storm is counted by that', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  sut.lose('n-1', 'n-2', 'n-3');
  sut.verdictsUntil(32_000);
  expect(sut.asked('n-4')).toBe('UNKNOWN');
  const from = sut.news.length;
  sut.returns('n-3');
  const suspected = sut.news.slice(from).filter((n) => n.is.verdict === 'SUSPECT');
  expect(suspected.map((n) => [n.node, n.at])).toEqual([
    ['n-1', 32_000],
    ['n-2', 32_000],
    // Most of the others have not found it again.
    ['n-3', 32_000],
  ]);
});

it('tells who begins to decide that a quorum has just come back, in whatever term', () => {
  const sut = new Played();
  sut.verdictsUntil(20_000);
  sut.lose('n-1', 'n-2', 'n-3');
  sut.verdictsUntil(32_000);
  const before = sut.news.length;
  expect(sut.blindnessEnded).toBeUndefined();
  sut.returns('n-3');
  expect(sut.blindnessEnded).toEqual({ seq: before, silent: ['n-1', 'n-2'] });
  sut.leadsAnew();
  sut.verdictsUntil(32_000 + STORM_NEWS_MS - TICK);
  expect(sut.blindnessEnded).toEqual({ seq: 0, silent: ['n-1', 'n-2'] });
  sut.verdictsUntil(32_000 + STORM_NEWS_MS);
  expect(sut.blindnessEnded).toBeUndefined();
});
