import { beforeEach, describe, expect, it } from 'vitest';
import { alarmKey, PERMITS_KEY, type AlarmRecord, type IncidentRecord } from '#contracts';
import type { Intent } from '../intent.js';
import { ageMs } from '../../snapshot/ages.js';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aNode, anIncident, aWorkload } from '../../testing/records.js';
import { alarmsOfIncidents } from './alarms-of-incidents.js';
import { FENCING_STUCK_MS } from './incident-alarms.js';

describe('the alarms of the incidents of a fleet', () => {
  let store: MemoryStore;
  const waited = new Map<string, number>();
  const ages = { of: (order: string) => ageMs(waited.get(order) ?? 0) };
  const planned = (): Intent[] => alarmsOfIncidents.plan(fleetOf(store), ages);
  const raised = () => planned().flatMap((i) => (i.do === 'raise-alarm' ? [i.alarm] : []));
  const codes = (): string[] => raised().map((a) => a.code);
  const orders = (): string[] => [...(alarmsOfIncidents.conditions?.(fleetOf(store), ages).holds ?? [])];
  const incident = (o: Partial<IncidentRecord>, node = 'n-1'): void => {
    store.incidents.set(node, anIncident(node, o));
  };
  const gate = 'NOT_FENCEABLE' as const;
  const suppressed = { phase: 'suppressed' as const, gate, gates: [{ gate, pass: false, detail: 'No device.' }] };
  const stands = (code: AlarmRecord['code'], subject: string): void => {
    const was = { code, subject, severity: 'critical', message: 'm', since: 1, count: 1 } as const;
    store.alarms.set(alarmKey(code, subject), was);
  };

  beforeEach(() => {
    store = new MemoryStore();
    waited.clear();
    store.nodes.set('n-1', aNode('n-1', { enrolled: true, state: 'Disappeared' }));
  });

  it('tell of an order only once it is as old as no fencer takes, each try anew', () => {
    incident({ id: 'i-1', phase: 'fencing', attempt: 0 });
    expect(orders()).toEqual(['i-1/0']);
    waited.set('i-1/0', FENCING_STUCK_MS);
    expect(codes()).toEqual([]);
    waited.set('i-1/0', FENCING_STUCK_MS + 1);
    expect(codes()).toEqual(['fencing-failed']);
    incident({ id: 'i-1', phase: 'fencing', attempt: 1 });
    expect(orders()).toEqual(['i-1/1']);
    incident({ id: 'i-1', phase: 'failed', attempt: 1 });
    expect(orders()).toEqual([]);
  });

  it('are none of an incident that cannot be read', () => {
    incident({ id: 'i-1', phase: 'fencing', unreadable: 'it is of a later version' });
    waited.set('i-1/0', FENCING_STUCK_MS + 1);
    expect([orders(), codes()]).toEqual([[], []]);
  });

  it('stay while their incident cannot be read, with those of the fleet', () => {
    incident({ ...suppressed, unreadable: 'it is of a later version' });
    for (const [code, subject] of [
      ['not-fenceable', 'n-1'],
      ['not-fenceable', 'n-2'],
      ['brake', 'fleet'],
    ] as const)
      stands(code, subject);
    const cleared = [['clear-alarm', { alarm: alarmKey('not-fenceable', 'n-2') }]];
    expect(planned().map((i) => [i.do, i.about])).toEqual(cleared);
    store.incidents.set('n-1', undefined);
    (store.incidents.unreadable as Map<string, unknown>).set('n-1', {});
    expect(planned().map((i) => [i.do, i.about])).toEqual(cleared);
  });

  it('name the work of the node, and of no other', () => {
    store.workloads.set('web', aWorkload('web', { generation: 1, assignment: { node: 'n-1', generation: 1 } }));
    store.workloads.set('db', aWorkload('db', { generation: 1, assignment: { node: 'n-2', generation: 1 } }));
    incident(suppressed);
    expect(raised()).toMatchObject([
      { code: 'not-fenceable', message: 'It seems dead and is not fenced. No device. Runs nowhere: web.' },
    ]);
  });

  it('are told of a subject once: by the storm that stands, else by the oldest incident', () => {
    const brake = 'BRAKE' as const;
    const braked = (detail: string) => ({
      ...{ phase: 'suppressed' as const, gate: brake, gates: [{ gate: brake, pass: false, detail }] },
    });
    incident({ ...braked('The younger.'), openedAt: 2 });
    incident({ ...braked('The older.'), openedAt: 1 }, 'n-2');
    expect(raised().map((a) => a.message)).toEqual(['Fencing is braked. The older.']);
    const members = { 'n-1': {}, 'n-2': {}, 'n-3': {} };
    store.permits.set(PERMITS_KEY, { granted: [], trips: [{ id: 's-1', cause: 'brake', at: 1, members }] });
    expect(raised().map((a) => a.message)).toEqual([expect.stringContaining('of storm s-1 are not back')]);
  });

  it('end with what they stand for', () => {
    stands('not-fenceable', 'n-1');
    stands('brake', 'fleet');
    expect(planned().map((i) => [i.do, i.about])).toEqual([
      ['clear-alarm', { alarm: alarmKey('not-fenceable', 'n-1') }],
      ['clear-alarm', { alarm: alarmKey('brake', 'fleet') }],
    ]);
  });

  it('of storms stay while the permits, or a view, cannot be read', () => {
    stands('brake', 'fleet');
    (store.permits.unreadable as Map<string, unknown>).set(PERMITS_KEY, {});
    expect(planned()).toEqual([]);
    store.permits.unreadable.clear();
    store.nodes.live = false;
    expect(planned()).toEqual([]);
  });

  it('of an odd record stay as they are, with those of the fleet; it keeps up no other', () => {
    incident(suppressed, 'n-2');
    incident({ ...suppressed, gates: undefined as never });
    for (const [code, subject] of [
      ['not-fenceable', 'n-1'],
      ['brake', 'fleet'],
      ['domain-down', 'rack'],
      ['host-hung', 'n-2'],
    ] as const)
      stands(code, subject);
    expect(planned().map((i) => [i.do, i.about])).toEqual([
      ['fail-record', { node: 'n-1' }],
      ['raise-alarm', { alarm: alarmKey('not-fenceable', 'n-2') }],
      ['clear-alarm', { alarm: alarmKey('host-hung', 'n-2') }],
    ]);
  });
});
