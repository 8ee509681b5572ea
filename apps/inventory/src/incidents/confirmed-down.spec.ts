import { describe, expect, it } from 'vitest';
import { IncidentPhases, type IncidentRecord, type OffProof } from '#contracts';
import { anIncident } from '../testing/records.js';
import { confirmedDown } from './confirmed-down.js';

const word = { by: 'eve', reason: 'dark', at: 9 };
const proof: OffProof = { kind: 'manual', at: 9, by: 'eve', reason: 'dark' };
const byDevice: OffProof = { kind: 'read-back', at: 1, level: 0 };
const doubt = { at: 2, bootId: 'boot-n-1' };
const given = (o: Partial<IncidentRecord>): IncidentRecord => confirmedDown(anIncident('n-1', o), word);

describe("a person's word that a node is down", () => {
  it('takes the place of what no device could prove, and of what one has proven while that is held', () => {
    for (const phase of ['open', 'investigating', 'suppressed', 'fencing', 'failed', 'fenced'] as const)
      expect(given({ phase, ...(phase === 'fenced' && { proof: byDevice }) })).toMatchObject({
        phase: 'fenced',
        proof,
      });
  });

  it('takes the place of a proof that is in doubt, and the incident goes on from where it is', () => {
    const doubted = { proof: { ...byDevice, doubt } };
    for (const phase of ['fenced', 'recovering', 'recovered'] as const) {
      const i = given({ phase, ...doubted });
      expect([i.phase, i.proof, i.steps.at(-1)?.detail]).toEqual([phase, proof, 'eve confirmed that it is down: dark']);
    }
    const powerOn = { wanted: true, requestedAt: 1 };
    expect(() => given({ phase: 'recovered', ...doubted, powerOn })).toThrow('it needs no confirmation');
    expect(given({ phase: 'recovered', ...doubted, powerOn: { ...powerOn, done: true } }).proof).toEqual(proof);
  });

  it('is refused where it is not needed, or is in doubt itself', () => {
    for (const phase of IncidentPhases.filter(
      (p) => !['open', 'investigating', 'suppressed', 'fencing', 'failed'].includes(p),
    ))
      expect(() => given({ phase, proof: phase === 'fenced' ? { ...proof, doubt } : byDevice })).toThrow(
        'it needs no confirmation',
      );
  });
});
