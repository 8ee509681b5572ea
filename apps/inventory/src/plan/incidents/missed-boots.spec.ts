import { describe, expect, it } from 'vitest';
import {
  alarmKey,
  type AlarmRecord,
  type IncidentRecord,
  type NodeRecord,
  type PowerCommand,
  type PowerVerb,
} from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import { ageMs } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { Records } from '../../snapshot/records.js';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { aBeacon, aNode, anIncident } from '../../testing/records.js';
import { alarmsOf } from './incident-alarms.js';
import { missedBoots } from './missed-boots.js';

/** When every boot is awaited for so long, ms. */
const raised = (fleet: Fleet, forMs: number): WantedAlarm[] =>
  missedBoots.plan(fleet, { of: () => ageMs(forMs) }).flatMap((i) => (i.do === 'raise-alarm' ? [i.alarm] : []));

const told: AlarmRecord = {
  ...{ code: 'boot-timeout', subject: 'n-1', severity: 'warning' },
  ...{ message: 'm', since: 1, count: 1 },
};

describe('the alarm of a node that was powered on', () => {
  const command = (n: number, verb: PowerVerb): PowerCommand => {
    const by = { epoch: 1, fencer: 'f', level: 0, device: 'bmc', at: 0 };
    return { ...by, n, verb, result: { ok: true } };
  };
  const recovered = anIncident('n-1', {
    phase: 'recovered',
    commands: [command(1, 'off'), command(2, 'on')],
    powerOn: { wanted: true, requestedAt: 1, done: true, ok: true },
  });
  const byHand = anIncident('n-1', { phase: 'closed', commands: [command(1, 'on')] });
  const silent = aNode('n-1', { state: 'Disappeared' });
  /** All that its incident calls for, when the boot is awaited for as long as its grace. */
  const codes = (i: IncidentRecord, node: NodeRecord | undefined, isOverdue = true): string[] => {
    const store = new MemoryStore();
    if (node !== undefined) store.nodes.set('n-1', node);
    store.incidents.set('n-1', i);
    const { leaveGrace } = store.clusterSettings;
    const others = alarmsOf(i, { nodeOf: () => node, isStuck: () => false, workOn: () => [] });
    return [...others, ...raised(fleetOf(store), isOverdue ? leaveGrace : leaveGrace - 1)].map(
      (a) => `${a.code}=${a.subject} ${a.severity}`,
    );
  };

  it('tell that it was not heard, by whatever way it was powered on', () => {
    for (const i of [recovered, byHand]) expect(codes(i, silent)).toEqual(['boot-timeout=n-1 warning']);
    expect(codes(anIncident('n-1', { ...byHand, phase: 'cancelled' }), silent)).toHaveLength(1);
  });

  it('wait for its grace', () => expect(codes(recovered, silent, false)).toEqual([]));

  it('are over when it is heard, ordered down again, or deleted', () => {
    expect(codes(recovered, { ...silent, bootId: 'new' })).toEqual([]);
    expect(codes(byHand, { ...silent, state: 'Discovered' })).toEqual([]);
    for (const verb of ['off', 'soft'] as const)
      expect(codes({ ...recovered, commands: [...recovered.commands, command(3, verb)] }, silent)).toEqual([]);
    expect(codes(recovered, undefined)).toEqual([]);
  });

  it('say nothing of a node that runs no agent, which nobody hears anyway', () => {
    expect(codes(byHand, { ...silent, enrolled: false })).toEqual([]);
  });

  it('leave it to its next incident once that is open: what it was fenced for is said there', () => {
    for (const phase of ['open', 'suppressed', 'fencing', 'fenced', 'recovering'] as const)
      expect(codes({ ...recovered, phase }, silent)).toEqual([]);
    const confirmed = { ...recovered, phase: 'fenced' as const, proof: { kind: 'manual' as const, at: 1 } };
    expect(codes(confirmed, silent)).toEqual([]);
  });

  it('say it once where the power-on was given up', () => {
    const i = { ...recovered, powerOn: { wanted: true, requestedAt: 1, done: true, ok: false, detail: 'no' } };
    const off = { ...silent, confirmedOff: { at: 1, incident: i.id } };
    expect(codes(i, off)).toEqual(['power-on-withheld=n-1 warning']);
  });

  it('say no more that it stays off once it is on again, though nobody judges it yet', () => {
    const i = { ...recovered, powerOn: { wanted: false, requestedAt: 1, detail: 'It stays off.' } };
    expect(codes(i, { ...silent, state: 'Unknown' }, false)).toEqual([]);
  });

  it('goes by the command that may have worked, each anew', () => {
    const store = new MemoryStore();
    store.nodes.set('n-1', silent);
    store.incidents.set('n-1', recovered);
    const boots = (): string[] => [...(missedBoots.conditions?.(fleetOf(store), { of: () => ageMs(0) }).holds ?? [])];
    expect(boots()).toEqual([`${recovered.id}/2`]);
    store.nodes.set('n-1', { ...silent, state: 'Discovered' });
    expect(boots()).toEqual([]);
  });

  it('is left to whoever takes over where it stands, and is not where it is over', () => {
    const store = new MemoryStore();
    store.nodes.set('n-1', silent);
    store.incidents.set('n-1', recovered);
    const alarm = (o: Partial<AlarmRecord>): void => {
      store.alarms.set(alarmKey('boot-timeout', 'n-1'), { ...told, ...o });
    };
    alarm({});
    expect(raised(fleetOf(store), 0)).toHaveLength(1);
    alarm({ cleared: 2 });
    expect(raised(fleetOf(store), 0)).toEqual([]);
  });

  it('is none of an incident that cannot be read', () => {
    expect(codes({ ...recovered, unreadable: 'it is of a later version' }, silent)).toEqual([]);
  });

  it('is not over while its incident cannot be read', () => {
    const store = new MemoryStore();
    store.alarms.set(alarmKey('boot-timeout', 'n-1'), told);
    store.incidents.set('n-1', { ...recovered, unreadable: 'it is of a later version' });
    const does = () => missedBoots.plan(fleetOf(store), { of: () => ageMs(0) }).map((i) => i.do);
    expect(does()).toEqual([]);
    store.incidents.set('n-1', anIncident('n-1'));
    expect(does()).toEqual(['clear-alarm']);
  });

  it('of an odd record is neither raised nor cleared, and keeps up no other', () => {
    const store = new MemoryStore();
    for (const name of ['n-1', 'n-2']) {
      store.nodes.set(name, { ...silent, name });
      store.incidents.set(name, { ...recovered, id: `i-${name}`, node: name });
    }
    const fleet = fleetOf(store);
    const list = fleet.incidents.list.map((e) =>
      e.key === 'n-1' ? { ...e, value: { ...e.value, commands: undefined as never } } : e,
    );
    const plan = missedBoots.plan(
      { ...fleet, incidents: new Records(list) },
      { of: () => ageMs(store.clusterSettings.leaveGrace) },
    );
    expect(plan.map((i) => [i.do, i.about])).toEqual([
      ['fail-record', { node: 'n-1' }],
      ['raise-alarm', { alarm: alarmKey('boot-timeout', 'n-2') }],
    ]);
  });

  it('comes after its grace, without the time in which nobody could have heard it', async () => {
    const store = new MemoryStore();
    store.nodes.set('n-1', silent);
    store.incidents.set('n-1', recovered);
    const sut = planExecutor(store).drive(missedBoots);
    const pass = async (ms: number, sighted: boolean): Promise<string[]> => {
      for (let left = ms; left > 0; left -= 1_000) {
        store.clock.now += 1_000;
        store.detector.hear(JSON.stringify(aBeacon({ sighted })));
        await playRun(sut);
      }
      return Object.keys(store.alarms.content);
    };
    const { leaveGrace } = store.clusterSettings;
    await pass(1_000, true);
    expect(await pass(leaveGrace - 2_000, true)).toEqual([]);
    expect(await pass(60_000, false)).toEqual([]);
    expect(await pass(5_000, true)).toEqual(['boot-timeout=n-1']);
  });
});
