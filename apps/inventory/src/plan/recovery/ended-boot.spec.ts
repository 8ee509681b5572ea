import { describe, expect, it } from 'vitest';
import { aNode, anIncident } from '../../testing/records.js';
import { endedBoot, proofBoots, type BootFacts, type ProofBoots } from './ended-boot.js';

describe('the boot that a proof of off has ended', () => {
  const incident = anIncident('n-1', { phase: 'fenced', bootId: 'b1' });
  const ended = (o: Partial<BootFacts>, node?: Parameters<typeof aNode>[1]): string | undefined =>
    endedBoot(incident, node && aNode('n-1', node), {
      ...{ heard: { bootId: 'b2', agoMs: 800 }, openedAgoMs: 2_000, provenAgoMs: 5, ...o },
    });

  it('is the one that was heard last before the proof, in which its machine came back meanwhile', () => {
    expect(ended({})).toBe('b2');
    expect(ended({ openedAgoMs: undefined })).toBe('b2');
  });

  it('is the one that its incident is about where no other is known to have spoken between the two', () => {
    expect(ended({ heard: undefined })).toBe('b1');
    expect(ended({ heard: { bootId: 'b0', agoMs: 2_001 } })).toBe('b1');
  });

  it('is none that has spoken since the proof, or that may have', () => {
    expect(ended({ provenAgoMs: 801 })).toBe('b1');
    expect(ended({ provenAgoMs: undefined })).toBe('b1');
  });

  it('is followed by one that has spoken since the proof, or that may have', () => {
    const boots = (o: Partial<BootFacts>): ProofBoots =>
      proofBoots(incident, undefined, {
        heard: { bootId: 'b2', agoMs: 800 },
        openedAgoMs: 2_000,
        provenAgoMs: 801,
        ...o,
      });
    expect([boots({}), boots({ provenAgoMs: undefined })]).toEqual(Array(2).fill({ ended: 'b1', since: 'b2' }));
    expect(boots({ provenAgoMs: 800 })).toEqual({ ended: 'b2', since: undefined });
    expect(boots({ heard: { bootId: 'b1', agoMs: 5 } })).toEqual({ ended: 'b1', since: undefined });
    expect(boots({ heard: { bootId: 'b0', agoMs: 2_001 } }).since).toBeUndefined();
  });

  it('stands once the node is marked by this incident, and by no other', () => {
    const at = { at: 1, bootId: 'b3' };
    expect(ended({}, { confirmedOff: { ...at, incident: incident.id } })).toBe('b3');
    expect(ended({}, { confirmedOff: { ...at, incident: 'another' } })).toBe('b2');
  });

  it('is that of its record where nothing else names one', () => {
    const { bootId: _none, ...unnamed } = incident;
    const facts = { heard: undefined, openedAgoMs: 1, provenAgoMs: 1 };
    expect(endedBoot(unnamed, aNode('n-1', { bootId: 'b0' }), facts)).toBe('b0');
    expect(endedBoot(unnamed, undefined, facts)).toBeUndefined();
  });
});
