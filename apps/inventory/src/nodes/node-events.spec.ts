import { describe, expect, it } from 'vitest';
import { aNode } from '../testing/fixtures.js';
import { nodeEvents } from './node-events.js';

const serving = aNode('a-1', { status: 'Allocated', bootId: 'b1' });
const kinds = (before: typeof serving | undefined, after: typeof serving): string[] =>
  nodeEvents(before, after, 'why').map((e) => e.kind);

describe('the events of a changed node', () => {
  it('tell of a new node, of each axis, of another boot, and of nothing that stayed', () => {
    expect(kinds(undefined, serving)).toEqual(['node-created']);
    expect(kinds(serving, { ...serving, vars: { a: 1 } })).toEqual([]);
    expect(kinds(serving, { ...serving, bootId: 'b2' })).toEqual(['rebooted']);
    expect(nodeEvents(serving, { ...serving, status: 'Maintenance', lastJob: 'j' }, '')).toEqual([
      { kind: 'node-status', data: { node: 'a-1', status: 'Maintenance', prev: 'Allocated', job: 'j' } },
    ]);
  });
  it('say once what took it out of service', () => {
    const fenced = { ...serving, state: 'Disappeared' as const, maintenance: { reason: 'fenced', at: 1 } };
    expect(nodeEvents(serving, fenced, 'DOWN')).toEqual([
      { kind: 'node-state', data: { node: 'a-1', state: 'Disappeared', prev: 'Discovered', reason: 'DOWN' } },
      {
        kind: 'out-of-service',
        data: { node: 'a-1', reasons: ['STATE: its state is Disappeared', 'MAINTENANCE: fenced'] },
      },
    ]);
    expect(kinds(fenced, { ...fenced, poweredOnAt: [1] })).toEqual([]);
  });
  it('tell once that the last workload has left a node that is being drained', () => {
    const draining = { ...serving, cordon: { reason: 'memory', by: 'eve', at: 1, drain: true } };
    const drained = { ...draining, cordon: { ...draining.cordon, drained: 2 } };
    expect(kinds(serving, draining)).toEqual(['out-of-service']);
    expect(kinds(draining, drained)).toEqual(['drained']);
    expect(kinds(drained, { ...drained, vars: { a: 1 } })).toEqual([]);
  });
  it('tell when a network falls silent and when it is heard again', () => {
    const v = { networks: ['backend'], epoch: 1, seq: 1, at: 1 };
    const cut = { ...serving, verdict: { ...v, verdict: 'DEGRADED' as const } };
    expect(kinds(serving, cut)).toEqual(['degraded']);
    expect(kinds(cut, { ...cut, verdict: { ...cut.verdict, seq: 2 } })).toEqual([]);
    expect(kinds(cut, { ...cut, verdict: { ...v, verdict: 'UP', networks: [] } })).toEqual(['degraded-over']);
  });
});
