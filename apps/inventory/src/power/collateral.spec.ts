import { describe, expect, it } from 'vitest';
import { devicesMark, drilledIdentity, withIdentity, type IncidentRecord, type OffProof } from '#contracts';
import { odd } from '../testing/odd.js';
import { aDevice, aNode, anIncident } from '../testing/records.js';
import { fencedAnew } from './void-proof.js';
import { decideCollateral, heldForCollateral, type CollateralFacts, type CollateralStep } from './collateral.js';

const proof: OffProof = { kind: 'read-back', at: 1, level: 0 };
const node = aNode('n-1');
const proven = withIdentity(node, 'bmc', drilledIdentity(node, aDevice(), 1));
const fenced = (o: Partial<IncidentRecord> = {}): IncidentRecord => anIncident('n-1', { phase: 'fenced', proof, ...o });
const held = fenced({ collateral: { at: 1, nodes: [{ node: 'n-2', bootId: 'boot-2' }] } });
const fell = (unheardMs?: number) => ({ node: 'n-2', bootId: 'boot-2', ...(unheardMs !== undefined && { unheardMs }) });
const step = (o: Partial<CollateralFacts> = {}, i: IncidentRecord = fenced()): CollateralStep =>
  decideCollateral(i, {
    ...{ provenForMs: 3_000, node, sighted: true, silent: [], offsAgoMs: [4_000] },
    heardIn: () => undefined,
    ...o,
  });

const edited = { do: 'anew', why: 'Its power devices were edited after the order to power it off' };

