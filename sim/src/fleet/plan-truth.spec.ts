import { describe, expect, it } from 'vitest';
import type { AlarmRecord, IncidentRecord, NodeRecord, PlanItem } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { isNamed, type Obstacle, type PlanWorld } from './plan-truth.js';

const world = (o: Partial<PlanWorld> = {}): PlanWorld => ({
  speaks: () => false,
  incident: () => undefined,
  node: () => undefined,
  isJob: () => false,
  alarm: () => undefined,
  ...o,
});

const anItem = (o: Partial<PlanItem>): PlanItem => ({
  ...{ about: 'incident', name: 'n-1', nodes: ['n-1'], does: 'waits', next: 'waits', reason: 'It waits.', again: {} },
  ...o,
});

const against = (name: string, subject = 'n-1'): Obstacle => ({ name, subject, node: 'n-1' });

describe('a gate that stands against something', () => {
  const brake = against('gate BRAKE', 'w1');

  it('is named by the incident that it stops', () => {
    expect(isNamed(brake, [anItem({ gate: 'BRAKE' })], world())).toBe(true);
  });

  it.each([
    ['nothing', []],
    ['another gate', [anItem({ gate: 'CAP' })]],
    [
      'what would be done past another gate',
      [anItem({ does: 'would', gate: 'DOMAIN', reason: 'The mode is observe.' })],
    ],
    ['another incident', [anItem({ gate: 'BRAKE', name: 'n-2', nodes: ['n-2'] })]],
    ['only the workload', [anItem({ about: 'workload', name: 'w1' })]],
    ['only a storm of the node', [anItem({ about: 'storm', name: 's-1' })]],
    ['that it is to be acted on, while its node is silent', [anItem({ does: 'acts' })]],
    ['the backoff of a fencing that has not failed', [anItem({ next: 'is fenced again' })]],
  ])('is not named by %s', (_what, items) => {
    expect(isNamed(brake, items, world())).toBe(false);
  });

  it('need not be asked while its incident, which has failed, waits for its next try', () => {
    const incident = (): IncidentRecord => anIncident('n-1', { phase: 'failed' });
    expect(isNamed(brake, [anItem({ next: 'is fenced again' })], world({ incident }))).toBe(true);
  });

  it('may be of the moment before where its node speaks again', () => {
    const speaks = (): boolean => true;
    expect(isNamed(brake, [anItem({ does: 'acts' })], world({ speaks }))).toBe(true);
    expect(isNamed(brake, [anItem({ gate: 'LIFE_SIGN' })], world({ speaks }))).toBe(true);
    expect(isNamed(brake, [anItem({ gate: 'CAP' })], world({ speaks }))).toBe(false);
  });

  it('is the mode where the plan says what enforcing it would do', () => {
    const would = anItem({ does: 'would', reason: 'All gates pass. The mode is observe.' });
    expect(isNamed(against('gate OBSERVE'), [would], world())).toBe(true);
    expect(isNamed(against('gate OBSERVE'), [{ ...would, does: 'waits' }], world())).toBe(false);
  });

  it('is one in mode observe that counts what would have been fenced, whatever gate its record waits at', () => {
    const would = anItem({ does: 'would', gate: 'BRAKE', reason: '3 at once. The mode is observe.' });
    expect(isNamed(against('gate QUORUM'), [would], world())).toBe(true);
    expect(isNamed(against('gate QUORUM'), [{ ...would, reason: '3 at once.' }], world())).toBe(false);
  });

  it('is named beside the operation that waits for it', () => {
    const waits = against('gate BRAKE', 'job-1');
    const isJob = (id: string): boolean => id === 'job-1';
    const items = [anItem({ gate: 'BRAKE' })];
    expect(isNamed(waits, items, world({ isJob }))).toBe(false);
    expect(isNamed(waits, [...items, anItem({ about: 'job', name: 'job-1' })], world({ isJob }))).toBe(true);
  });
});

describe('an alarm that says why a workload does not run', () => {
  const held = against('alarm workload-held', 'w1');
  const alarm: PlanWorld['alarm'] = (code, subject) =>
    ({ code, subject, message: 'Its start failed. n-1 is out of service: its state is Disappeared.' }) as AlarmRecord;
  const item = anItem({ about: 'workload', name: 'w1', reason: 'n-1 is out of service: its state is Disappeared.' });

  it('is named where the plan gives the reason that it gives', () => {
    expect(isNamed(held, [item], world({ alarm }))).toBe(true);
  });

  it('is named where its node has fallen silent since, and the plan says so', () => {
    const left = { ...item, reason: 'It is to move to n-2. n-1 is silent: nothing counts as stopped there.' };
    expect(isNamed(held, [left], world({ alarm }))).toBe(true);
    expect(isNamed(held, [left], world({ alarm, speaks: () => true }))).toBe(false);
    expect(isNamed({ ...held, node: 'n-2' }, [left], world({ alarm }))).toBe(false);
  });

  it.each([
    ['the plan gives another', { reason: 'n-2 must say what it runs, and does not.' }],
    ['it is said of another workload', { name: 'w2' }],
    ['it is said of its node', { about: 'return' as const, name: 'n-1' }],
    ['it is to be acted on', { does: 'acts' as const }],
  ])('is not named where %s', (_what, o) => {
    expect(isNamed(held, [{ ...item, ...o }], world({ alarm }))).toBe(false);
  });
});

