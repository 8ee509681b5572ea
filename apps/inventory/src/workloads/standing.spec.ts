import { describe, expect, it } from 'vitest';
import { isFine, type VerdictKind } from '#contracts';
import { aNode, anIncident, aWorkload } from '../testing/records.js';
import { workloadStanding, type AssignedNode, type StandingFacts } from './standing.js';

const at = (o: object = {}): StandingFacts['workload'] =>
  aWorkload('db', { generation: 3, assignment: { node: 'n-1', generation: 3 }, ...o });
const on = (o: Partial<AssignedNode> = {}, node: Parameters<typeof aNode>[1] = {}): AssignedNode => ({
  record: aNode('n-1', node),
  verdict: 'UP',
  report: { ageMs: 400, workloads: [{ name: 'db', generation: 3 }] },
  ...o,
});
const sut = (o: Partial<StandingFacts> = {}): ReturnType<typeof workloadStanding> =>
  workloadStanding({ workload: at(), node: on(), noRoom: false, changedForMs: 60_000, ...o });
const idle = { ageMs: 400, workloads: [] };
const dead = (o: Partial<AssignedNode> = {}, node: Parameters<typeof aNode>[1] = {}): AssignedNode =>
  on({ verdict: 'DOWN', report: { ageMs: 60_000, workloads: [{ name: 'db', generation: 3 }] }, ...o }, node);
const cordon = { by: 'ann', reason: 'disk swap', at: 1 };

