import { describe, expect, it } from 'vitest';
import type { ClusterSettings, NodeRecord } from '#contracts';
import { FleetView, type Records } from './fleet-view.js';

const record = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  ({ name, enrolled: true, networks: { management: { address: '10.0.0.1' } }, vars: {}, ...o }) as NodeRecord;

describe('the view of the fleet', () => {
  it('draws who watches whom anew when members come and go, not for every change of a record', () => {
    const values = new Map(['a', 'b', 'c'].map((name) => [name, record(name)]));
    let changed: (key: string, value: NodeRecord | undefined) => void = () => undefined;
    const nodes: Records<NodeRecord> = {
      live: true,
      get: (key) => (values.has(key) ? { value: values.get(key) as NodeRecord } : undefined),
      entries: () => [...values].map(([key, value]) => ({ key, value, revision: 1 })),
      onChange: (fn) => ((changed = fn), () => undefined),
    };
    const settings: Records<ClusterSettings> = {
      live: true,
      get: () => undefined,
      entries: () => [],
      onChange: () => () => undefined,
    };
    const put = (r: NodeRecord): void => {
      values.set(r.name, r);
      changed(r.name, r);
    };
    const sut = new FleetView(nodes, settings, 'spec');
    const before = sut.observersOf('a');
    expect(before).toEqual(['b', 'c']);
    put(record('b', { networks: { management: { address: '10.0.0.2' } } }));
    expect(sut.observersOf('a')).toBe(before);
    expect(sut.targets.get('b')?.record.networks).toEqual({ management: { address: '10.0.0.2' } });
    put(record('b', { cordon: { reason: 'disk', by: 'eve', at: 1 } }));
    expect(sut.observersOf('a')).toEqual(['c']);
    expect(sut.members).toEqual(['a', 'c']);
    put(record('d'));
    expect(sut.observersOf('a')).toEqual(['c', 'd']);
    put(record('d', { enrolled: false }));
    expect([sut.observersOf('a'), [...sut.targets.keys()]]).toEqual([['c'], ['a', 'b', 'c']]);
    // Cordoned before: it was no member, and is none now.
    put(record('b', { enrolled: false, cordon: { reason: 'disk', by: 'eve', at: 1 } }));
    expect([...sut.targets.keys()]).toEqual(['a', 'c']);
    put(record('b', { cordon: { reason: 'disk', by: 'eve', at: 1 } }));
    values.delete('c');
    changed('c', undefined);
    expect([...sut.targets.keys()]).toEqual(['a', 'b']);
  });
});
