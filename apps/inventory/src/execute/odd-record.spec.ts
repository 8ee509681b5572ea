import { describe, expect, it } from 'vitest';
import type { Cordon } from '#contracts';
import type { Concern } from '../plan/concern.js';
import { checkAlarms } from '../plan/alarms/check-alarms.js';
import type { Intent } from '../plan/intent.js';
import { jobSettlement } from '../plan/jobs/settlement.js';
import { absences } from '../plan/nodes/absences.js';
import { cordonEnd } from '../plan/nodes/cordon-end.js';
import { powerOrders } from '../plan/power/power-orders.js';
import { recovery } from '../plan/recovery/recovery.js';
import { startGates } from '../plan/alarms/start-gates.js';
import { stops } from '../plan/workloads/stops.js';
import { ageMs } from '../snapshot/ages.js';
import { fleetOf } from '../testing/investigation.js';
import { MemoryStore } from '../testing/memory-store.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident, aReport, aWorkload } from '../testing/records.js';

/** The record, of which one field makes every decision about it throw. */
function odd<T extends object>(record: T, field: keyof T): T {
  return Object.defineProperty({ ...record }, field, {
    enumerable: true,
    get: () => {
      throw new Error(`${String(field)} cannot be understood`);
    },
  });
}

const at = { node: 'n-1', generation: 2 };
const over: Cordon = { by: 'ann', reason: 'disk', at: 0, until: 1 };
const order = { action: 'on' as const, by: 'ann', at: 1, reason: 'needed', after: 0 };
const ended = { kind: 'check' as const, status: 'Complete' as const, nodes: [], results: {}, settled: false };

/** Each puts a record that is called odd, and one that is called well and about which something is to be done. */
const rows: Record<string, { concern: Concern<string>; kind: string; put: (store: MemoryStore) => void }> = {
  'cordon-end': {
    ...{ concern: cordonEnd, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'cordon'));
      nodes.set('well', aNode('well', { cordon: over }));
    },
  },
  'check-alarms': {
    ...{ concern: checkAlarms, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'lastCheck'));
      nodes.set('well', aNode('well', { pendingReturn: { reason: 'disappeared', at: 1, held: 'flapping' } }));
    },
  },
  'job-settlement': {
    ...{ concern: jobSettlement, kind: 'job' },
    put: ({ jobs }) => {
      jobs.set('odd', odd({ ...ended, id: 'odd' } as never, 'settled' as never));
      jobs.set('well', { ...ended, id: 'well' } as never);
    },
  },
  'power-orders': {
    ...{ concern: powerOrders, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd'), 'order'));
      store.incidents.set('well', anIncident('well', { phase: 'closed', order }));
    },
  },
  'start-gates': {
    ...{ concern: startGates, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'ungated'));
      nodes.set('well', aNode('well', { ungated: ['db'] }));
    },
  },
  recovery: {
    ...{ concern: recovery, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'recovering' }), 'recovery'));
      store.incidents.set('well', anIncident('well', { phase: 'recovered' }));
    },
  },
  stops: {
    ...{ concern: stops, kind: 'workload' },
    put: ({ workloads, reports }) => {
      reports.hear(aReport('n-1', { workloads: [{ name: 'well', generation: 2 }] }), 0);
      const stop = { cause: 'put', attempt: 0 };
      workloads.set('odd', odd(aWorkload('odd', { assignment: at }), 'stop'));
      workloads.set('well', aWorkload('well', { desired: 'stopped', assignment: at, generation: 2, stop }));
    },
  },
  absences: {
    ...{ concern: absences, kind: 'workload' },
    put: (store) => {
      store.nodes.set('n-1', aNode('n-1'));
      store.reports.hear(aReport('n-1', { workloads: [] }), 0);
      const ran = { assignment: at, generation: 2, boot: 'boot-n-1' };
      store.workloads.set('odd', odd(aWorkload('odd', ran), 'move'));
      store.workloads.set('well', aWorkload('well', ran));
    },
  },
};

/** One look, in which every condition has held for long. */
function look(concern: Concern<string>, store: MemoryStore): Intent[] {
  const fleet = fleetOf(store);
  const ages = { of: () => ageMs(3_600_000) };
  concern.conditions?.(fleet, ages);
  return concern.plan(fleet, ages);
}

const keyOf = (i: Intent): string | undefined => (i.do === 'raise-alarm' ? i.alarm.subject : 'key' in i ? i.key : '');

describe('a record about which a decision throws', () => {
  it.each(Object.entries(rows))(
    'fails by itself in %s, and the others are decided',
    (_name, { concern, kind, put }) => {
      const store = new MemoryStore();
      put(store);
      const intents = look(concern, store);
      const failed = intents.filter((i) => i.do === 'fail-record');
      expect(new Set(failed.map((i) => JSON.stringify(i.about)))).toEqual(new Set([JSON.stringify({ [kind]: 'odd' })]));
      expect(failed[0]?.error.message).toContain('cannot be understood');
      expect(intents.filter((i) => i.do !== 'fail-record').map(keyOf)).toContain('well');
    },
  );

  it('is named by the log and by the task, once a run, while the others are written', async () => {
    const store = new MemoryStore();
    rows['cordon-end']?.put(store);
    const failed: object[] = [];
    await playRun(planExecutor(store).drive(cordonEnd), { failed: (f) => failed.push(f) });
    expect(failed).toMatchObject([{ node: 'odd', code: 'INTERNAL' }]);
    expect(store.nodes.content['well']?.cordon).toBeUndefined();
  });

  it('keeps the alarm that is up about it', () => {
    const store = new MemoryStore();
    rows['check-alarms']?.put(store);
    const up = { code: 'drift', subject: 'odd', severity: 'warning', message: 'was', since: 1, count: 1 } as const;
    store.alarms.set('drift.odd', up as never);
    expect(look(checkAlarms, store).filter((i) => i.do === 'clear-alarm')).toEqual([]);
  });

  it('is no excuse for what is about no record: that fails the task', async () => {
    const failed: object[] = [];
    const plan = (): Intent[] => {
      throw new Error('nothing is known');
    };
    await playRun(planExecutor(new MemoryStore()).drive({ plan }), { failed: (f) => failed.push(f) });
    expect(failed).toMatchObject([{ task: 'played', code: 'INTERNAL' }]);
  });
});