describe('what is with a workload that should run', () => {
  it('runs where its node says so, with the age of that word', () => {
    expect(sut()).toEqual({ state: 'running', seenOn: 'n-1', reportAgeMs: 400 });
  });

  it('is not called running by the word of a node that is dead', () => {
    expect(sut({ node: dead() })).toMatchObject({ state: 'dead', why: 'n-1 is DOWN.', reportAgeMs: 60_000 });
  });

  it('is dead on a cordoned node that died, and the remedy is to end the cordon', () => {
    expect(sut({ node: dead({}, { cordon }) })).toMatchObject({
      state: 'dead',
      why: 'n-1 is DOWN and cordoned by ann (disk swap): it is not fenced.',
      remedy: { command: 'muster node get n-1' },
    });
  });

  it('tells the gate that stops the fencing of its node, and what to do about it', () => {
    const gates = [{ gate: 'PAUSED' as const, pass: false, detail: 'Fencing is paused by ann.' }];
    const incident = anIncident('n-1', { phase: 'suppressed', gate: 'PAUSED', gates });
    expect(sut({ node: dead({ incident }) })).toMatchObject({
      state: 'dead',
      why: 'n-1 is not heard, and its incident is blocked by PAUSED: Fencing is paused by ann.',
      remedy: { command: 'muster fencing get' },
    });
    const alive = anIncident('n-1', { phase: 'suppressed', gate: 'LIFE_SIGN' });
    expect(sut({ node: dead({ incident: alive }) }).state).toBe('unknown');
  });

  it('follows its node through an incident', () => {
    const phase = (p: 'fencing' | 'failed' | 'recovering'): string =>
      sut({ node: dead({ incident: anIncident('n-1', { phase: p }) }) }).state;
    expect([phase('fencing'), phase('failed'), phase('recovering')]).toEqual(['dead', 'dead', 'dead']);
    const takenBack = { by: 'eve', reason: 'mine', at: 1 };
    const node = dead({ incident: anIncident('n-1', { phase: 'cancelled', takenBack }) });
    expect(sut({ node })).toMatchObject({
      state: 'dead',
      why: 'n-1 is not heard, and eve cancelled its incident (mine).',
      remedy: { command: 'muster node fence n-1 --reason "…"' },
    });
  });

  it('is unknown where nobody can say, and never silently so', () => {
    const never = on({ verdict: undefined, report: undefined }, { state: 'Unknown', status: 'Unallocated' });
    delete never.record.bootId;
    expect(sut({ node: never })).toMatchObject({
      state: 'unknown',
      why: 'n-1 was never heard: nobody knows what runs there.',
      remedy: { command: 'muster discover 10.0.0.3' },
    });
    expect(sut({ node: never }).remedy?.text).toContain('muster workload delete db --reason');
    const cases: [VerdictKind | undefined, AssignedNode['report']][] = [
      ['UNKNOWN', undefined],
      ['SUSPECT', { ageMs: 11_000, workloads: [] }],
      ['UP', { ageMs: 400, workloads: undefined }],
    ];
    for (const [verdict, report] of cases) {
      const { state, why, remedy } = sut({ node: on({ verdict, report }) });
      expect({ verdict, state, told: why !== undefined && remedy !== undefined }).toEqual({
        verdict,
        state: 'unknown',
        told: true,
      });
    }
    expect(sut({ node: undefined })).toMatchObject({ state: 'unknown', why: 'Its node n-1 is on no record.' });
  });

  it('counts the last word of its node for a while, so that one late report is no news', () => {
    const late = { ageMs: 4_000, workloads: [{ name: 'db', generation: 3 }] };
    expect(sut({ node: on({ verdict: 'SUSPECT', report: late }) })).toMatchObject({
      state: 'running',
      reportAgeMs: 4_000,
    });
  });

  it('does not count a word that is older', () => {
    const old = { ageMs: 10_000, workloads: [{ name: 'db', generation: 3 }] };
    for (const verdict of ['UP', 'SUSPECT', 'UNKNOWN'] as const)
      expect(sut({ node: on({ verdict, report: old }) }).state).toBe('unknown');
  });

  it('is missing where its node is heard and does not run it, once that is no report of before', () => {
    expect(sut({ node: on({ report: idle }), changedForMs: 3_000 }).state).toBe('starting');
    expect(sut({ node: on({ report: idle }) })).toMatchObject({
      state: 'missing',
      why: 'n-1 is heard and does not run it.',
    });
  });

  it('tells a start that is held, failing, under way or not given', () => {
    const owes = (o: object): ReturnType<typeof sut> => sut({ workload: at(o), node: on({ report: idle }) });
    const start = { cause: 'unassigned', attempt: 0 };
    expect(owes({ start, held: 'n-1 is out of service.' })).toMatchObject({
      state: 'held',
      why: 'n-1 is out of service.',
    });
    expect(owes({ start: { ...start, job: 'j' } })).toMatchObject({ state: 'starting' });
    expect(owes({ start })).toMatchObject({ state: 'waiting' });
    expect(owes({ start: { ...start, attempt: 2 }, held: 'exit 1' })).toMatchObject({
      state: 'failing',
      why: 'Its start on n-1 failed 2 time(s). exit 1',
    });
  });

  it('is told where there is no room, or where it runs instead', () => {
    const free = aWorkload('db', { held: 'no node has room' });
    expect(sut({ workload: free, node: undefined, noRoom: true })).toMatchObject({
      state: 'no-room',
      why: 'no node has room',
    });
    expect(sut({ workload: aWorkload('db'), node: undefined })).toMatchObject({ state: 'waiting' });
    expect(sut({ elsewhere: 'n-2' })).toMatchObject({ state: 'elsewhere', seenOn: 'n-2' });
    expect(sut({ elsewhere: 'n-2', changedForMs: 1_000 }).state).toBe('running');
  });

  it('has a reason and a command for everything that is not as it should be', () => {
    const nodes = [
      on(),
      dead(),
      dead({}, { cordon }),
      on({ report: idle }),
      on({ report: undefined, verdict: 'UNKNOWN' }),
      undefined,
    ];
    const workloads = [
      at(),
      at({ desired: 'stopped' }),
      at({ desired: 'stopped', stop: { cause: 'put', attempt: 0 } }),
      at({ desired: 'stopped', stop: { cause: 'put', attempt: 1, why: 'exit 1' } }),
      at({ start: { cause: 'put', attempt: 1 } }),
      at({ held: 'later' }),
      aWorkload('db'),
    ];
    for (const workload of workloads)
      for (const node of nodes)
        for (const elsewhere of [undefined, 'n-2']) {
          const s = sut({ workload, node, elsewhere });
          if (!isFine(s.state))
            expect(s).toMatchObject({ why: expect.any(String), remedy: { command: expect.any(String) } });
        }
  });
});

describe('what is with a workload that should not run', () => {
  const stopped = at({ desired: 'stopped' });
  const owed = (attempt: number): StandingFacts['workload'] =>
    at({ desired: 'stopped', stop: { cause: 'put', attempt, why: 'exit 1' } });

  it('is stopped where that was read back, and stopping until then', () => {
    expect(sut({ workload: stopped, node: on({ report: idle }) }).state).toBe('stopped');
    expect(sut({ workload: owed(0) }).state).toBe('stopping');
    expect(sut({ workload: owed(0), node: on({ report: idle }) }).state).toBe('stopping');
    expect(sut({ workload: owed(1), node: on({ report: idle }) }).state).toBe('failing');
  });

  it('is still running where it is seen, there or elsewhere', () => {
    expect(sut({ workload: stopped })).toMatchObject({ state: 'still-running', seenOn: 'n-1' });
    expect(sut({ workload: stopped, node: on({ report: idle }), elsewhere: 'n-2' })).toMatchObject({ seenOn: 'n-2' });
    expect(sut({ workload: owed(2) })).toMatchObject({
      state: 'still-running',
      why: expect.stringContaining('exit 1'),
    });
  });

  it('is unknown while its node is silent', () => {
    expect(sut({ workload: owed(0), node: dead() })).toMatchObject({
      state: 'unknown',
      why: 'Its stop waits. n-1 is DOWN.',
    });
  });
});
