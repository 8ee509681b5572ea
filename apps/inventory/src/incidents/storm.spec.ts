import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { brakeLimit, defaultStorm, type Permits } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { aNode } from '../testing/records.js';
import { CheckpointedAges } from '../ages/checkpointed-ages.js';
import { calmKey, decidePermit, keepPermits, permitKey, tripKey, type PermitsFacts } from '#domain/incident/permits.js';
import { isMostOfDomain, StormNumbers, type MemberState } from '#domain/incident/storm-counts.js';
import { viewOf } from '#domain/incident/storm.js';

/** A fleet that is only cut and healed; nobody in it ever dies. Time is its own. */
class Fleet {
  now = 0;
  permits: Permits | undefined;
  sees = true;
  blindness: { epoch: number; seq: number; silent: string[] } | undefined;
  /** As the detector told it while nobody decided. */
  together: { node: string; forMs: number }[] = [];
  readonly silentSince = new Map<string, number>();
  readonly gone = new Set<string>();
  readonly commanded = new Set<string>();
  readonly open = new Set<string>();
  ages: CheckpointedAges;
  private ids = 0;

  constructor(
    readonly size: number,
    readonly domains = size,
  ) {
    this.ages = new CheckpointedAges({ monotonicMs: () => this.now });
  }

  names(from: number, to: number): string[] {
    return Array.from({ length: to - from + 1 }, (_x, n) => `n-${from + n}`);
  }
  domainOf = (node: string): string => `d-${Number(node.slice(2)) % this.domains}`;
  state = (node: string): MemberState => (this.gone.has(node) ? 'out' : this.silentSince.has(node) ? 'rest' : 'up');

  cut(...nodes: string[]): this {
    for (const n of nodes) if (!this.silentSince.has(n)) this.silentSince.set(n, this.now);
    return this.step();
  }
  heal(...nodes: string[]): this {
    for (const n of nodes) this.silentSince.delete(n);
    return this.step();
  }
  wait(ms: number): this {
    this.now += ms;
    return this.step();
  }
  /** Another process takes over, with the checkpoint that the last one left. */
  restart(): this {
    const checkpoint = Object.fromEntries(this.keys().map((key) => [key, this.ages.ageMs(key)]));
    this.permits = keepPermits(this.permits, { ...this.look(), checkpoint }) ?? this.permits;
    this.ages = new CheckpointedAges({ monotonicMs: () => this.now });
    return this.step();
  }

  get trips(): NonNullable<Permits['trips']> {
    return this.permits?.trips ?? [];
  }
  get members(): string[] {
    return this.trips.flatMap((t) => Object.keys(t.members)).sort();
  }
  mayFence(node: string): boolean {
    this.keepAges();
    return this.decide(node).granted;
  }
  fence(node: string): boolean {
    this.keepAges();
    const d = this.decide(node);
    if (d.permits !== undefined) this.permits = d.permits;
    return d.granted;
  }
  step(): this {
    this.keepAges();
    this.permits = keepPermits(this.permits, this.look()) ?? this.permits;
    this.keepAges();
    return this;
  }
  view(): ReturnType<typeof viewOf> {
    const { storm } = this.look();
    const trip = this.trips[0];
    if (trip === undefined || storm.latch === undefined) throw new Error('no storm stands');
    return viewOf(trip, { ...storm, grants: [] }, storm.latch, this.ages.ageMs(tripKey(trip)));
  }
  look(): PermitsFacts {
    const nodes = this.names(1, this.size).filter((n) => !this.gone.has(n));
    const domains: Record<string, { members: number }> = {};
    for (const n of nodes) (domains[this.domainOf(n)] ??= { members: 0 }).members++;
    return {
      storm: {
        limits: defaultStorm,
        members: nodes.length,
        silent: nodes
          .filter((n) => this.silentSince.has(n))
          .map((node) => ({ node, domain: this.domainOf(node), forMs: this.now - (this.silentSince.get(node) ?? 0) })),
        together: this.together,
        unrecovered: [],
        domains,
        domainOf: this.domainOf,
        latch: {
          trips: this.trips,
          state: this.state,
          sees: this.sees,
          settling: false,
          calmMs: (t) => this.ages.ageMs(calmKey(t)),
          commanded: this.commanded,
          blindness: this.blindness,
          wallNow: this.now,
        },
      },
      open: this.open,
      ageMs: (key) => this.ages.ageMs(key),
      newId: () => `s-${++this.ids}`,
      at: this.now,
    };
  }
  private keys(): string[] {
    const granted = (this.permits?.granted ?? []).map((g) => permitKey(g.incident));
    return [...granted, ...this.trips.flatMap((t) => [tripKey(t), calmKey(t)])];
  }
  private keepAges(): void {
    this.ages.keep(this.keys(), this.permits?.ages);
  }
  private decide(node: string): ReturnType<typeof decidePermit> {
    const n = aNode(node, { failureDomain: this.domainOf(node) });
    return decidePermit(this.permits, { ...this.look(), incident: `i-${node}`, node: n, released: [] });
  }
}

