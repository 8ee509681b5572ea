import { describe, expect, it } from 'vitest';
import { defaultSettings, type NodeRecord } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { fleetContent, fleetHash, FleetLists } from './peer-list.js';

const settings = defaultSettings('spec');
const node = (name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { networks: { management: { address: `m-${name}` }, backend: { address: `b-${name}` } }, ...o });
const lists = (nodes: NodeRecord[]): FleetLists => new FleetLists(fleetContent(nodes, settings), 3);
const hash = (nodes: NodeRecord[], s = settings): string => fleetHash(fleetContent(nodes, s));

describe('the peer list of an agent', () => {
  it('names everybody else that runs an agent, also who is cordoned or off: they must find their way back', () => {
    const off = node('c-1', { confirmedOff: { at: 1, incident: 'i' } });
    const sut = lists([node('b-1'), node('a-1'), off, node('x-1', { enrolled: false })]);
    expect(sut.of('a-1')).toMatchObject({
      version: 3,
      cluster: 'spec',
      port: settings.agentPort,
      self: { name: 'a-1' },
    });
    expect(sut.of('a-1')?.peers).toEqual([
      { name: 'b-1', networks: { backend: 'b-b-1', management: 'm-b-1' } },
      { name: 'c-1', networks: { backend: 'b-c-1', management: 'm-c-1' } },
    ]);
    expect(sut.of('c-1')?.peers.map((p) => p.name)).toEqual(['a-1', 'b-1']);
    expect(sut.of('x-1')).toBeUndefined();
  });

  it('names the servers of NATS on the networks of each, and is a new one when they change', () => {
    const one = node('b-1', { networks: { management: { address: 'm-b-1' } } });
    const nats = { management: ['nats://m1:4222', 'nats://m2:4222'], backend: ['nats://b1:4222'] };
    const content = (to: Record<string, string[]>) => fleetContent([node('a-1'), one], settings, undefined, to);
    const sut = new FleetLists(content(nats), 3);
    expect([sut.of('a-1')?.nats, sut.of('b-1')?.nats]).toEqual([nats, { management: nats.management }]);
    expect(fleetHash(content({ backend: nats.backend, management: nats.management }))).toBe(fleetHash(content(nats)));
    expect(fleetHash(content({ ...nats, backend: ['nats://b2:4222'] }))).not.toBe(fleetHash(content(nats)));
    // Agents that were enrolled with some keep them.
    expect(new FleetLists(content({}), 3).of('a-1')).not.toHaveProperty('nats');
  });

  it('is short in a large fleet, where each node still has its observers', () => {
    const names = Array.from({ length: 200 }, (_, i) => `n${i}-1`);
    const sut = lists(names.map((n) => node(n)));
    const sizes = names.map((n) => sut.of(n)?.peers.length ?? 0);
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(200 * 16);
  });

  it('is a new one when a node, an address, membership or detection changes, and for nothing else', () => {
    const before = hash([node('a-1'), node('b-1')]);
    expect(hash([node('b-1'), node('a-1', { status: 'Allocated', state: 'Disappeared' })])).toBe(before);
    expect(hash([node('a-1')])).not.toBe(before);
    expect(hash([node('a-1'), node('b-1', { networks: { management: { address: 'z' } } })])).not.toBe(before);
    expect(hash([node('a-1'), node('b-1', { cordon: { reason: 'r', by: 'b', at: 1 } })])).not.toBe(before);
    expect(hash([node('a-1'), node('b-1')], { ...settings, agentPort: 1 })).not.toBe(before);
  });
});
