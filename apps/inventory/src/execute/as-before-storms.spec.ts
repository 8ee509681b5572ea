import { expect, it } from 'vitest';
import fc from 'fast-check';
import {
  AGES_EVERY_MS,
  MusterError,
  PERMITS_KEY,
  type IncidentPhase,
  type Permits,
  type StormTrip,
  type VerdictKind,
} from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { calmKey, incidentKey, permitKey, tripKey } from '#domain/incident/permits.js';
import type { Reconciler } from '../conductor/task.js';
import { StormReconciler } from '../incidents/storm.reconciler.js';
import { storms } from '../plan/incidents/storms.js';
import { FencingWorld } from '../testing/fencing-world.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode, anIncident } from '../testing/records.js';

const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6', 'n-7', 'n-8'];
const some = fc.subarray(names);
const seldom = fc.nat(9).map((n) => n === 0);
const often = fc.nat(9).map((n) => n > 0);

type Write = (w: FencingWorld) => void;
let seq = 1;
const down = new Map<string, VerdictKind>();

const up = { verdict: { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 } };

/** Who is not up from now on, as the detector says. */
const beacon = (o: { sighted?: boolean; blindBy?: 'reports' | 'own'; epoch?: number } = {}): Write => {
  return ({ store }) => {
    const notUp = Object.fromEntries([...down].map(([n, verdict]) => [n, { verdict, seq: 1 }]));
    store.detector.hear(JSON.stringify(aBeacon({ seq: ++seq, members: 8, sightedReporters: 6, notUp, ...o })));
  };
};

const fall = fc
  .record({ who: some, verdict: fc.constantFrom<VerdictKind[]>('DOWN', 'DOWN', 'SUSPECT', 'UNKNOWN') })
  .map(({ who, verdict }): Write => (w) => {
    for (const n of who) down.set(n, verdict);
    beacon()(w);
  });
const fewFall = fc.subarray(names, { maxLength: 2 }).map((who): Write => (w) => {
  for (const n of who) down.set(n, 'DOWN');
  beacon()(w);
});
const heal = some.map((who): Write => (w) => {
  for (const n of who) down.delete(n);
  beacon()(w);
});
const healAll: Write = (w) => {
  down.clear();
  beacon()(w);
};
const blindness = fc
  .record({ by: fc.constantFrom('reports' as const, 'own' as const), ends: often })
  .map(({ by, ends }): Write => (w) => {
    beacon({ sighted: false, blindBy: by })(w);
    w.store.clock.now += 500;
    if (ends) beacon()(w);
  });
const nodeWrite = fc
  .record({ name: fc.constantFrom(...names), gone: seldom, cordoned: seldom, domain: fc.constantFrom('a', 'b') })
  .map(({ name, gone, cordoned, domain }): Write => ({ store }) => {
    const cordon = { cordon: { by: 'ann', reason: 'r', at: 1 } };
    store.nodes.set(name, gone ? undefined : aNode(name, { ...up, failureDomain: domain, ...(cordoned && cordon) }));
  });
const incidentWrite = fc
  .record({
    name: fc.constantFrom(...names),
    phase: fc.constantFrom<IncidentPhase[]>('investigating', 'suppressed', 'fencing', 'recovered', 'closed', 'failed'),
    ordered: seldom,
    gone: seldom,
  })
  .map(({ name, phase, ordered, gone }): Write => ({ store }) => {
    const command = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 };
    store.incidents.set(name, gone ? undefined : anIncident(name, { phase, commands: ordered ? [command] : [] }));
  });

