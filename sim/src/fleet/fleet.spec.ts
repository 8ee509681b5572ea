import { describe, expect, it } from 'vitest';
import { fleet } from './play-fleet.js';
import { drawFleet } from './fleet-history.js';
import { namedFleets, type NamedFleet } from './named-fleet-histories.js';

const namedOf = (name: string): NamedFleet => namedFleets[name] as NamedFleet;

describe('the whole plane in virtual time', () => {
  it('brings one death to its end: off, recovered, on, checked and in service; twice with the same events', async () => {
    const lines: string[] = [];
    const one = await fleet.oneNamed(namedOf('death'), { told: (_ms, line) => lines.push(line) });
    expect(one.violations).toEqual([]);
    const told = lines.filter((line) => line.startsWith('inventory-') && line.includes('incident '));
    expect(told.map((line) => /incident (\w+)/.exec(line)?.[1])).toEqual([
      'open',
      'investigating',
      'fencing',
      'fenced',
      'recovering',
      'recovered',
      'closed',
    ]);
    expect(one.probes.get('started elsewhere after: off')).toBe(1);
    expect((await fleet.oneNamed(namedOf('death'))).hash).toBe(one.hash);
  });

  it.each(Object.entries(namedFleets).filter(([name]) => name !== 'death'))(
    'breaks no rule in the history %s',
    async (_name, named) => {
      expect((await fleet.oneNamed(named)).violations).toEqual([]);
    },
  );

  it('lets a fencing that has failed wait where a pause stands by the clock of the conductor, as the plan says', async () => {
    const { probes } = await fleet.oneNamed(namedOf('paused-by-a-clock-set-back'));
    expect(probes.get('named by the plan: gate PAUSED')).toBe(2);
    expect(probes.get('at the end: gate PAUSED')).toBe(2);
    expect(probes.get('fenced: read-back')).toBeUndefined();
  });

  it('says in its plan what enforcing would do, of a machine that is dead in mode observe', async () => {
    const { probes, violations } = await fleet.oneNamed(namedOf('dies-in-observe'));
    // Of the incident, and of the workload that waits for it.
    expect([violations, probes.get('named by the plan: gate OBSERVE')]).toEqual([[], 2]);
  });

  it('starts work without a gate nowhere but on its own machine, until that is drained', async () => {
    const late = await fleet.oneNamed(namedOf('ungated-starts-late'));
    expect(late.probes.get('started elsewhere after: reset')).toBeUndefined();
    const held = await fleet.oneNamed(namedOf('ungated-boots-under-a-hold'));
    expect([held.violations, held.probes.get('started elsewhere after: off')]).toEqual([[], undefined]);
    const cutOff = await fleet.oneNamed(namedOf('ungated-boots-and-is-cut-off'));
    const probes = ['started elsewhere after: off', 'fenced: read-back'].map((probe) => cutOff.probes.get(probe));
    expect([cutOff.violations, probes]).toEqual([[], [1, 2]]);
    const drained = await fleet.oneNamed(namedOf('ungated-drained'));
    expect([drained.violations, drained.probes.get('started elsewhere after: reset')]).toEqual([[], 1]);
  });

  it('starts work anew where a unit of before is tried for ever, wherever it was to go', async () => {
    for (const name of ['tried-for-ever', 'tried-for-ever-elsewhere']) {
      const lines: string[] = [];
      await fleet.oneNamed(namedOf(name), { told: (_ms, line) => lines.push(line) });
      const runs = lines.filter((line) => line.endsWith(' runs w1'));
      expect([name, runs.length, runs.at(-1)]).toEqual([name, 3, 'n-1 runs w1']);
    }
  });

  it('holds work that has no room, and says in its plan why', async () => {
    const { probes, violations } = await fleet.oneNamed(namedOf('no-room'));
    expect([violations, probes.get('named by the plan: alarm no-room')]).toEqual([[], 1]);
  });

  it('starts nothing elsewhere of a machine that has spoken since it was confirmed down, whoever conducts', async () => {
    const { probes } = await fleet.oneNamed(namedOf('doubt-after-a-takeover'));
    expect(probes.get('a contradiction voids a proof: manual')).toBe(1);
    expect(probes.get('started elsewhere by the word of a person')).toBeUndefined();
  });

  it('powers nobody off in a storm that heals, which it has tripped', async () => {
    const { probes } = await fleet.oneNamed(namedOf('storm-heals'));
    expect(probes.get('a storm is tripped')).toBe(1);
    expect(probes.get('stopped by BRAKE')).toBeGreaterThan(0);
    expect(probes.get('incident fencing')).toBeUndefined();
  });
});

