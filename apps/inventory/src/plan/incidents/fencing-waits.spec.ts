import { beforeEach, describe, expect, it } from 'vitest';
import { alarmKey, type IncidentRecord, type NodeRecord, type VerdictKind } from '#contracts';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aBeacon, aNode, anIncident, aWorkload, enforced } from '../../testing/records.js';
import { ageMs } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { FENCING_WAITS_MS, fencingWaits } from './fencing-waits.js';

const verdict = (kind: VerdictKind): Partial<NodeRecord> => ({
  verdict: { verdict: kind, networks: [], epoch: 1, seq: 1, at: 1 },
});

describe('the alarm of a fencing that does not begin', () => {
  let store: MemoryStore;
  let o: Partial<Fleet>;
  const waitedMs = new Map<string, number>();
  const ages = { of: (condition: string) => ageMs(waitedMs.get(condition) ?? 0) };
  const planned = (): string[] =>
    fencingWaits
      .plan(fleetOf(store, o), ages)
      .map((i) => (i.do === 'raise-alarm' ? `${i.alarm.code} ${i.alarm.message}` : i.do));
  const waiting = (): string[] => [...(fencingWaits.conditions?.(fleetOf(store, o), ages).holds ?? [])];
  const incident = (i: Partial<IncidentRecord>): void => void store.incidents.set('n-1', anIncident('n-1', i));
  const stands = (): void =>
    void store.alarms.set(alarmKey('fencing-waits', 'n-1'), {
      ...{ code: 'fencing-waits', subject: 'n-1', severity: 'critical' },
      ...{ message: 'm', since: 1, count: 1 },
    });

  beforeEach(() => {
    store = new MemoryStore();
    o = {};
    waitedMs.clear();
    waitedMs.set('waits/n-1', FENCING_WAITS_MS);
    Object.assign(store.clusterSettings, enforced());
    store.detector.hear(JSON.stringify(aBeacon()));
    store.nodes.set('n-1', aNode('n-1', verdict('DOWN')));
    store.workloads.set('db', aWorkload('db', { generation: 1, assignment: { node: 'n-1', generation: 1 } }));
  });

  const unconfirmed =
    'fencing-waits It is DOWN, and its fencing has not begun. No incident is opened, as the detector does not confirm the death when it is asked, or cannot be asked. Runs nowhere: db.';

  it('tells that none has an incident, with what should run there, once that has lasted', () => {
    expect(waiting()).toEqual(['waits/n-1']);
    waitedMs.set('waits/n-1', FENCING_WAITS_MS - 1);
    expect(planned()).toEqual([]);
    waitedMs.set('waits/n-1', FENCING_WAITS_MS);
    expect(planned()).toEqual([unconfirmed]);
  });

  it('tells that no fencer answers for the incident that is investigated, as the plan does, in words that stay', () => {
    incident({ phase: 'investigating' });
    for (const read of ['unanswered', 'pending'] as const) {
      o = { identity: new Map([['n-1', read]]) };
      expect(waiting()).toEqual(['waits/n-1']);
      expect(planned()).toEqual([
        'fencing-waits It is DOWN, and its fencing has not begun. No fencer has answered yet whether its power devices are its own. Runs nowhere: db.',
      ]);
    }
    o = {};
    expect(planned()).toEqual([expect.stringContaining('Its incident is investigating')]);
  });

  it('tells that no fencer answers for an order by hand, whose node lives', () => {
    store.nodes.set('n-1', aNode('n-1', verdict('UP')));
    incident({ phase: 'investigating', cause: 'manual', wantedAt: 'UP' });
    o = { identity: new Map([['n-1', 'unanswered']]) };
    expect(waiting()).toEqual(['waits/n-1']);
    const ordered =
      'fencing-waits It was ordered off by hand, and its fencing has not begun. No fencer has answered yet whether its power devices are its own.';
    expect(planned()).toEqual([ordered]);
    waitedMs.set('waits/n-1', FENCING_WAITS_MS - 1);
    expect(planned()).toEqual([]);
    stands();
    expect(planned()).toEqual([ordered]);
    incident({ phase: 'cancelled', cause: 'manual', wantedAt: 'UP' });
    expect([waiting(), planned()]).toEqual([[], ['clear-alarm']]);
  });

  it('is one alone where that node falls silent, and none of a living node that nobody wants off', () => {
    incident({ phase: 'investigating', cause: 'manual', wantedAt: 'UP' });
    expect(waiting()).toEqual(['waits/n-1']);
    expect(planned()).toEqual([expect.stringContaining('It is DOWN')]);
    store.nodes.set('n-1', aNode('n-1', verdict('UP')));
    incident({ phase: 'investigating' });
    expect([waiting(), planned()]).toEqual([[], []]);
  });

  it.each(['suppressed', 'fencing', 'failed', 'fenced', 'recovering', 'recovered'] as const)(
    'is none of an incident that is %s: it has others',
    (phase) => {
      incident({ phase });
      expect([waiting(), planned()]).toEqual([[], []]);
    },
  );

  it.each<[string, Partial<NodeRecord>]>([
    ['not DOWN', verdict('SUSPECT')],
    ['no member', { ...verdict('DOWN'), enrolled: false }],
    ['cordoned', { ...verdict('DOWN'), cordon: { by: 'ann', reason: 'disk', at: 1 } }],
    ['proven off', { ...verdict('DOWN'), confirmedOff: { at: 1, incident: 'i' } }],
  ])('is none of a node that is %s', (_what, node) => {
    store.nodes.set('n-1', aNode('n-1', node));
    expect([waiting(), planned()]).toEqual([[], []]);
  });

  it('is none in mode observe, in which nothing is fenced', () => {
    store.clusterSettings.fencing.mode = 'observe';
    stands();
    expect([waiting(), planned()]).toEqual([[], ['clear-alarm']]);
  });

  it('stays over a takeover, and while its incident cannot be read; it ends with what it stands for', () => {
    stands();
    waitedMs.clear();
    expect(planned()).toEqual([unconfirmed]);
    incident({ phase: 'investigating', unreadable: 'it is of a later version' });
    expect(planned()).toEqual([]);
    incident({ phase: 'fencing' });
    expect(planned()).toEqual(['clear-alarm']);
  });

  it('counts the time in which a detector saw the fleet, and is left alone without one', () => {
    expect(fencingWaits.clock).toBe('sighted');
    expect(fencingWaits.isKnown?.(fleetOf(store))).toBe(true);
    expect(fencingWaits.isKnown?.(fleetOf(new MemoryStore()))).toBe(false);
    store.incidents.live = false;
    expect(fencingWaits.isKnown?.(fleetOf(store))).toBe(false);
  });
});
