import { describe, expect, it } from 'vitest';
import {
  devicesMark,
  drilledIdentity,
  IncidentPhases,
  knownIdentity,
  withIdentity,
  type IncidentRecord,
  type NodeRecord,
  type OffProof,
  type RecoveryAssignment,
} from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { aDevice, aNode, anIncident } from '../testing/records.js';
import { isVoid } from '#domain/incident/phases.js';
import { contradictedBy, movedText, notOff, voided } from './void-proof.js';

const byDevice: OffProof = { kind: 'already-off', at: 1, level: 0 };
const byHand: OffProof = { kind: 'manual', at: 1, by: 'eve', reason: 'dark' };
const taken = (workload: string, o: Partial<RecoveryAssignment> = {}): RecoveryAssignment => ({
  ...{ workload, from: 'n-1', state: 'waiting' },
  ...o,
});
const node = aNode('n-1', { confirmedOff: { at: 1, incident: 'i-n-1' }, state: 'Disappeared' });
const proven = (o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n-1', { phase: 'recovering', proof: byDevice, ...o });
const void_ = (o: Partial<IncidentRecord> = {}, n: NodeRecord = node): IncidentRecord =>
  voided(proven(o), n, 5) as IncidentRecord;

const acknowledged = (n: NodeRecord, at: number): NodeRecord =>
  withIdentity(n, 'bmc', { ...knownIdentity(n, aDevice())!, acknowledged: { by: 'eve', why: 'rewired', at } });

describe('a proof of off that its node contradicts', () => {
  it('is gone, and the incident has failed, from every phase that rests on it and from no other', () => {
    for (const phase of IncidentPhases) {
      const i = voided(anIncident('n-1', { phase, proof: byDevice }), node, 5);
      expect([phase, i?.phase]).toEqual([phase, isAfterOff({ phase }) ? 'failed' : undefined]);
      if (i === undefined) continue;
      expect(i.proof).toBeUndefined();
      expect(i.contradiction).toMatchObject({ at: 5, proof: byDevice, devices: devicesMark(node.powerLevels) });
      expect(isVoid(i)).toBe(true);
    }
  });

  it('wants no power-on any more, and leaves no order to follow it', () => {
    const order = { action: 'on' as const, by: 'eve', reason: 'cycle', at: 1, after: 0 };
    const i = void_({ phase: 'recovered', powerOn: { wanted: true, requestedAt: 1 }, order });
    expect(i.powerOn).toBeUndefined();
    expect(i.order).toMatchObject({ done: true, ok: false });
  });

  it('says what was started elsewhere, and what was not', () => {
    expect(movedText([])).toBe('Nothing of it was started elsewhere.');
    expect(movedText([taken('db')])).toBe('Nothing of it was started elsewhere.');
    const recovery = [
      taken('db', { state: 'running', to: 'n-4' }),
      taken('web', { state: 'starting', to: 'n-5' }),
      taken('log'),
    ];
    expect(movedText(recovery)).toBe(
      'Started elsewhere, and perhaps running twice: db on n-4, web on n-5. Not started: log.',
    );
    expect(void_({ recovery }).steps.at(-1)?.detail).toContain('db on n-4');
  });

  it('says what its node had when it came back, which was started nowhere else', () => {
    const kept = [taken('web', { state: 'running', to: 'n-1' }), taken('log', { state: 'held', to: 'n-1' })];
    expect(movedText(kept)).toBe('Nothing of it was started elsewhere. Kept by n-1, which has come back: web, log.');
    expect(movedText([taken('db', { state: 'running', to: 'n-4' }), ...kept, taken('mq')])).toBe(
      'Started elsewhere, and perhaps running twice: db on n-4. Not started: mq. Kept by n-1, which has come back: web, log.',
    );
  });

  it('makes its node one that is not off and waits for its check, and its devices another machine’s', () => {
    const heard = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 9, at: 1 };
    const after = notOff({ ...node, verdict: heard }, proven(), 5) as NodeRecord;
    expect(after.confirmedOff).toBeUndefined();
    expect(after).toMatchObject({ state: 'Discovered', pendingReturn: { reason: 'disappeared' } });
    expect(knownIdentity(after, aDevice())).toMatchObject({ result: 'mismatch', at: 5 });
    expect(notOff(after, proven(), 6)).toBeUndefined();
    const erred = notOff(node, proven({ proof: byHand }), 5) as NodeRecord;
    expect(erred.powerIdentity).toBeUndefined();
    expect(erred.state).toBe('Disappeared');
  });

  it('is not had again from the same devices, until they are edited, proven since or answered for', () => {
    const blamed = notOff(node, proven(), 5) as NodeRecord;
    const i = void_();
    expect(contradictedBy(i, blamed)).toContain('bmc');
    // A look that finds nothing to compare is no answer.
    const unproven = { result: 'unproven' as const, at: 9, basis: knownIdentity(blamed, aDevice())?.basis ?? '' };
    expect(contradictedBy(i, withIdentity(blamed, 'bmc', unproven))).toContain('bmc');
    const provenBefore = withIdentity(node, 'bmc', drilledIdentity(node, aDevice(), 9));
    expect(contradictedBy(i, notOff(provenBefore, proven(), 5) as NodeRecord)).toContain('bmc');
    expect(contradictedBy(i, withIdentity(blamed, 'bmc', drilledIdentity(blamed, aDevice(), 4)))).toBeUndefined();
    expect(contradictedBy(i, { ...blamed, powerLevels: [[{ ...aDevice(), port: 9_002 }]] })).toBeUndefined();
    expect(contradictedBy(i, acknowledged(blamed, 9))).toBeUndefined();
    expect(contradictedBy(void_({ proof: byHand }), node)).toBeUndefined();
  });

  it('is not had again from a device that was answered for before, by whatever clock', () => {
    const before = acknowledged(notOff(node, proven(), 5) as NodeRecord, 9);
    const blamed = notOff(before, proven(), 8) as NodeRecord;
    expect(knownIdentity(blamed, aDevice())).toMatchObject({ result: 'mismatch', at: 8 });
    expect(contradictedBy(voided(proven(), before, 8) as IncidentRecord, blamed)).toContain('bmc');
    // An answer to this one counts, though it is given by a clock that is behind.
    expect(contradictedBy(voided(proven(), before, 8) as IncidentRecord, acknowledged(blamed, 2))).toBeUndefined();
  });
});
