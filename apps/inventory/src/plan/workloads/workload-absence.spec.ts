import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { IncidentPhases, type WorkloadRecord } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { workloadAfter } from '#domain/workload/changes.js';
import { aNode, aWorkload } from '../../testing/records.js';
import {
  ABSENT_MS,
  absenceStep,
  absenceAlarm,
  isTimed,
  presenceOf,
  restartAfterMs,
  STARTING_ALARM_MS,
  STEADY_MS,
  type PresenceFacts,
} from './workload-absence.js';

const boot = 'boot-a';
const db = (o: Partial<WorkloadRecord> = {}): WorkloadRecord =>
  aWorkload('db', { assignment: { node: 'a', generation: 2 }, generation: 2, boot, ...o });
const up = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
const node = aNode('a', { verdict: up });
const look = (o: Partial<PresenceFacts> = {}): PresenceFacts => ({
  workload: db(),
  node,
  incident: undefined,
  report: { bootId: boot, workloads: [] },
  ...o,
});
const named = (starting?: true): PresenceFacts['report'] => ({
  bootId: boot,
  workloads: [{ name: 'db', generation: 2, ...(starting && { starting }) }],
});

describe('a workload that its node leaves out', () => {
  it('has ended', () => {
    expect(presenceOf(look())).toBe('absent');
    expect(
      presenceOf(look({ workload: aWorkload('db', { assignment: { node: 'a', generation: 2 }, generation: 2 }) })),
    ).toBe('absent');
    expect(presenceOf(look({ incident: 'closed' }))).toBe('absent');
    expect(presenceOf(look({ report: named() }))).toBe('runs');
    expect(presenceOf(look({ report: named(true) }))).toBe('starting');
  });
  it.each<[string, Partial<PresenceFacts>]>([
    ['is paused', { workload: db({ desired: 'stopped' }) }],
    ['is assigned nowhere', { workload: aWorkload('db') }],
    ['is owed its start already', { workload: db({ start: { cause: 'put', attempt: 0 } }) }],
    ['is being stopped', { workload: db({ stop: { cause: 'put', attempt: 0 } }) }],
    ['is on its way elsewhere', { workload: db({ move: { cause: 'drain', from: 'a', to: 'b' } }) }],
    ['was lost with a reboot', { workload: db({ boot: 'boot-before' }) }],
    ['is on a silent node', { report: undefined }],
    ['is on a node that cannot say', { report: { bootId: boot } }],
    ['is on a node that speaks of another boot', { report: { bootId: 'other', workloads: [] } }],
    [
      'was never seen on a node that speaks of another boot',
      {
        workload: aWorkload('db', { assignment: { node: 'a', generation: 2 }, generation: 2 }),
        report: { bootId: 'other', workloads: [] },
      },
    ],
    ['is on a node that nobody knows', { node: undefined }],
    ['is on a node without an agent', { node: { ...node, enrolled: false } }],
    ['is on a node that is off', { node: { ...node, confirmedOff: { at: 1, incident: 'i' } } }],
    ['is on a node that is gone', { node: { ...node, state: 'Disappeared' } }],
    ['is on a node that may be dying', { node: { ...node, verdict: { ...up, verdict: 'SUSPECT' } } }],
    ['is on a node that nobody sees', { node: { ...node, verdict: { ...up, verdict: 'UNKNOWN' } } }],
    ['belongs to an incident', { incident: 'fencing' }],
  ])('is not known to have ended where it %s', (_what, o) => {
    expect(presenceOf(look(o))).toBe('unknown');
  });
  it('is somebody else’s in every phase in which its node may yet be powered off', () => {
    const open = ['open', 'investigating', 'suppressed', 'fencing', 'fenced', 'recovering', 'failed'] as const;
    for (const incident of IncidentPhases)
      expect(presenceOf(look({ incident })) === 'unknown').toBe((open as readonly string[]).includes(incident));
  });
});

