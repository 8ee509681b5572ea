import { describe, expect, it } from 'vitest';
import type { GateResult, IncidentRecord, NodeRecord } from '#contracts';
import { aNode, anIncident, aVerdict } from '../../testing/records.js';
import {
  incidentStep,
  openingStep,
  HELD_ORDER_LAPSES_MS,
  stoppedStep,
  type IncidentStepView,
} from './incident-step.js';

const node = aNode('a-1', { status: 'Allocated' });
const calm: IncidentStepView = {
  node,
  hasWorkloads: true,
  quarantineLeftMs: () => 0,
  stoppedForMs: () => 0,
  isContradicted: () => false,
  collateral: () => undefined,
  retryInMs: () => 0,
  isIdentityUnanswered: () => false,
  unidentifiedForMs: () => 0,
};
const brake: GateResult = { gate: 'BRAKE', pass: false, detail: 'too many.' };
const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 };

describe('the next step of an incident', () => {
  it('that lives after its off waits until that can take effect no more', () => {
    const d = { do: 'await-survival' as const, reason: 'UP', gates: [] };
    const i = anIncident('a-1', { phase: 'fencing', commands: [off] });
    expect(incidentStep(i, d, { ...calm, quarantineLeftMs: () => 1 })).toMatchObject({
      do: 'wait',
      by: 'quarantine',
      leftMs: 1,
    });
    expect(incidentStep(i, d, calm)).toEqual({ do: 'survive', reason: 'UP' });
  });

  it('that failed waits for its backoff, and asks for a permit then', () => {
    const d = { do: 'fence' as const, gates: [] };
    const i = anIncident('a-1', { phase: 'failed' });
    expect(incidentStep(i, d, { ...calm, retryInMs: () => 9 })).toMatchObject({ do: 'wait', by: 'backoff', leftMs: 9 });
    expect(incidentStep(i, d, calm)).toEqual({ do: 'ask-permit', gates: [] });
  });

  it('does not order off while no fencer has answered whose its devices are, but for one that was ordered before', () => {
    const d = { do: 'fence' as const, gates: [] };
    const unanswered = { ...calm, isIdentityUnanswered: () => true };
    for (const phase of ['investigating', 'suppressed', 'failed'] as const)
      expect(incidentStep(anIncident('a-1', { phase }), d, unanswered)).toMatchObject({ do: 'wait', by: 'identity' });
    const commanded = anIncident('a-1', { phase: 'failed', commands: [off] });
    expect(incidentStep(commanded, d, unanswered)).toEqual({ do: 'ask-permit', gates: [] });
  });

  it('by hand for a node that was heard lapses where no fencer answers whose its devices are', () => {
    const d = { do: 'fence' as const, gates: [] };
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['LIFE_SIGN' as const], force: true };
    const step = (o: Partial<IncidentRecord>, waitedMs: number): unknown =>
      incidentStep(anIncident('a-1', { phase: 'investigating', ...o }), d, {
        ...calm,
        isIdentityUnanswered: () => true,
        unidentifiedForMs: () => waitedMs,
      });
    const wanted: Partial<IncidentRecord>[] = [
      { cause: 'manual', wantedAt: 'UP', released },
      { cause: 'manual', wantedAt: 'DEGRADED' },
      { wantedAt: 'UP', released },
    ];
    for (const o of wanted) {
      expect(step(o, 540_000)).toMatchObject({ do: 'wait', by: 'identity', leftMs: 60_000 });
      expect(step(o, 600_000)).toEqual({
        do: 'end',
        reason: 'No fencer answered within 10 min whether its power devices are its own.',
      });
    }
    // It ends with the silence that it was given for, and is about no living node until then.
    const others: Partial<IncidentRecord>[] = [
      { cause: 'manual', wantedAt: 'DOWN' },
      { wantedAt: 'DOWN', released },
      { wantedAt: 'UP', released: { ...released, force: false } },
      {},
    ];
    for (const o of others) {
      expect(step(o, 600_000)).toMatchObject({ do: 'wait', by: 'identity' });
      expect(step(o, 600_000)).not.toHaveProperty('leftMs');
    }
  });

  it('goes nowhere while its proof is contradicted, and is stopped for another that may have been hit', () => {
    const d = { do: 'fence' as const, gates: [{ ...brake, pass: true }] };
    const i = anIncident('a-1', { phase: 'investigating' });
    expect(incidentStep(i, d, { ...calm, isContradicted: () => true })).toMatchObject({
      do: 'wait',
      by: 'contradiction',
    });
    expect(incidentStep(i, d, { ...calm, collateral: () => brake })).toEqual({
      do: 'suppress',
      gate: brake,
      gates: [brake],
    });
  });

  it('by hand lapses where nobody releases it', () => {
    const d = { do: 'suppress' as const, gate: brake, gates: [brake] };
    const i = anIncident('a-1', { phase: 'suppressed', cause: 'manual', gate: 'BRAKE' });
    expect(incidentStep(i, d, { ...calm, stoppedForMs: () => HELD_ORDER_LAPSES_MS - 1 }).do).toBe('suppress');
    expect(incidentStep(i, d, { ...calm, stoppedForMs: () => HELD_ORDER_LAPSES_MS }).do).toBe('end');
  });

  it('released by force while it was heard lapses where its life stops it, and no other gate does that', () => {
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['BLIND' as const], force: true };
    const old = { ...calm, stoppedForMs: () => HELD_ORDER_LAPSES_MS };
    const life: GateResult = { gate: 'LIFE_SIGN', pass: false, detail: 'Its own report.' };
    const step = (o: Partial<IncidentRecord>, gate = life): string =>
      incidentStep(anIncident('a-1', { phase: 'suppressed', ...o }), { do: 'suppress', gate, gates: [gate] }, old).do;
    expect(step({ released, wantedAt: 'UP' })).toBe('end');
    expect(step({ released, wantedAt: 'UP' }, brake)).toBe('suppress');
    expect(step({ released, wantedAt: 'DOWN' })).toBe('suppress');
    expect(step({ released: { ...released, force: false }, wantedAt: 'UP' })).toBe('suppress');
    expect(step({})).toBe('suppress');
  });

  it('after its off is not stopped any more, and waits at the gate', () => {
    const i = anIncident('a-1', { phase: 'failed', commands: [off] });
    expect(stoppedStep(i, brake, [brake])).toEqual({
      do: 'wait',
      by: 'gate',
      reason: 'BRAKE: too many.',
      gate: 'BRAKE',
    });
    const d = { do: 'hold' as const, gate: brake, reason: 'BRAKE: too many.', gates: [brake] };
    expect(incidentStep(i, d, calm)).toEqual(stoppedStep(i, brake, [brake]));
    // A drill, too: a gap in a view ends nothing.
    const permitted = [anIncident('a-1', { phase: 'fencing' }), anIncident('a-1', { drill: { at: 1 } })];
    for (const i of permitted)
      expect(incidentStep(i, d, calm)).toMatchObject({ do: 'wait', by: 'gate', gate: 'BRAKE' });
  });
});

