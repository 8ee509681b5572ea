import { describe, expect, it } from 'vitest';
import { defaultFencing, drilledIdentity, identityBasis, withIdentity, type NodeRecord } from '#contracts';
import { aDevice, aNode, anIncident } from '../testing/records.js';
import { refusedDrill } from './drill-order.js';
import type { PowerFacts } from '#domain/power/power-order.js';

const verdict = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
const node = aNode('n-1', { verdict });
const refusal = (n: Partial<NodeRecord> = {}, o: Partial<PowerFacts> = {}, level = 0): string | undefined =>
  refusedDrill(
    {
      ...{ node: { ...node, ...n }, fencing: { ...defaultFencing, mode: 'enforce' }, hold: undefined },
      ...{ incident: undefined, quarantined: undefined, workloads: [], fencers: 1, wallNow: 1, ...o },
    },
    level,
  )?.code;

describe('a drill', () => {
  it('is ordered of a node that is UP, runs nothing and is nobody’s', () => expect(refusal()).toBeUndefined());

  const device = aDevice();
  const wrong = { ...drilledIdentity(node, device, 1), result: 'mismatch' as const };
  it.each<[string, string, Partial<NodeRecord>, Partial<PowerFacts>]>([
    ['something runs there', 'WORKLOADS_PRESENT', {}, { workloads: ['db'] }],
    ['it is not UP', 'NOT_DISCOVERED', { verdict: { ...verdict, verdict: 'SUSPECT' } }, {}],
    ['it is not heard', 'NOT_DISCOVERED', { state: 'Disappeared' }, {}],
    ['it is not in use', 'FENCING_REFUSED', { status: 'Unallocated' }, {}],
    ['its device is known as another’s', 'IDENTITY_MISMATCH', withIdentity(node, 'bmc', wrong), {}],
    ['it has none', 'FENCING_REFUSED', { powerLevels: [] }, {}],
    ['no device may be written to', 'FENCING_REFUSED', {}, { fencing: defaultFencing }],
    ['a job holds it', 'NODE_RESERVED', {}, { hold: { job: 'j', generation: 1, at: 1 } }],
    ['it has an incident', 'INCIDENT_STATE', {}, { incident: anIncident('n-1', { phase: 'suppressed' }) }],
    ['an off may still take effect', 'NODE_BUSY', {}, { quarantined: 'x' }],
    ['nobody could carry it out', 'NO_WORKERS', {}, { fencers: 0 }],
  ])('is refused: %s', (_name, code, n, o) => expect(refusal(n, o)).toBe(code));

  it('of one level is refused where there is none, and where a device that it may come to is another’s', () => {
    const two = { powerLevels: [[device], [aDevice('pdu')]] };
    const wrongAt = (id: string): Partial<NodeRecord> => withIdentity({ ...node, ...two }, id, wrong);
    expect(refusal({}, {}, 1)).toBe('BAD_REQUEST');
    expect(refusal(two, {}, 1)).toBeUndefined();
    expect(refusal(two, {}, 2)).toBe('BAD_REQUEST');
    expect(refusal(wrongAt('bmc'), {}, 0)).toBe('IDENTITY_MISMATCH');
    expect(refusal(wrongAt('bmc'), {}, 1)).toBeUndefined();
    const pdu = { ...wrong, basis: identityBasis(aDevice('pdu')) };
    for (const level of [0, 1])
      expect(refusal(withIdentity({ ...node, ...two }, 'pdu', pdu), {}, level)).toBe('IDENTITY_MISMATCH');
  });
});
