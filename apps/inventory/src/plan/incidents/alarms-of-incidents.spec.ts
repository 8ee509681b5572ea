import { beforeEach, describe, expect, it } from 'vitest';
import { alarmKey, type AlarmRecord, type IncidentRecord, type PowerCommand } from '#contracts';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aNode, anIncident, aWorkload } from '../../testing/records.js';
import { ageMs, type SightedMs } from '../../snapshot/ages.js';
import { alarmsOfIncidents, fencingOrders, missedBoots, type WaitAges } from './alarms-of-incidents.js';
import { FENCING_STUCK_MS } from './incident-alarms.js';

const on: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'on', at: 1 };

describe('the alarms of the incidents of a fleet', () => {
  let store: MemoryStore;
  const waited = new Map<string, number>();
  const waits: WaitAges = {
    ofOrder: (order) => ageMs(waited.get(order) ?? 0),
    ofBoot: (boot) => (waited.get(boot) ?? 0) as SightedMs,
  };
  const codes = (): string[] => alarmsOfIncidents(fleetOf(store), waits, []).map((a) => a.code);
  const incident = (o: Partial<IncidentRecord>): IncidentRecord => {
    const i = anIncident('n-1', o);
    store.incidents.set('n-1', i);
    return i;
  };
  /** Powered on again, and heard in no boot. */
  const poweredOn = (o: Partial<IncidentRecord> = {}): IncidentRecord =>
    incident({ phase: 'recovered', commands: [{ ...on, result: { ok: true } }], ...o });

  beforeEach(() => {
    store = new MemoryStore();
    waited.clear();
    store.nodes.set('n-1', aNode('n-1', { enrolled: true, state: 'Disappeared' }));
  });

  it('tell of an order only once it is as old as no fencer takes, each try anew', () => {
    incident({ id: 'i-1', phase: 'fencing', attempt: 0 });
    expect(fencingOrders(fleetOf(store))).toEqual(['i-1/0']);
    waited.set('i-1/0', FENCING_STUCK_MS);
    expect(codes()).toEqual([]);
    waited.set('i-1/0', FENCING_STUCK_MS + 1);
    expect(codes()).toEqual(['fencing-failed']);
    incident({ id: 'i-1', phase: 'fencing', attempt: 1 });
    expect(fencingOrders(fleetOf(store))).toEqual(['i-1/1']);
    incident({ id: 'i-1', phase: 'failed', attempt: 1 });
    expect(fencingOrders(fleetOf(store))).toEqual([]);
  });

  it('tell of a boot that is missed for its grace', () => {
    const { id } = poweredOn();
    const boot = `${id}/1`;
    expect(missedBoots(fleetOf(store))).toEqual([boot]);
    waited.set(boot, store.clusterSettings.leaveGrace - 1);
    expect(codes()).toEqual([]);
    waited.set(boot, store.clusterSettings.leaveGrace);
    expect(codes()).toEqual(['boot-timeout']);
    store.nodes.set('n-1', aNode('n-1', { enrolled: true, state: 'Discovered' }));
    expect(missedBoots(fleetOf(store))).toEqual([]);
    expect(codes()).toEqual([]);
  });

  it('leave one of a missed boot that stands to whoever takes over, and not one that is over', () => {
    poweredOn();
    const alarm = (o: Partial<AlarmRecord>): void => {
      const was = {
        code: 'boot-timeout',
        subject: 'n-1',
        severity: 'warning',
        message: 'm',
        since: 1,
        count: 1,
      } as const;
      store.alarms.set(alarmKey('boot-timeout', 'n-1'), { ...was, ...o });
    };
    alarm({});
    expect(codes()).toEqual(['boot-timeout']);
    alarm({ cleared: 2 });
    expect(codes()).toEqual([]);
  });

  it('are none of an incident that cannot be read', () => {
    const { id } = poweredOn({ unreadable: 'it is of a later version' });
    waited.set(`${id}/1`, store.clusterSettings.leaveGrace);
    expect(missedBoots(fleetOf(store))).toEqual([]);
    expect(codes()).toEqual([]);
    incident({ id: 'i-1', phase: 'fencing', unreadable: 'it is of a later version' });
    expect(fencingOrders(fleetOf(store))).toEqual([]);
  });

  it('name the work of the node, and of no other', () => {
    store.workloads.set('web', aWorkload('web', { generation: 1, assignment: { node: 'n-1', generation: 1 } }));
    store.workloads.set('db', aWorkload('db', { generation: 1, assignment: { node: 'n-2', generation: 1 } }));
    const gate = 'NOT_FENCEABLE' as const;
    incident({ phase: 'suppressed', gate, gates: [{ gate, pass: false, detail: 'No device.' }] });
    expect(alarmsOfIncidents(fleetOf(store), waits, [])).toMatchObject([
      { code: 'not-fenceable', message: 'It seems dead and is not fenced. No device. Runs nowhere: web.' },
    ]);
  });
});
