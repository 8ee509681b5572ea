import { describe, expect, it } from 'vitest';
import type { IncidentRecord, NodeRecord, PowerCommand, VerdictKind } from '#contracts';
import { foundDead, fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aBeacon, aNode, anIncident, aVerdict } from '../../testing/records.js';
import type { Moment } from '../intent.js';
import { bearsOut, closeForNext, openIncident, openings, type Opening } from './openings.js';

const stored = (verdict: VerdictKind, epoch = 1): Partial<NodeRecord> => ({
  verdict: { verdict, networks: [], epoch, seq: 1, at: 1 },
});
const on: PowerCommand = { n: 2, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'on', at: 1 };

function storeOf(node: Partial<NodeRecord>, last?: Partial<IncidentRecord>): MemoryStore {
  const store = new MemoryStore();
  store.nodes.set('n-1', aNode('n-1', node));
  if (last !== undefined) store.incidents.set('n-1', anIncident('n-1', last));
  return store;
}
const steps = (store: MemoryStore, o: Parameters<typeof fleetOf>[1] = {}, age = 0): string[] =>
  openings(fleetOf(store, o), () => age).made.map((x) => `${x.node.name} ${x.step}`);
const moment = (store: MemoryStore): Moment => ({ fleet: fleetOf(store), token: 7, uuid: 'i-new' });

describe('for a dead node', () => {
  it('an incident is opened: by its record, or by a beacon that is newer', () => {
    expect(steps(storeOf(stored('DOWN')))).toEqual(['n-1 open']);
    expect(steps(storeOf(stored('SUSPECT')))).toEqual([]);
    const told = storeOf(stored('UP'));
    told.detector.hear(JSON.stringify(aBeacon({ seq: 2, notUp: { 'n-1': { verdict: 'DOWN', seq: 2 } } })));
    expect(steps(told)).toEqual(['n-1 open']);
  });

  it('none is opened while it is being read whose its power devices are, nor of one that is no member', () => {
    expect(steps(storeOf(stored('DOWN')), { identity: new Map([['n-1', 'pending']]) })).toEqual(['n-1 identity']);
    expect(steps(storeOf(stored('DOWN')), { identity: new Map([['n-1', 'unanswered']]) })).toEqual(['n-1 open']);
    expect(steps(storeOf({ ...stored('DOWN'), enrolled: false }))).toEqual([]);
  });

  it('that Muster has switched on none is opened before the grace of its boot is over', () => {
    const store = storeOf(stored('DOWN'), { phase: 'closed', commands: [on] });
    const { leaveGrace } = store.clusterSettings;
    expect(steps(store, {}, leaveGrace - 1)).toEqual(['n-1 left-alone']);
    expect(steps(store, {}, leaveGrace)).toEqual(['n-1 open']);
  });

  it('the verdict as of now has to bear it out, and to be no older than what is known', () => {
    const of = (degraded: boolean, epoch: number): Opening => ({
      ...{ node: aNode('n-1', stored('DOWN', epoch)), step: 'open', last: undefined, degraded },
    });
    expect(bearsOut(aVerdict('n-1'), of(false, 1))).toBe(true);
    expect(bearsOut(aVerdict('n-1'), of(false, 2))).toBe(false);
    expect(bearsOut(aVerdict('n-1', { verdict: 'SUSPECT' }), of(false, 1))).toBe(false);
    expect(bearsOut(aVerdict('n-1'), of(true, 1))).toBe(false);
    expect(bearsOut(aVerdict('n-1', { verdict: 'DEGRADED' }), of(true, 1))).toBe(true);
    expect(bearsOut(undefined, of(false, 1))).toBe(false);
  });

  it('the record is made as it is opened, and goes on to its permit', () => {
    const store = storeOf(stored('DOWN'));
    const facts = fleetOf(store);
    const [opening] = openings(facts, () => 0).made;
    const x = foundDead(aNode('n-1'));
    const [intent] = openIncident(opening as Opening, x, facts, () => 0);
    const made = intent?.make(moment(store));
    expect(made).toMatchObject({ id: 'i-new', phase: 'investigating', conductor: 7, cause: 'auto', node: 'n-1' });
    expect(intent?.followedBy(made as IncidentRecord)).toMatchObject([{ do: 'take-permit', key: 'i-new' }]);
  });

  it('nothing is opened in the place of a record that an operator has cancelled meanwhile, or that is switched on', () => {
    const store = storeOf(stored('DOWN'));
    const facts = fleetOf(store);
    const [opening] = openings(facts, () => 0).made;
    const [intent] = openIncident(opening as Opening, foundDead(aNode('n-1')), facts, () => 0);
    const keeps = (o: Partial<IncidentRecord>): boolean | undefined =>
      intent?.keeps(anIncident('n-1', o), moment(store));
    expect(keeps({ phase: 'cancelled', takenBack: { by: 'eve', reason: 'x', at: 1 } })).toBe(true);
    expect(keeps({ phase: 'closed', commands: [on] })).toBe(true);
    expect(keeps({ phase: 'closed' })).toBe(false);
  });

  it('its last incident is closed only where it is recovered still', () => {
    const store = storeOf(stored('DOWN'));
    const close = closeForNext(anIncident('n-1', { phase: 'recovered' }));
    expect(close.decide(anIncident('n-1', { phase: 'recovered' }), moment(store))?.phase).toBe('closed');
    expect(close.decide(anIncident('n-1', { phase: 'failed' }), moment(store))).toBeUndefined();
    expect(close.decide(anIncident('n-1', { phase: 'recovered', conductor: 8 }), moment(store))).toBeUndefined();
  });
});

it('opens one for a node that stays DEGRADED as its policy says, and closes none for it', () => {
  const degraded = {
    degradedSteps: () =>
      new Map<string, 'down'>([
        ['n-1', 'down'],
        ['gone', 'down'],
      ]),
  };
  expect(steps(storeOf(stored('DEGRADED')), degraded)).toEqual(['n-1 open']);
  const booted = storeOf({ ...stored('DEGRADED'), bootId: 'next' }, { phase: 'recovered' });
  expect(steps(booted, degraded)).toEqual(['n-1 none']);
});