it('opens one for a dead node that is worth it, and none while the last one stands for its silence', () => {
  const v = { hasWorkloads: false, isLeftAlone: false, isIdentityPending: false };
  expect(openingStep(node, undefined, v)).toBe('open');
  expect(openingStep(node, undefined, { ...v, isIdentityPending: true })).toBe('identity');
  expect(openingStep(node, anIncident('a-1', { phase: 'closed' }), { ...v, isLeftAlone: true })).toBe('left-alone');
  expect(openingStep(node, anIncident('a-1', { phase: 'fencing' }), v)).toBe('none');
  expect(openingStep(node, anIncident('a-1', { phase: 'recovered', bootId: 'older' }), v)).toBe('close');
  expect(openingStep({ ...node, status: 'Unallocated' }, undefined, v)).toBe('none');
});

it('the incident of a boot is over where a later one died that nobody heard but by its own word', () => {
  const v = { hasWorkloads: true, isLeftAlone: false, isIdentityPending: false };
  const recovered = anIncident('a-1', { phase: 'recovered', bootId: 'b-1' });
  const died = (bootId: string, o: Partial<NodeRecord> = {}): string =>
    openingStep({ ...node, bootId: 'b-1', verdict: aVerdict('a-1', { verdict: 'DOWN', bootId }), ...o }, recovered, v);
  expect([died('b-2'), died('b-1')]).toEqual(['close', 'none']);
  // The one that spoke right before its off, which the verdict names late.
  expect(died('b-2', { confirmedOff: { at: 1, incident: 'i', bootId: 'b-2' } })).toBe('none');
});