const minutes = (n: number): number => n * 60_000;

describe('a storm', () => {
  it('holds whoever is still silent when the others come back one by one, and ends two minutes after the last', () => {
    const fleet = new Fleet(10).cut(...new Fleet(10).names(1, 6)).wait(20_000);
    for (const n of fleet.names(1, 4)) fleet.wait(2_000).heal(n);
    for (const n of ['n-5', 'n-6']) expect(fleet.mayFence(n)).toBe(false);
    fleet.wait(119_999);
    for (const n of ['n-5', 'n-6']) expect(fleet.mayFence(n)).toBe(false);
    fleet.wait(1);
    for (const n of ['n-5', 'n-6']) expect(fleet.fence(n)).toBe(true);
    expect(fleet.trips).toEqual([]);
  });

  it('never ends by itself while more are silent than may be, however long that lasts', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').wait(minutes(24 * 60));
    expect(fleet.mayFence('n-1')).toBe(false);
    expect(fleet.view()).toMatchObject({ rest: ['n-1', 'n-2', 'n-3'], limit: 2 });
    expect(fleet.view()).not.toHaveProperty('resumesAt');
    fleet.gone.add('n-3');
    fleet.step();
    expect(fleet.trips).toEqual([]);
  });

  it('says which limit keeps it from its end, and never a figure that would let it end', () => {
    const racks = new Fleet(40, 10);
    racks.cut(
      ...racks
        .names(1, 40)
        .filter((n) => racks.domainOf(n) === racks.domainOf('n-1'))
        .slice(0, 3),
    );
    const view = racks.wait(minutes(5)).view();
    const domain = racks.domainOf('n-1');
    expect(view).toMatchObject({ cause: 'domain', limit: 2, restDomain: { name: domain, rest: 3, nodes: 4 } });
    expect(view.detail).toContain(
      `; 3 of the 4 nodes of failure domain ${domain} are not back, at most 2 may be. It does not end by itself`,
    );
    const plain = new Fleet(10).cut('n-1', 'n-2', 'n-3').view();
    expect(plain.detail).toContain('; 3 are not back, at most 2 may be. It does not end by itself');
    expect(plain).not.toHaveProperty('restDomain');
  });

  it('is prolonged by first returns, and not by one that flaps', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3', 'n-4').heal('n-3').wait(60_000).heal('n-4');
    for (let i = 0; i < 11; i++) fleet.wait(10_000).cut('n-4').wait(1).heal('n-4');
    expect(fleet.mayFence('n-1')).toBe(false);
    fleet.wait(9_989);
    expect(fleet.trips).toEqual([]);
  });

  it('holds a second wave by a clock of its own', () => {
    const fleet = new Fleet(10)
      .cut(...new Fleet(10).names(1, 6))
      .heal(...new Fleet(10).names(1, 6))
      .wait(110_000);
    fleet.cut(...fleet.names(1, 6)).wait(20_000);
    for (const n of fleet.names(1, 4)) fleet.wait(2_000).heal(n);
    for (const n of ['n-5', 'n-6']) expect(fleet.mayFence(n)).toBe(false);
  });

  it('takes in who falls silent while it heals', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').heal('n-1', 'n-2').wait(60_000).cut('n-9');
    expect(fleet.mayFence('n-9')).toBe(false);
    expect(fleet.wait(60_000).mayFence('n-9')).toBe(true);
  });

  it('leaves others alone once it stands still: what is silent for long trips no new one', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').wait(minutes(11)).cut('n-9');
    expect(fleet.members).not.toContain('n-9');
    expect([fleet.mayFence('n-9'), fleet.mayFence('n-1')]).toEqual([true, false]);
  });

  it('is not tripped by two that wait for spare parts and a third that dies', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2').wait(minutes(11)).cut('n-3').wait(3_000);
    expect(fleet.fence('n-3')).toBe(true);
  });

  it('holds a rack most of which fell together, in a fleet of a hundred', () => {
    const fleet = new Fleet(100, 10);
    const rack = fleet.names(1, 100).filter((n) => fleet.domainOf(n) === 'd-3');
    fleet.cut(...rack).wait(20_000);
    for (const n of rack.slice(0, 8)) fleet.wait(2_000).heal(n);
    const rest = rack.slice(8);
    for (const n of rest) expect(fleet.mayFence(n)).toBe(false);
    fleet.wait(120_000);
    for (const n of rest) expect(fleet.mayFence(n)).toBe(true);
  });

  it('holds who is silent when a blindness ends, were it only one', () => {
    const fleet = new Fleet(10).cut('n-1');
    fleet.blindness = { epoch: 4, seq: 9, silent: ['n-1'] };
    fleet.step();
    expect(fleet.mayFence('n-1')).toBe(false);
    expect(fleet.trips).toMatchObject([{ cause: 'blindness', members: { 'n-1': {} } }]);
    fleet.wait(120_000);
    expect(fleet.mayFence('n-1')).toBe(true);
  });

  it('of a blindness is not begun anew by another detector that tells of the same end', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2');
    const silent = ['n-1', 'n-2', 'n-3'];
    fleet.blindness = { epoch: 4, seq: 9, silent };
    fleet.step();
    const [trip] = fleet.trips;
    const released = { 'n-1': { released: { by: 'ann', at: 1, reason: 'seen dark' } }, 'n-2': {} };
    fleet.permits = {
      ...fleet.permits,
      granted: [],
      trips: trip === undefined ? [] : [{ ...trip, members: released }],
    };
    fleet.blindness = { epoch: 5, seq: 0, silent };
    fleet.step();
    expect(fleet.trips).toMatchObject([{ id: trip?.id, members: released }]);
    expect([fleet.mayFence('n-1'), fleet.mayFence('n-2')]).toEqual([true, false]);
  });

  it('is tripped by those that were silent together while nobody decided, and holds who still is', () => {
    const f = new Fleet(10);
    f.together = ['n-1', 'n-2', 'n-3'].map((node) => ({ node, forMs: 5_000 }));
    f.cut('n-3');
    expect([f.members, f.mayFence('n-3')]).toEqual([['n-3'], false]);
    const few = new Fleet(10);
    few.together = [{ node: 'n-1', forMs: 5_000 }];
    few.cut('n-3');
    expect([few.members, few.mayFence('n-3')]).toEqual([[], true]);
  });

  it('of a rack that fell together while nobody decided is tripped as well, not by deaths minutes apart', () => {
    const rack = (...forMs: number[]): Fleet => {
      const f = new Fleet(100, 25);
      f.together = forMs.map((ms, n) => ({ node: `n-${1 + 25 * n}`, forMs: ms }));
      return f.cut('n-1');
    };
    expect(rack(5_000, 6_000, 7_000).members).toEqual(['n-1']);
    expect(rack(5_000, 5_000 + StormNumbers.domainWindow, 2 * StormNumbers.domainWindow).members).toEqual([]);
  });

  it('is not tripped again by those that an operator has let go', () => {
    const f = new Fleet(10);
    f.cut('n-1', 'n-2', 'n-3');
    f.together = ['n-1', 'n-2', 'n-3'].map((node) => ({ node, forMs: 5_000 }));
    const [trip] = f.trips;
    const released = { released: { at: 1, by: 'eve', reason: 'r' } };
    f.permits = {
      granted: [],
      trips: [{ ...trip!, members: { 'n-1': released, 'n-2': released, 'n-3': released } }],
    };
    f.heal('n-1', 'n-2');
    expect([f.trips.length, f.mayFence('n-3')]).toEqual([1, true]);
  });

  it('ends only while the detector sees the fleet', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').heal('n-3');
    fleet.sees = false;
    expect(fleet.wait(minutes(10)).mayFence('n-1')).toBe(false);
    fleet.sees = true;
    expect(fleet.step().mayFence('n-1')).toBe(true);
  });

  it('goes on through a restart, by the clock of the one before', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').heal('n-3').wait(100_000).restart().wait(19_999);
    expect(fleet.mayFence('n-1')).toBe(false);
    expect(fleet.wait(1).mayFence('n-1')).toBe(true);
  });

  it('tells when fencing resumes, and of one that does not end by itself how to end it', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').wait(1_000);
    expect(fleet.view().detail).toContain('muster storm');
    fleet.heal('n-3').wait(20_000);
    expect(fleet.view()).toMatchObject({ returned: ['n-3'], rest: ['n-1', 'n-2'], resumesAt: 121_000 });
    expect(fleet.view().detail).toContain('resumes at 00:02:01 UTC');
  });

  it('holds its members and is shown, were an age in its record or a clock as odd as can be', () => {
    const fleet = new Fleet(10).cut('n-1', 'n-2', 'n-3').heal('n-3');
    const { trips } = fleet;
    fleet.permits = { granted: [], trips, ages: Object.fromEntries(trips.map((t) => [calmKey(t), -1e300])) };
    fleet.ages = new CheckpointedAges({ monotonicMs: () => fleet.now });
    expect(fleet.step().mayFence('n-1')).toBe(false);
    expect(fleet.view()).toMatchObject({ rest: ['n-1', 'n-2'], resumesAt: 120_000 });
    const [trip, { storm }] = [trips[0] as (typeof trips)[number], fleet.look()];
    const latch = { ...(storm.latch as NonNullable<typeof storm.latch>), wallNow: 9e15 };
    expect(viewOf(trip, { ...storm, grants: [] }, latch, 0).detail).toContain('resumes at a time that cannot be read');
  });

  it('whatever is cut and healed: holds its members, and ends only within the limits and after two quiet minutes', () => {
    const step = fc.record({
      node: fc.integer({ min: 1, max: 12 }),
      more: fc.integer({ min: 0, max: 6 }),
      do: fc.constantFrom('cut' as const, 'heal' as const, 'ask' as const, 'restart' as const),
      wait: fc.constantFrom(0, 500, 5_000, 30_000, 90_000, 130_000, 700_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(3, 12), (steps, domains) => {
        const fleet = new Fleet(12, domains);
        const firstReturns = new Map<string, { at: number; seen: Set<string> }>();
        for (const s of steps) {
          const before = fleet.trips;
          const nodes = fleet.names(s.node, Math.min(12, s.node + s.more));
          fleet.now += s.wait;
          if (s.do === 'ask') {
            const held = new Set(fleet.step().members);
            const given = fleet.fence(nodes[0] as string);
            if (given && held.has(nodes[0] as string)) throw new Error(`${nodes[0]} got a permit in a storm`);
          } else if (s.do === 'restart') fleet.restart();
          else fleet[s.do](...nodes);
          const standing = new Set(fleet.trips.map((t) => t.id));
          for (const t of before.filter((x) => !standing.has(x.id))) {
            const rest = Object.keys(t.members).filter((n) => fleet.state(n) === 'rest');
            const most = [...new Set(rest.map(fleet.domainOf))].filter((d) =>
              isMostOfDomain(fleet.look().storm, d, rest.filter((n) => fleet.domainOf(n) === d).length),
            );
            if (rest.length > brakeLimit(12, defaultStorm) || most.length > 0)
              throw new Error(`${t.id} ended with ${rest.join(', ')} silent`);
            const quiet = fleet.now - (firstReturns.get(t.id)?.at ?? t.at);
            if (quiet < StormNumbers.opensAfter) throw new Error(`${t.id} ended after ${quiet} ms`);
          }
          for (const t of fleet.trips) {
            const known = firstReturns.get(t.id) ?? { at: t.at, seen: new Set<string>() };
            const back = Object.keys(t.members).filter((n) => t.members[n]?.returned === true && !known.seen.has(n));
            if (back.length > 0) known.at = fleet.now;
            for (const n of back) known.seen.add(n);
            firstReturns.set(t.id, known);
          }
        }
      }),
      { seed: SEED, numRuns: runs(300) },
    );
  });
});