describe('an alarm that says why an operation waits for its nodes to be empty', () => {
  const stuck = against('alarm drain-stuck', 'job-1');
  const emptying = world({
    isJob: () => true,
    alarm: (code, subject) =>
      ({ code, subject, message: 'Its workloads cannot all be moved away. w1: no room.' }) as AlarmRecord,
  });
  const item = anItem({ about: 'job', name: 'job-1', reason: 'maintenance of n-1: w1: no room.' });

  it('is named by the operation that gives the reason that it gives', () => {
    expect(isNamed(stuck, [item], emptying)).toBe(true);
  });

  it.each([
    ['it gives another', { reason: 'maintenance of n-1: w1 has to leave first.' }],
    ['it is to be acted on', { does: 'acts' as const }],
    ['it is said of another subject', { about: 'workload' as const }],
  ])('is not named where %s', (_what, o) => {
    expect(isNamed(stuck, [{ ...item, ...o }], emptying)).toBe(false);
  });
});

describe('what stands in a record', () => {
  it('is named of a held return by what it is held for', () => {
    const pendingReturn = { held: 'eve decides', reason: 'rebooted', at: 1 } as const;
    const node = (): NodeRecord => aNode('n-1', { pendingReturn });
    const item = anItem({ about: 'return', reason: 'eve decides' });
    expect(isNamed(against('a held return', 'w1'), [item], world({ node }))).toBe(true);
    expect(isNamed(against('a held return', 'w1'), [{ ...item, reason: 'It is back.' }], world({ node }))).toBe(false);
    expect(isNamed(against('a held return', 'w1'), [{ ...item, about: 'incident' }], world({ node }))).toBe(false);
  });

  it('is named of a return that a cordon stops by that cordon, not by a turn that never comes', () => {
    const node = (): NodeRecord => aNode('n-1', { pendingReturn: { reason: 'rebooted', at: 1 } });
    const reason = 'It is back (rebooted) and waits: it is cordoned: an operator is at it, or wants it as it is.';
    const item = anItem({ about: 'return', reason });
    expect(isNamed(against('a cordon'), [item], world({ node }))).toBe(true);
    const others: Partial<PlanItem>[] = [
      { reason: 'It is back (rebooted).' },
      { about: 'cordon' },
      { name: 'n-2' },
      { does: 'acts' },
    ];
    for (const o of others) expect(isNamed(against('a cordon'), [{ ...item, ...o }], world({ node }))).toBe(false);
  });

  it('is named of a power-off that may have hit another node by that node', () => {
    const incident = (): IncidentRecord => anIncident('n-1', { collateral: { at: 1, nodes: [{ node: 'n-4' }] } });
    const item = anItem({ next: 'recovers nothing', reason: 'It may have hit n-4.' });
    expect(isNamed(against('collateral'), [item], world({ incident }))).toBe(true);
    expect(isNamed(against('collateral'), [{ ...item, reason: 'It may have hit n-3.' }], world({ incident }))).toBe(
      false,
    );
    expect(isNamed(against('collateral'), [{ ...item, next: 'follows its recovery' }], world({ incident }))).toBe(
      false,
    );
  });

  it.each([
    [
      'a contradiction',
      'recovers nothing more',
      'The node has spoken in the boot that its proof of off says has ended.',
    ],
    ['a drill that nobody sees', 'judges its drill', 'No detector with a quorum knows who fell silent.'],
    ['an order that was cancelled', 'opens an incident', 'eve cancelled its incident: wanted.'],
  ])('is named of %s by what follows from it', (name, next, reason) => {
    expect(isNamed(against(name), [anItem({ next, reason })], world())).toBe(true);
    expect(isNamed(against(name), [anItem({ next: 'follows its recovery', reason })], world())).toBe(false);
  });

  it.each(['a cordon', 'the mode observe', 'the monitor has no quorum'])('need not be named of %s', (name) => {
    expect(isNamed(against(name), [], world())).toBeUndefined();
  });
});