/** Written by another: a permit, a storm, a release, a checkpoint. */
const permitsWrite = fc
  .record({
    granted: fc.subarray(names, { maxLength: 2 }),
    storm: fc.option(
      fc.record({
        members: fc.subarray(names, { minLength: 1 }),
        returned: fc.subarray(names),
        cause: fc.constantFrom('brake' as const, 'domain' as const, 'blindness' as const),
      }),
      { freq: 2, nil: undefined },
    ),
    age: fc.constantFrom(0, 40_000, 119_000, 590_000, 700_000),
    aged: fc.boolean(),
    blindness: fc.boolean(),
    over: seldom,
  })
  .map(({ granted, storm, age, aged, blindness: seen, over }): Write => ({ store }) => {
    const was: Permits = store.permits.content[PERMITS_KEY] ?? { granted: [] };
    const trips: StormTrip[] = over ? [] : [...(was.trips ?? [])];
    if (storm !== undefined) {
      const members = storm.members.map((n) => [n, storm.returned.includes(n) ? { returned: true as const } : {}]);
      const id = `s-other-${trips.length}`;
      if (trips.every((t) => t.id !== id))
        trips.push({
          ...{ id, cause: storm.cause, at: 1, members: Object.fromEntries(members) as StormTrip['members'] },
          ...(storm.cause === 'domain' && { domain: 'a' }),
        });
    }
    const all = [...was.granted, ...granted.map((node) => ({ incident: `i-${node}`, node, at: 1 }))];
    const keys = [
      ...all.map((g) => permitKey(g.incident)),
      ...trips.flatMap((t) => [tripKey(t), calmKey(t)]),
      ...names.map((n) => incidentKey(`i-${n}`)),
    ];
    store.permits.set(PERMITS_KEY, {
      ...was,
      granted: all.filter((g, n) => all.findIndex((x) => x.incident === g.incident) === n),
      trips,
      ...(aged && { ages: Object.fromEntries(keys.map((key) => [key, age])) }),
      ...(seen && { blindness: { epoch: 1, seq } }),
    });
  });

const gap = fc
  .record({ nodes: often, incidents: often, permits: often, readable: often })
  .map(({ nodes, incidents, permits, readable }): Write => ({ store }) => {
    Object.assign(store.nodes, { live: nodes });
    Object.assign(store.incidents, { live: incidents });
    Object.assign(store.permits, { live: permits });
    store.permits.unreadable.clear();
    if (!readable) (store.permits.unreadable as Map<string, unknown>).set(PERMITS_KEY, {});
  });
const allSeen: Write = ({ store }) => {
  for (const t of [store.nodes, store.incidents, store.permits]) t.live = true;
  store.permits.unreadable.clear();
};

const write = fc.oneof(
  { weight: 3, arbitrary: fall },
  { weight: 3, arbitrary: fewFall },
  { weight: 3, arbitrary: heal },
  { weight: 1, arbitrary: fc.constant(healAll) },
  { weight: 2, arbitrary: blindness },
  { weight: 1, arbitrary: nodeWrite },
  { weight: 2, arbitrary: incidentWrite },
  { weight: 2, arbitrary: permitsWrite },
  { weight: 1, arbitrary: gap },
  { weight: 2, arbitrary: fc.constant(allSeen) },
);

const history = fc.record({
  isCalm: seldom,
  domains: fc.constantFrom(1, 2, 8),
  rounds: fc.array(
    fc.record({
      /** With a beacon each second, or with none. */
      afterMs: fc.constantFrom(0, 1, 1_000, 1_000, 3_000, 10_000, 12_000, 60_000, 130_000, 620_000),
      isHeard: often,
      writes: fc.array(write, { maxLength: 3 }),
      /** Comes before the compare-and-set reads, and the task is woken again by it. */
      meanwhile: fc.option(fc.oneof(permitsWrite, heal, incidentWrite, gap), { freq: 4, nil: undefined }),
      /** Nothing can be written. */
      fails: seldom,
      anotherTerm: seldom,
      isAsked: seldom,
    }),
    { minLength: 8, maxLength: 20 },
  ),
});
type History = typeof history extends fc.Arbitrary<infer H> ? H : never;

