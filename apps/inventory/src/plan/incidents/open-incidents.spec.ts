import { describe, expect, it } from 'vitest';
import type { GateResult, IncidentRecord, PowerCommand } from '#contracts';
import type { PermitDecision } from '#domain/incident/permits.js';
import { calmStorm, foundDead, fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aNode, anIncident, aVerdict } from '../../testing/records.js';
import type { Investigation } from '../../snapshot/investigation.js';
import type { Intent, Moment } from '../intent.js';
import { isAsSeen } from './incident-changes.js';
import {
  agesAskedFor,
  agesOf,
  investigatedIntents,
  assess,
  assessmentIntents,
  operatorCancelIntents,
} from './open-incidents.js';

const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };
const node = aNode('n-1');
const dead = foundDead(node);
const brake: GateResult = { gate: 'BRAKE', pass: false, detail: 'too many.' };

function world() {
  const store = new MemoryStore();
  store.nodes.set('n-1', node);
  const at = (): Moment => ({ fleet: fleetOf(store), token: 7, uuid: 'u' });
  const intents = (i: IncidentRecord, x: Investigation = dead, age = 0): Intent[] =>
    investigatedIntents(i, node, x, fleetOf(store), () => age);
  /** What the only intent makes of the record. */
  const written = (all: readonly Intent[], now: IncidentRecord): IncidentRecord | undefined => {
    const [intent, ...more] = all;
    if (intent?.do !== 'change-incident' || more.length > 0) throw new Error(`not one change: ${all.length}`);
    return intent.decide(now, at());
  };
  return { store, at, intents, written };
}

describe('an incident that is investigated', () => {
  it('takes its permit first, and is ordered off with what that rests on', () => {
    const { intents, written } = world();
    const i = anIncident('n-1');
    const [permit] = intents(i, { ...dead, silent: ['n-9'] });
    if (permit?.do !== 'take-permit') throw new Error(`it does ${permit?.do}`);
    const domain: GateResult = { gate: 'DOMAIN', pass: true, detail: 'as the permit says.' };
    const granted: PermitDecision = { granted: true, permits: undefined, results: [domain] };
    const ordered = written(permit.followedBy(granted), i);
    expect(ordered).toMatchObject({
      ...{ phase: 'fencing', conductor: 7, level: 0, attempt: 0, silentBefore: ['n-9'] },
      ...{ evidence: { power: 'on' }, verdict: { verdict: 'DOWN' } },
    });
    expect(ordered?.gates.find((g) => g.gate === 'DOMAIN')).toEqual(domain);
  });

  it('is stopped at the gate that its permit was refused at', () => {
    const { intents, written } = world();
    const i = anIncident('n-1');
    const [permit] = intents(i);
    if (permit?.do !== 'take-permit') throw new Error(`it does ${permit?.do}`);
    const refused: PermitDecision = { granted: false, permits: undefined, gate: brake, results: [brake] };
    expect(written(permit.followedBy(refused), i)).toMatchObject({ phase: 'suppressed', gate: 'BRAKE' });
  });

  it('is tried again as the next attempt', () => {
    const { intents, written } = world();
    const i = anIncident('n-1', { phase: 'failed', commands: [off], attempt: 1, silentBefore: ['n-8'] });
    const [permit] = intents(i);
    if (permit?.do !== 'take-permit') throw new Error(`it does ${permit?.do}`);
    const granted: PermitDecision = { granted: true, permits: undefined, results: [] };
    expect(written(permit.followedBy(granted), i)).toMatchObject({ phase: 'fencing', attempt: 2 });
  });

  it('waits for its backoff, unless its devices were edited since', () => {
    const { intents } = world();
    const i = anIncident('n-1', { phase: 'failed', commands: [off], retryAt: 20_001 });
    expect(intents(i, dead, 19_999)).toEqual([]);
    expect(intents(i, dead, 20_000)).toMatchObject([{ do: 'take-permit' }]);
    expect(intents({ ...i, devices: 'others' }, dead, 0)).toMatchObject([{ do: 'take-permit' }]);
  });

  it('is written only as it was looked at', () => {
    const i = anIncident('n-1', { conductor: 7 });
    expect(isAsSeen(i, i, 7)).toBe(true);
    expect(isAsSeen({ ...i, phase: 'fencing' }, i, 7)).toBe(false);
    expect(isAsSeen({ ...i, commands: [off] }, i, 7)).toBe(false);
    expect(isAsSeen({ ...i, conductor: 8 }, i, 7)).toBe(false);
    // What people write between the decision and the write.
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['BRAKE' as const], force: false };
    const order = { action: 'on' as const, by: 'eve', reason: 'x', at: 1, after: 0 };
    const wanted = { ...i, released, order, wantedAt: 'DOWN' as const };
    const same = { ...wanted, released: { ...released }, order: { ...order } };
    expect(isAsSeen(same, wanted, 7)).toBe(true);
    expect(isAsSeen({ ...i, released }, i, 7)).toBe(false);
    expect(isAsSeen({ ...wanted, released: { ...released, at: 2 } }, wanted, 7)).toBe(false);
    expect(isAsSeen({ ...i, order }, i, 7)).toBe(false);
    expect(isAsSeen({ ...wanted, order: { ...order, done: true } }, wanted, 7)).toBe(false);
    expect(isAsSeen({ ...i, wantedAt: 'UP' }, i, 7)).toBe(false);
    expect(isAsSeen({ ...i, cause: 'manual' }, i, 7)).toBe(false);
    const { intents, written } = world();
    const alive = foundDead(node, { verdict: aVerdict('n-1', { verdict: 'UP' }) });
    expect(written(intents(i, alive), i)?.phase).toBe('cancelled');
    for (const now of [
      { ...i, phase: 'fencing' as const },
      { ...i, commands: [off] },
      { ...i, conductor: 8 },
      { ...i, released },
      { ...i, order },
      { ...i, wantedAt: 'UP' as const },
    ])
      expect(written(intents(i, alive), now)).toBeUndefined();
  });

  it('is told of what stops it once, and again when what speaks for its life changes', () => {
    const { intents, written } = world();
    const paused = foundDead(node, { storm: undefined });
    const i = anIncident('n-1');
    const stopped = written(intents(i, paused), i) as IncidentRecord;
    expect(stopped).toMatchObject({ phase: 'suppressed', gate: 'BRAKE' });
    expect(intents(stopped, paused)).toEqual([]);
    expect(intents(stopped, foundDead(node, { otherFencers: undefined }))).toHaveLength(1);
  });

  it('that lives after its off ends when that can take effect no more', () => {
    const { intents, written } = world();
    const alive = foundDead(node, { verdict: aVerdict('n-1', { verdict: 'UP' }) });
    const i = anIncident('n-1', { phase: 'fencing', commands: [off] });
    expect(intents(i, alive, 0)).toEqual([]);
    expect(written(intents(i, alive, 60_000), i)?.phase).toBe('survived');
  });

  it('of a drill asks for no permit, and is given up while others are unhealthy', () => {
    const { intents, written } = world();
    const drill = { by: 'eve', level: 0 } as unknown as NonNullable<IncidentRecord['drill']>;
    const i = anIncident('n-1', { cause: 'manual', drill });
    expect(written(intents(i), i)?.phase).toBe('fencing');
    const storm = calmStorm('n-1', { silent: [{ node: 'n-2', domain: 'other', forMs: 0 }] });
    expect(written(intents(i, foundDead(node, { storm })), i)?.phase).toBe('cancelled');
  });

  it('waits while no fencer has answered whose its devices are', () => {
    const { store } = world();
    const facts = fleetOf(store, { identity: new Map([['n-1', 'unanswered']]) });
    expect(investigatedIntents(anIncident('n-1'), node, dead, facts, () => 0)).toEqual([]);
  });
});

