import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { outReasons, type ServiceFacts } from './in-service.js';

const good: ServiceFacts = { missingPowerDrivers: [], provisionable: true, detectorSighted: true };
const up = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
const serving = (o: Partial<NodeRecord> = {}): NodeRecord => aNode('a-1', { status: 'Allocated', verdict: up, ...o });
const codes = (n: NodeRecord, f: Partial<ServiceFacts> = {}): string[] =>
  outReasons(n, { ...good, ...f }).map((r) => r.code);

describe('a node', () => {
  it('is in service when nothing speaks against it', () => {
    expect(codes(serving())).toEqual([]);
  });
  it.each([
    ['STATUS', { status: 'Unallocated' as const }, {}],
    ['STATE', { state: 'Disappeared' as const }, {}],
    ['STATE', { enrolled: false, revoked: { by: 'ann', at: 1, reason: 'stolen' } }, {}],
    ['CORDONED', { cordon: { reason: 'r', by: 'b', at: 1 } }, {}],
    ['MAINTENANCE', { maintenance: { reason: 'r', at: 1 } }, {}],
    ['DEGRADED', {}, { avoided: 'it is silent on backend' }],
    ['INCIDENT', {}, { incident: { id: 'i', phase: 'suppressed' as const } }],
    ['SHUTS_DOWN', {}, { shutdown: 'eve ordered it' }],
    ['PENDING_RETURN', { pendingReturn: { reason: 'rebooted' as const, at: 1 } }, {}],
    ['RESERVED', {}, { hold: { job: 'j', generation: 1, at: 1 } }],
    ['NO_PROVISION_WORKER', {}, { provisionable: false }],
    ['NO_POWER_WORKER', {}, { missingPowerDrivers: ['exec'] }],
    ['VIEW_STALE', {}, { gap: 'the view of the records has a gap' }],
    ['VIEW_STALE', {}, { detectorSighted: false }],
    ['VIEW_STALE', { verdict: { ...up, verdict: 'SUSPECT' as const } }, {}],
  ])('is out of service by %s', (code, node, f) => {
    expect(codes(serving(node), f)).toEqual([code]);
  });
  it('is in service while it is only looked at, and out of it where a claim holds it beside that', () => {
    const check = { job: 'j', kind: 'check' as const, periodic: true as const, generation: 1, at: 1 };
    expect(codes(serving(), { hold: check })).toEqual([]);
    expect(codes(serving(), { hold: { ...check, claim: 'c' } })).toEqual(['RESERVED']);
    const { periodic: _p, ...asked } = check;
    expect(codes(serving(), { hold: asked })).toEqual(['RESERVED']);
  });
  it('without an agent needs no detector', () => {
    expect(codes(serving({ enrolled: false }), { detectorSighted: false })).toEqual([]);
  });
  it('names every reason, not only the first', () => {
    expect(codes(serving({ status: 'Cancelled', state: 'Unknown' }), { provisionable: false })).toEqual([
      'STATUS',
      'STATE',
      'NO_PROVISION_WORKER',
    ]);
  });
});