/** Orders by the word of a person, of power, of jobs and of tools. */
const byWord: readonly { name: string; probes: Record<string, number> }[] = [
  {
    name: 'released-with-force',
    probes: {
      'order refused: release': 1,
      'order taken: release with force': 1,
      'released past LIFE_SIGN': 1,
      'fenced: read-back': 1,
    },
  },
  {
    name: 'released-while-suspected',
    probes: {
      'order taken: release with force': 2,
      'released past BLIND': 1,
      'released past LIFE_SIGN': 1,
      'off to a machine that lives by the word of a person': 1,
      'fenced: read-back': 1,
    },
  },
  {
    name: 'confirmed-with-force',
    probes: {
      'order refused: confirm': 1,
      'order taken: confirm with force': 1,
      'fenced: manual': 1,
      'a contradiction voids a proof: manual': 1,
    },
  },
  { name: 'storm-confirmed', probes: { 'order taken: storm-confirm': 1, 'fenced: manual': 3, 'fenced: read-back': 0 } },
  { name: 'drilled', probes: { 'order taken: drill': 1, 'fenced: read-back': 1, 'told as powered on': 1 } },
  { name: 'shut-down', probes: { 'order taken: power-soft': 1, 'order taken: power-on': 1, 'told as powered on': 1 } },
  {
    name: 'by-a-tool',
    probes: { 'order taken: command check': 1, 'order taken: command fence': 1, 'order taken: command events': 1 },
  },
  { name: 'ordered-again', probes: { 'a stale generation at a host': 2, 'started elsewhere after: stopped': 2 } },
  { name: 'job-cancelled', probes: { 'order taken: cancel-job': 1, 'started elsewhere after: off': 1 } },
  {
    name: 'server-on-the-dead',
    probes: { 'stopped by QUORUM': 1, 'named by the plan: gate QUORUM': 2, 'incident fencing': 0 },
  },
  { name: 'servers-on-nodes', probes: { 'stopped by QUORUM': 2, 'past QUORUM': 1, 'fenced: read-back': 1 } },
];

describe('an order of a person, or of a tool', () => {
  it.each(byWord)('does what it entitles to, and no more: $name', async ({ name, probes }) => {
    const { probes: met } = await fleet.oneNamed(namedOf(name));
    expect(Object.fromEntries(Object.keys(probes).map((probe) => [probe, met.get(probe) ?? 0]))).toEqual(probes);
  });
});

/** What is stored of a machine that dies under an operation which first moves its work away. */
const underMaintenance: readonly { when: string; name: string; probes: Record<string, number> }[] = [
  {
    when: 'lives',
    name: 'maintained-with-force',
    probes: { 'Allocated → Maintenance': 1, 'Maintenance → Allocated': 1, 'Maintenance → Unallocated': 0 },
  },
  {
    when: 'dies before it has begun',
    name: 'dies-before-maintenance',
    probes: {
      'Allocated → Maintenance': 1,
      'Maintenance → Allocated': 1,
      'Maintenance → Unallocated': 0,
      'started elsewhere after: off': 1,
      'incident closed': 1,
    },
  },
  {
    when: 'dies while it runs',
    name: 'dies-in-maintenance',
    probes: {
      'Allocated → Maintenance': 1,
      'Maintenance → Allocated': 0,
      'Maintenance → Unallocated': 1,
      'started elsewhere after: stopped': 1,
      'incident fencing': 0,
    },
  },
];

