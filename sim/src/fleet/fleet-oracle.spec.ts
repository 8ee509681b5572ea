import { describe, expect, it } from 'vitest';
import {
  alarmKey,
  defaultSettings,
  SETTINGS_KEY,
  type AlarmCode,
  type AlarmRecord,
  type BucketName,
  type WorkloadRecord,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { presentBounds } from '../hands/hands-oracle.js';
import { FleetOracle } from './fleet-oracle.js';
import type { PlayedHost } from './played-host.js';

/** An oracle, and two machines that speak; fencing is enforced. */
function world() {
  const oracle = new FleetOracle({
    now: () => 1_000,
    chassis: new Map(),
    bounds: presentBounds,
    owesOn: () => false,
    intended: () => undefined,
    hosts: new Map(['n-1', 'n-2'].map((name) => [name, { name, speaks: true } as PlayedHost])),
    brake: 2,
    isCalledUp: () => true,
    noQuorum: () => undefined,
    notCalledDead: () => undefined,
    wallOf: () => 1_000,
    phase: () => undefined,
  });
  let revision = 0;
  const store = (bucket: BucketName, key: string, record: object): void =>
    oracle.stored(bucket, key, JSON.stringify(record), ++revision);
  const broken = (): string[] => oracle.violations.map((v) => v.rule);
  const settings = defaultSettings('c');
  store('settings', SETTINGS_KEY, { ...settings, fencing: { ...settings.fencing, mode: 'enforce' } });
  for (const name of ['n-1', 'n-2']) store('nodes', name, aNode(name));
  return { oracle, store, broken };
}

const anAlarm = (code: AlarmCode, subject: string): AlarmRecord => ({
  ...{ code, subject, severity: 'critical', message: `${code} of ${subject}`, since: 1, count: 1 },
});
const assigned: WorkloadRecord = aWorkload('w1', { assignment: { node: 'n-1', generation: 1 }, generation: 1 });

describe('a workload that runs nowhere', () => {
  const standing = (code: AlarmCode): string[] => {
    const { oracle, store, broken } = world();
    store('workloads', 'w1', assigned);
    store('alarms', alarmKey(code, 'w1'), anAlarm(code, 'w1'));
    oracle.judgeEnd();
    return broken();
  };

  it.each(['no-room', 'workload-held'] as const)('is excused by the alarm %s', (code) => {
    expect(standing(code)).toEqual([]);
  });

  it.each(['workload-ended', 'workload-ungated'] as const)('is not excused by the alarm %s', (code) => {
    expect(standing(code)).toEqual(['not-running']);
  });

  it('is not excused by the alarm that it runs elsewhere, which is not so', () => {
    expect(standing('conflict-workload')).toEqual(['alarm-untrue', 'not-running']);
  });
});