/** The same but for the names of storms: each by its turn. */
function shown(of: unknown, ids: Map<string, string>): string {
  const text = JSON.stringify(of, (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : value,
  );
  const named = (text ?? 'none').replaceAll(/s-id-[0-9]+(-[0-9]+)?/g, (id) => {
    if (!ids.has(id)) ids.set(id, `storm-${ids.size + 1}`);
    return ids.get(id) as string;
  });
  const sorted = (_key: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return named === 'none' ? named : JSON.stringify(JSON.parse(named), sorted);
}

async function play(h: History, make: (w: FencingWorld) => Reconciler): Promise<string[]> {
  seq = 1;
  down.clear();
  const w = new FencingWorld();
  const { store } = w;
  const ids = new Map<string, string>();
  const seen: string[] = [];
  let token = 1;
  let meanwhile: Write | undefined;
  let fails = false;
  const { mutate } = store.permits.bucket;
  store.permits.bucket.mutate = async (key, fn) => {
    const before = meanwhile;
    meanwhile = undefined;
    before?.(w);
    if (before !== undefined) seen.push('overtaken');
    if (fails) throw new MusterError('BUS_UNAVAILABLE', 'gone');
    const done = await mutate(key, fn);
    seen.push(done.changed ? 'written' : 'left alone');
    return done;
  };
  for (const [n, name] of names.entries())
    store.nodes.set(name, aNode(name, { ...up, failureDomain: 'ab'[n % h.domains] ?? `d-${n}` }));
  const sut = make(w);
  const run = (): Promise<void> =>
    playRun(sut, {
      ...{ now: store.clock.now, token },
      failed: (f) => seen.push(`failed ${(f as { code?: string }).code ?? (f as { err: MusterError }).err.code}`),
    });
  for (const round of h.rounds) {
    const steps = Math.min(12, Math.ceil(round.afterMs / 1_000));
    for (let n = 0; n < steps; n += 1) {
      store.clock.now += round.afterMs / steps;
      if (round.isHeard) beacon()(w);
    }
    for (const write of h.isCalm ? [] : round.writes) write(w);
    if (round.anotherTerm) token += 1;
    ({ meanwhile, fails } = round);
    await run();
    // Who has written it, or what came meanwhile, wakes the task again.
    meanwhile = undefined;
    await run();
    const permits = store.permits.content[PERMITS_KEY];
    seen.push(shown(permits, ids));
    if (round.isAsked) seen.push(`asked ${shown(w.facts.storms(), ids)}`);
  }
  return seen;
}

it('storms, which are planned, are tripped, kept and ended as their reconciler did', async () => {
  const must = [
    ...['"cause":"brake"', '"cause":"domain"', '"cause":"blindness"', '"returned":true', '"ages"', '"blindness":'],
    ...['written', 'left alone', 'overtaken', 'failed BUS_UNAVAILABLE', 'asked [{', 'asked []', 'storm-2'],
  ];
  const happened = new Map<string, number>();
  const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(history, async (h) => {
      const was = await play(h, (w) => new StormReconciler(w.permits));
      expect(await play(h, (w) => w.planExecutor().drive(storms))).toEqual(was);
      for (const what of must) if (was.some((x) => x.includes(what))) note(what);
      if (was.every((x) => x === 'none')) note('calm');
      const trips = was.filter((x) => x.startsWith('{')).map((x) => (JSON.parse(x) as Permits).trips?.length ?? 0);
      if (trips.some((n, i) => n < (trips[i - 1] ?? 0))) note('over');
      const back = was.filter((x) => /"storm-1","members":{[^[]*"returned":true/.test(x));
      if (back.length > 0) note('returned to one of ours');
    }),
    { numRuns: runs(400) },
  );
  expect([...must, 'calm', 'over', 'returned to one of ours'].filter((what) => (happened.get(what) ?? 0) <= 5)).toEqual(
    [],
  );
  expect(AGES_EVERY_MS).toBe(10_000);
}, 300_000);