describe('a maintenance with force', () => {
  it('is refused where a person was wrong, and work of the machine runs twice', async () => {
    const { probes, violations } = await fleet.oneNamed(namedOf('maintained-while-it-runs-twice'));
    expect(violations).toEqual([]);
    expect([probes.get('two machines by the word of a person'), probes.get('order refused: submit')]).toEqual([1, 1]);
  });

  it.each(underMaintenance)('ends as the table of statuses says where its machine $when', async ({ name, probes }) => {
    const one = await fleet.oneNamed(namedOf(name));
    const met = Object.keys(probes).map((probe) => [probe, one.probes.get(probe) ?? 0]);
    expect([one.violations, Object.fromEntries(met)]).toEqual([[], probes]);
  });
});

describe('work of a machine whose disk is full', () => {
  it('runs elsewhere by the word of that machine, which carries out neither its start nor its stop', async () => {
    const { probes, violations } = await fleet.oneNamed(namedOf('ends-on-a-full-disk'));
    expect(violations).toEqual([]);
    expect([...probes].filter(([probe]) => probe.startsWith('started elsewhere'))).toEqual([
      ['started elsewhere after: ended', 1],
    ]);
  });
});

/** Faults that others have had in the field, by the histories that would show them here. */
const ofOthers: readonly { of: string; name: string; said: Record<string, number>; probes: Record<string, number> }[] =
  [
    {
      of: 'an off that is still under way when a person confirms, and is repeated then (Pacemaker)',
      name: 'off-under-a-confirmation',
      said: { 'sends off to bmc-n-1': 1 },
      probes: { 'fenced: manual': 1, 'incident closed': 1 },
    },
    {
      of: 'an off of what is off already, that fails for ever (CloudStack)',
      name: 'off-of-what-is-off',
      said: { 'sends off to bmc-n-1': 1, BMC_REFUSED: 1 },
      probes: { 'fenced: read-back': 1, 'incident failed': 0, 'incident closed': 1 },
    },
    {
      of: 'a machine that is told as powered on since its device took the command (Metal3)',
      name: 'on-that-takes-no-effect',
      said: { 'sends on to bmc-n-1': 3 },
      probes: { 'told as powered on': 0, 'incident recovered': 1 },
    },
    {
      of: 'another machine than the one that is meant (Rook)',
      name: 'bmcs-swapped',
      said: { 'sends off': 0 },
      probes: { 'incident fenced': 0 },
    },
    {
      of: 'another machine, whose BMC cannot be asked (Rook)',
      name: 'bmcs-swapped-nameless',
      said: { 'sends off': 0, IDENTITY_UNREAD: 1, 'blocked by NOT_FENCEABLE': 1 },
      probes: { 'incident fenced': 0 },
    },
    {
      of: 'an old event that is replayed after a restart (NVSentinel)',
      name: 'old-death-told-again',
      said: { 'sends off': 0, '"kind":"told-again"': 2 },
      probes: { 'incident cancelled': 1, 'incident fencing': 0 },
    },
  ];

describe('what has befallen others', () => {
  it.each(ofOthers)('is not so here: $of', async ({ name, said, probes }) => {
    const lines: string[] = [];
    const one = await fleet.oneNamed(namedOf(name), { told: (_ms, line) => lines.push(line) });
    const counted = Object.keys(said).map((what) => [what, lines.filter((line) => line.includes(what)).length]);
    expect(Object.fromEntries(counted)).toEqual(said);
    const met = Object.keys(probes).map((probe) => [probe, one.probes.get(probe) ?? 0]);
    expect(Object.fromEntries(met)).toEqual(probes);
  });
});

describe('random histories of the whole plane', () => {
  it('are the same each time, whether or not somebody reads along', async () => {
    const one = await fleet.one(drawFleet(3, 1));
    expect(await fleet.one(drawFleet(3, 1), { told: () => undefined })).toEqual(one);
    expect((await fleet.one(drawFleet(3, 2))).hash).not.toBe(one.hash);
  });
});