describe('a proof of off by a device that is not proven to be the node’s own', () => {
  it('counts 3 s later, while somebody sees the fleet', () => {
    expect(step({ provenForMs: 2_999 })).toEqual({ do: 'wait', sighted: true });
    expect(step()).toEqual({ do: 'counts' });
    expect(step({ sighted: false })).toEqual({ do: 'wait', sighted: false });
  });

  it('counts at once where the device is proven, or a person vouches for it, whoever else falls silent', () => {
    for (const [n, i] of [
      [proven, fenced()],
      [node, fenced({ proof: { ...proof, kind: 'manual' } })],
      [proven, { ...held, proof: { ...proof, kind: 'manual' as const } }],
    ] as const)
      expect(step({ node: n, provenForMs: 0, silent: [fell(3_500)] }, i)).toEqual({ do: 'counts' });
  });

  it.each([
    ['its last word came just before the off', 4_900, 4_000, 'hold'],
    ['its last word came after the off', 1_700, 4_000, 'hold'],
    ['it was silent before', 6_000, 4_000, 'counts'],
    ['it was never heard', undefined, 4_000, 'counts'],
    ['it was heard long after anything could come of the off', 2_000, 60_000, 'counts'],
    ['nobody knows how old the off is', 90_000, undefined, 'hold'],
  ] as const)('where another node is silent: %s', (_name, unheardMs, offAgoMs, expected) => {
    const s = step({ silent: [fell(unheardMs)], offsAgoMs: [offAgoMs] });
    expect(s.do).toBe(expected);
    if (s.do === 'hold') expect(s).toMatchObject({ changed: true, nodes: [{ node: 'n-2', bootId: 'boot-2' }] });
  });

  it('is not held for who was silent when it was ordered, nor where no off was given', () => {
    expect(step({ silent: [fell(1_700)] }, fenced({ silentBefore: ['n-2'] }))).toEqual({ do: 'counts' });
    expect(step({ silent: [fell(1_700)], offsAgoMs: [] })).toEqual({ do: 'counts' });
  });

  it('is held until the other speaks in its old boot, and no other', () => {
    expect(step({ provenForMs: 600_000 }, held)).toMatchObject({ do: 'hold', changed: false });
    expect(step({ heardIn: () => 'boot-3' }, held).do).toBe('hold');
    expect(step({ heardIn: () => 'boot-2' }, held)).toEqual({ do: 'clear', spoke: ['n-2'] });
    // Its last report may have left before the off took effect: who is called silent since has not spoken.
    const both = step({ heardIn: () => 'boot-2', silent: [fell(1_700)] }, held);
    expect(both).toEqual({ do: 'hold', nodes: held.collateral?.nodes, changed: false });
    const more = step(
      { heardIn: (n) => (n === 'n-2' ? 'boot-2' : undefined), silent: [{ ...fell(900), node: 'n-3' }] },
      held,
    );
    expect(more).toMatchObject({ do: 'hold', changed: true, nodes: [{ node: 'n-3' }] });
  });

  it('stands for nothing where its device is proven only while it is held: the wires may have been put right since', () => {
    const anew = { do: 'anew', why: 'Its device is proven only since its proof of off was held' };
    expect(step({ node: proven, provenForMs: 600_000 }, held)).toEqual(anew);
    expect(step({ node: proven, heardIn: () => 'boot-2' }, held)).toEqual(anew);
    const again = fencedAnew(held, anew.why, 7) as IncidentRecord;
    expect(again).toMatchObject({ phase: 'failed', updatedAt: 7 });
    expect(again.steps.at(-1)?.detail).toBe(`${anew.why}: that proves nothing, so off anew.`);
    for (const field of ['proof', 'collateral', 'powerOn', 'retryAt']) expect(again).not.toHaveProperty(field);
    expect(fencedAnew({ ...held, phase: 'recovering' }, anew.why, 7)).toBeUndefined();
  });

  it('stands for nothing where the devices were edited while it was held: they are asked anew, as they are now', () => {
    const mark = devicesMark(node.powerLevels);
    const elsewhere = aNode('n-1', { powerLevels: [[{ ...aDevice(), address: '10.0.9.9' }]] });
    const ordered = { ...held, devices: mark };
    for (const heardIn of [() => undefined, () => 'boot-2'])
      expect(step({ node: elsewhere, heardIn }, ordered)).toEqual(edited);
    expect(step({ node: aNode('n-1', { powerLevels: [] }) }, ordered)).toEqual(edited);
    expect(step({}, ordered).do).toBe('hold');
    expect(step({ node: elsewhere }, { ...ordered, proof: { ...proof, kind: 'manual' } })).toEqual({ do: 'counts' });
  });

  it('stands for nothing where an edit came after it, whatever is known of the devices as they are now', () => {
    const pdu = { ...aDevice('pdu'), address: '10.0.9.9' };
    const before = aNode('n-1', { powerLevels: [[pdu], [aDevice()]] });
    const swapped = withIdentity(
      aNode('n-1', { powerLevels: [[aDevice()], [pdu]] }),
      'bmc',
      drilledIdentity(node, aDevice(), 1),
    );
    const ordered = fenced({ devices: devicesMark(before.powerLevels) });
    expect(step({ node: before, provenForMs: 0 }, ordered)).toEqual({ do: 'wait', sighted: true });
    for (const n of [swapped, aNode('n-1', { powerLevels: [] })])
      expect(step({ node: n, provenForMs: 0, silent: [fell(1_700)] }, ordered)).toEqual(edited);
    // A person's word rests on no device, and what a drill has switched off is switched on again.
    for (const o of [{ proof: { ...proof, kind: 'manual' as const } }, { drill: { at: 1 } }])
      expect(step({ node: swapped }, { ...ordered, ...o })).toEqual({ do: 'counts' });
  });

  it('holds every other power-off by a device that is not proven, unless it is released', () => {
    const other = anIncident('n-2');
    expect(heldForCollateral(other, aNode('n-2'), [held])).toMatchObject({ gate: 'BRAKE', pass: false });
    const two = aNode('n-2');
    expect(
      heldForCollateral(other, withIdentity(two, 'bmc', drilledIdentity(two, aDevice(), 1)), [held]),
    ).toBeUndefined();
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['BRAKE' as const], force: false };
    expect(heldForCollateral({ ...other, released }, two, [held])).toBeUndefined();
    expect(heldForCollateral(other, two, [{ ...held, phase: 'recovering' }, fenced()])).toBeUndefined();
    expect(heldForCollateral(held, node, [held])).toBeUndefined();
  });

  it('holds none by a proven device, and all others, where it cannot be said whether it is held', () => {
    const unclear = odd(held, 'collateral');
    const two = aNode('n-2');
    const provenTwo = withIdentity(two, 'bmc', drilledIdentity(two, aDevice(), 1));
    expect(heldForCollateral(anIncident('n-2'), provenTwo, [unclear])).toBeUndefined();
    expect(() => heldForCollateral(anIncident('n-2'), two, [unclear])).toThrow('collateral cannot be understood');
  });
});
