import { describe, expect, it } from 'vitest';
import type { AlarmView, StatusView, TaskView } from '#contracts';
import { unfinished, unsettled } from './settled.js';

const SIZE = { nodes: 2, workloads: 20 };
const task = (o: Partial<TaskView> = {}): TaskView => ({
  name: 'returns',
  watches: [],
  periodMs: 1000,
  severity: 'critical',
  lastRun: 5_000,
  lastMs: 3,
  errors: 0,
  errorsForMs: 0,
  ...o,
});
const alarm = (o: Partial<AlarmView>): AlarmView => ({
  code: 'blind',
  subject: 'fleet',
  severity: 'critical',
  message: 'Nobody reports.',
  since: 1,
  count: 1,
  remedy: { text: 'Look.', command: 'muster status' },
  ...o,
});
const status = (o: Partial<StatusView> = {}): StatusView =>
  ({
    nodes: { total: 2, inService: 2, out: [], troubled: [] },
    workloads: { total: 20, running: 20, wrong: 0, worst: [] },
    incidents: [],
    alarms: [],
    tasks: [task()],
    ...o,
  }) as unknown as StatusView;

describe('a fleet', () => {
  it('is settled where all serves, all runs, and nothing is critical', () => {
    const known = [alarm({ severity: 'warning' }), alarm({ cleared: 2 })];
    expect(unsettled(status({ alarms: known }), SIZE)).toEqual([]);
  });

  it.each([
    ['1 of 2 nodes are in service', { nodes: { total: 2, inService: 1, out: [], troubled: [] } }],
    ['3 of 2 nodes are in service', { nodes: { total: 3, inService: 3, out: [], troubled: [] } }],
    ['19 of 20 workloads run', { workloads: { total: 20, running: 19, wrong: 1, worst: [] } }],
    ['alarm blind of fleet: Nobody reports.', { alarms: [alarm({})] }],
    ['incident of n-1 is open', { incidents: [{ node: 'n-1', phase: 'open' }] }],
    ['no conductor says how its tasks go', { tasks: [] }],
    ['task returns fails: ', { tasks: [task({ errors: 1 })] }],
    ['a gap', { stale: 'a gap' }],
  ] as [string, Partial<StatusView>][])('is not: %s', (why, o) => {
    expect(unsettled(status(o), SIZE)).toEqual([why]);
  });
});

describe('a term', () => {
  it('has run every task to its end once each has begun in it and ended without a failure', () => {
    expect(unfinished([task(), task({ name: 'stops', runningMs: 4 })], 5_000)).toEqual([]);
  });

  it.each([
    ['of the term before', { lastRun: 4_999 }],
    ['that has never run', { lastRun: undefined }],
    ['that runs for the first time', { lastMs: undefined }],
    ['that failed', { errors: 1 }],
  ])('waits for a task %s', (_which, o) => {
    expect(unfinished([task(o as Partial<TaskView>), task({ name: 'stops' })], 5_000)).toEqual(['returns']);
  });
});
