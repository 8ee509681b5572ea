import { describe, expect, it } from 'vitest';
import type { IncidentRecord, NodeRecord, PowerIdentity } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { deviceOf, provenByGuid } from '../hands/hands-programs.js';
import { hasUnprovenDevice, isOffInDoubt, isProofOfAnybody, isProofRefuted } from './proof-truth.js';

const [first, second] = [deviceOf('n-1', 0), deviceOf('twin', 1)];
const proven = provenByGuid(first, 'g-1');
/** A node of two levels with a device each. */
const node = (powerIdentity: Record<string, PowerIdentity>): NodeRecord =>
  aNode('n-1', { powerLevels: [[first], [second]], powerIdentity });
const bothProven = node({ [first.id]: proven, [second.id]: provenByGuid(second, 'g-2') });
const firstProven = node({ [first.id]: proven });

describe('a device that may switch another machine', () => {
  it('is one that nobody has proven, where it is now', () => {
    expect(hasUnprovenDevice(bothProven)).toBe(false);
    expect(hasUnprovenDevice(firstProven)).toBe(true);
    expect(hasUnprovenDevice({ ...bothProven, powerLevels: [[{ ...first, address: '192.0.2.9' }]] })).toBe(true);
    expect(hasUnprovenDevice(aNode('n-1'))).toBe(false);
  });

  it('is one whose mismatch an administrator answers for, too', () => {
    const mismatch: PowerIdentity = {
      ...proven,
      result: 'mismatch',
      acknowledged: { by: 'eve', why: 'seen', at: 1 },
    };
    expect(hasUnprovenDevice({ ...firstProven, powerLevels: [[first]], powerIdentity: { [first.id]: mismatch } })).toBe(
      true,
    );
  });
});

describe('a proof of off that may speak of another machine', () => {
  const of = (level: number | undefined, n: NodeRecord | undefined = firstProven): boolean =>
    isProofOfAnybody({ proof: { kind: 'read-back', at: 1, ...(level !== undefined && { level }) } }, n);

  it('is one by a level with a device that is not proven', () => {
    expect([of(undefined), of(0), of(1), of(2)]).toEqual([false, false, true, false]);
    expect(of(1, bothProven)).toBe(false);
  });

  it('is no word of a person, none of a node that was deleted, and no proof that is not there', () => {
    const byWord = { kind: 'manual', at: 1, by: 'eve', reason: 'seen', level: 1 } as const;
    expect(isProofOfAnybody({ proof: byWord }, firstProven)).toBe(false);
    expect(isProofOfAnybody({ proof: { kind: 'read-back', at: 1, level: 1 } }, undefined)).toBe(false);
    expect(isProofOfAnybody({}, firstProven)).toBe(false);
  });
});

describe('an off that may have hit another node', () => {
  it('is in doubt while it is held for a node, and no longer', () => {
    const held = anIncident('n-1', { phase: 'fenced', collateral: { at: 1, nodes: [{ node: 'n-2' }] } });
    expect(isOffInDoubt(held)).toBe(true);
    expect(isOffInDoubt({ ...held, collateral: { at: 1, nodes: [] } })).toBe(false);
    expect(isOffInDoubt({ ...held, phase: 'recovering' })).toBe(false);
    expect(isOffInDoubt(anIncident('n-1', { phase: 'fenced' }))).toBe(false);
  });
});

describe('a proof of off that is refuted', () => {
  const contradiction = { at: 1, devices: 'd', recovery: [] };
  const refuted = (phase: IncidentRecord['phase']): boolean => isProofRefuted({ phase, contradiction });

  it('stays so until the node is proven off anew, or the incident is over', () => {
    expect((['failed', 'fencing', 'suppressed'] as const).map(refuted)).toEqual([true, true, true]);
    expect((['fenced', 'recovering', 'recovered', 'closed', 'cancelled'] as const).some(refuted)).toBe(false);
    expect(isProofRefuted({ phase: 'failed' })).toBe(false);
  });
});