describe('the start of a workload that has ended by itself', () => {
  it('is owed after ten seconds, and later with each time that it ended', () => {
    expect(absenceStep(db(), 'absent', ABSENT_MS - 1)).toBe('none');
    expect(absenceStep(db(), 'absent', ABSENT_MS)).toBe('owe');
    expect([0, 1, 2, 3, 4, 5, 50].map((n) => restartAfterMs(n) / 1000)).toEqual([10, 20, 40, 80, 160, 300, 300]);
    expect(absenceStep(db({ ended: { times: 1, at: 1 } }), 'absent', 2 * ABSENT_MS - 1)).toBe('none');
  });
  it('is owed at the same generation, with its gate shut until it is given', () => {
    const owed = workloadAfter(db(), { kind: 'ended', at: 7 });
    expect(owed).toMatchObject({ generation: 2, start: { cause: 'ended', attempt: 0 }, ended: { times: 1, at: 7 } });
    expect(owed?.held).toBeDefined();
    expect(workloadAfter(owed as WorkloadRecord, { kind: 'ended', at: 8 })).toBeUndefined();
  });
  it('is never owed but after a long enough absence', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('runs' as const, 'starting' as const, 'absent' as const, 'unknown' as const),
        fc.nat(400_000),
        fc.nat(20),
        (presence, forMs, times) => {
          const w = db(times === 0 ? {} : { ended: { times, at: 1 } });
          if (absenceStep(w, presence, forMs) !== 'owe') return;
          expect(presence).toBe('absent');
          expect(forMs).toBeGreaterThanOrEqual(ABSENT_MS);
        },
      ),
      { numRuns: runs(1000) },
    );
  });
  it('is told from the third time on, until it has run for ten minutes', () => {
    expect(absenceAlarm(db({ ended: { times: 2, at: 1 } }), 'absent', 0)).toBeUndefined();
    const often = db({ ended: { times: 3, at: 1 } });
    expect(absenceAlarm(often, 'runs', 0)).toMatch(/3 times in a row on a.*80 s/);
    expect(absenceStep(often, 'runs', STEADY_MS - 1)).toBe('none');
    expect(absenceStep(often, 'runs', STEADY_MS)).toBe('forget');
    expect(workloadAfter(often, { kind: 'steady' })).not.toHaveProperty('ended');
    expect(absenceStep(db(), 'runs', STEADY_MS)).toBe('none');
  });
  it('is not given for one that is starting again and again, but told', () => {
    expect(absenceStep(db(), 'starting', 1_000_000)).toBe('none');
    expect(absenceAlarm(db(), 'starting', STARTING_ALARM_MS - 1)).toBeUndefined();
    expect(absenceAlarm(db(), 'starting', STARTING_ALARM_MS)).toContain('starting on a');
  });
});

describe('for how long a workload has been so', () => {
  it('matters to nobody where it is not timed', () => {
    const ended = fc.option(fc.record({ times: fc.nat(5), at: fc.constant(1) }), { nil: undefined });
    const presence = fc.constantFrom('runs', 'starting', 'absent', 'unknown' as const);
    const age = fc.integer({ min: 0, max: 2 * STEADY_MS });
    fc.assert(
      fc.property(ended, presence, age, (e, p, forMs) => {
        const w = db(e && { ended: e });
        if (isTimed(w, p)) return;
        expect(absenceStep(w, p, forMs)).toBe(absenceStep(w, p, 0));
        expect(absenceAlarm(w, p, forMs)).toBe(absenceAlarm(w, p, 0));
      }),
      { numRuns: runs(500) },
    );
  });

  it('matters of what is absent, is being started, or runs again after it has ended', () => {
    const again = db({ ended: { times: 1, at: 1 } });
    expect([isTimed(db(), 'absent'), isTimed(db(), 'starting'), isTimed(again, 'runs')]).toEqual([true, true, true]);
    expect([isTimed(db(), 'runs'), isTimed(again, 'unknown')]).toEqual([false, false]);
  });
});