describe('the wait of an order by hand for a fencer', () => {
  it('has an age that goes on until one has answered, and begins anew with a release', () => {
    const { store } = world();
    const fleet = (read: 'pending' | 'unanswered' | 'answered') =>
      fleetOf(store, { identity: new Map([['n-1', read]]) });
    const i = anIncident('n-1', { phase: 'investigating', cause: 'manual', wantedAt: 'UP' });
    const asked = agesAskedFor(i, node, dead, fleet('unanswered'));
    expect(asked).toHaveLength(1);
    for (const read of ['pending', 'unanswered'] as const)
      expect(agesOf(i, fleet(read))).toEqual(expect.arrayContaining(asked));
    expect(agesOf(i, fleet('answered'))).not.toEqual(expect.arrayContaining(asked));
    const released = { ...i, released: { by: 'eve', reason: 'x', at: 9, gates: [], force: true } };
    expect(agesAskedFor(released, node, dead, fleet('unanswered'))).not.toEqual(asked);
  });
});

describe('the records alone', () => {
  it('end the incident of a node that was deleted, and none while a gap may hide it', () => {
    const { store, written } = world();
    const i = anIncident('gone');
    const assessment = assess(i, fleetOf(store));
    expect(written(assessmentIntents(i, assessment), i)?.phase).toBe('cancelled');
    store.nodes.live = false;
    expect(assess(i, fleetOf(store))).toEqual({ do: 'nothing' });
  });

  it('end none of a node whose own record cannot be read, also where that is found at the write', () => {
    const { store, written } = world();
    const i = anIncident('gone');
    const intents = assessmentIntents(i, assess(i, fleetOf(store)));
    expect(intents).toMatchObject([{ reads: { nodes: ['gone'] } }]);
    store.nodes.unreadable.set('gone', {} as never);
    expect(assess(i, fleetOf(store))).toEqual({ do: 'nothing' });
    expect(written(intents, i)).toBeUndefined();
  });

  it('have whose its power devices are awaited, but not once it was ordered off', () => {
    const { store } = world();
    const facts = fleetOf(store, { identity: new Map([['n-1', 'pending']]) });
    expect(assess(anIncident('n-1'), facts).do).toBe('await-identity');
    expect(assess(anIncident('n-1', { phase: 'failed', commands: [off] }), facts).do).toBe('investigate');
    expect(assess(anIncident('n-1', { phase: 'fenced' }), facts).do).toBe('nothing');
  });

  it('cancel a power-on that may not be any more, by settings that are known', () => {
    const { store, written } = world();
    store.nodes.set('n-1', { ...node, cordon: { by: 'eve', reason: 'x', at: 1 } });
    const powerOn: NonNullable<IncidentRecord['powerOn']> = { wanted: true, requestedAt: 1 };
    const i = anIncident('n-1', { phase: 'recovered', powerOn });
    const facts = fleetOf(store);
    expect(written(assessmentIntents(i, assess(i, facts)), i)?.powerOn?.wanted).toBe(false);
    expect(assess(i, { ...facts, knowsSettings: false })).toEqual({ do: 'nothing' });
  });

  it('end what an operator has cancelled once the node runs another boot', () => {
    const { store, written } = world();
    const i = anIncident('n-1', { phase: 'cancelled', takenBack: { by: 'eve', reason: 'x', at: 1 } });
    store.incidents.set('n-1', i);
    expect(operatorCancelIntents(fleetOf(store))).toEqual([]);
    store.nodes.set('n-1', { ...node, bootId: 'next' });
    expect(written(operatorCancelIntents(fleetOf(store)), i)?.takenBack?.over).toBe(true);
  });
});
