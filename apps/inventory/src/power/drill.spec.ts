import { describe, expect, it } from 'vitest';
import { devicesMark, knownIdentity, provenIdentity, type NodeRecord, type OffProof } from '#contracts';
import { aDevice, aNode, anIncident } from '../testing/records.js';
import { decideDrill, drilled, type DrillFacts, type DrillStep } from './drill.js';

const proof: OffProof = { kind: 'read-back', at: 1, level: 0 };
const i = anIncident('n-1', { phase: 'fenced', proof, drill: { at: 1 } });
const step = (o: Partial<DrillFacts> = {}, p: OffProof = proof): DrillStep =>
  decideDrill(
    { ...i, proof: p },
    { provenForMs: 3_000, offAgoMs: 4_000, unheardMs: 4_200, fell: [], sighted: true, edited: false, ...o },
  );

describe('a drill', () => {
  it('proves the devices where the agent fell silent with the off, and nobody else did', () => {
    expect(step()).toMatchObject({ do: 'judged', ok: true });
    // Its last report came 4.9 s after the off, which was 8 s ago.
    expect(step({ offAgoMs: 8_000, unheardMs: 3_100 })).toMatchObject({ do: 'judged', ok: true });
  });

  it.each<[string, Partial<DrillFacts>]>([
    ['too early to tell who falls silent', { provenForMs: 2_999 }],
    ['the agent has only just fallen silent', { unheardMs: 2_999 }],
    ['nobody sees the fleet', { sighted: false }],
  ])('waits: %s', (_name, o) => expect(step(o)).toEqual({ do: 'wait', sighted: o.sighted ?? true }));

  it.each([
    ['it spoke for longer than 5 s after the off', { offAgoMs: 9_000, unheardMs: 3_900 }],
    ['it was silent before', { unheardMs: 7_100 }],
    ['nobody saw the off', { offAgoMs: undefined }],
    ['nobody ever heard it', { unheardMs: undefined }],
  ])('shows nothing, and says nothing of the devices: %s', (_name, o) => {
    const s = step(o);
    expect(s).toMatchObject({ do: 'judged', ok: false, isOther: false });
    if (s.do === 'judged') expect(drilled(aNode('n-1'), i, s, 9)).toBeUndefined();
  });

  it('shows nothing by a person’s word, nor by a device that read as off before', () => {
    expect(step({}, { ...proof, kind: 'manual' })).toMatchObject({ ok: false, isOther: false });
    expect(step({}, { ...proof, kind: 'already-off' })).toMatchObject({ ok: false, isOther: false });
  });

  it('shows that the device is another machine’s where somebody else fell silent', () => {
    const s = step({ provenForMs: 0, fell: ['n-2'] });
    expect(s).toMatchObject({ do: 'judged', ok: false, isOther: true });
    if (s.do !== 'judged') return;
    const node = drilled(aNode('n-1'), i, s, 9) as NodeRecord;
    expect(knownIdentity(node, aDevice())).toMatchObject({
      result: 'mismatch',
      why: 'by a drill: With it n-2 fell silent: its device may be theirs',
    });
  });

  it('dates the proof, and proves no device of another level', () => {
    const two = aNode('n-1', { powerLevels: [[aDevice()], [aDevice('pdu')]] });
    const node = drilled(two, i, { do: 'judged', ok: true, isOther: false, detail: '' }, 9) as NodeRecord;
    expect(provenIdentity(node, aDevice())).toMatchObject({ by: 'drill', at: 9 });
    expect(provenIdentity(node, aDevice('pdu'))).toBeUndefined();
  });

  it('says nothing of devices that were edited since its off was ordered', () => {
    const ordered = { ...i, devices: devicesMark(aNode('n-1').powerLevels) };
    const elsewhere = aNode('n-1', { powerLevels: [[{ ...aDevice(), address: '10.0.9.9' }]] });
    for (const judged of [
      { do: 'judged', ok: true, isOther: false, detail: '' },
      { do: 'judged', ok: false, isOther: true, detail: '' },
    ] as const) {
      expect(drilled(elsewhere, ordered, judged, 9)).toBeUndefined();
      expect(drilled(aNode('n-1'), ordered, judged, 9)).toBeDefined();
    }
    expect(step({ edited: true })).toMatchObject({ do: 'judged', ok: false, isOther: false });
  });

  it('of the second level proves that one, and nothing where another level silenced the node', () => {
    const two = aNode('n-1', { powerLevels: [[aDevice()], [aDevice('pdu')]] });
    const facts = { provenForMs: 3_000, offAgoMs: 4_000, unheardMs: 4_200, fell: [], sighted: true, edited: false };
    const judgedBy = (drilledLevel: number, level: number): NodeRecord | undefined => {
      const of = { ...i, drill: { at: 1, level: drilledLevel }, proof: { ...proof, level } };
      const s = decideDrill(of, facts);
      return s.do === 'judged' ? drilled(two, of, s, 9) : two;
    };
    const node = judgedBy(1, 1) as NodeRecord;
    expect(provenIdentity(node, aDevice('pdu'))).toMatchObject({ by: 'drill', at: 9 });
    expect(provenIdentity(node, aDevice())).toBeUndefined();
    expect(judgedBy(0, 1)).toBeUndefined();
  });
});
