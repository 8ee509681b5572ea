import { describe, expect, it } from 'vitest';
import { defaultHostGroups, type NodeRecord } from '#contracts';
import { fleetOf } from '../nodes/node-rules.js';
import { aNode } from '../testing/fixtures.js';
import { arrived, enrolledNode, withAgentKey, type EnrolRequest } from './enrolment.js';

const key = (c: string): string => `ssh-ed25519 ${c.repeat(40)}`;
const request = (o: Partial<EnrolRequest> = {}): EnrolRequest => ({
  label: 'host1',
  serial: 'SN1',
  networks: { management: { address: '10.0.0.11' } },
  hostKeys: [key('b'), key('a')],
  ...o,
});
const on = (o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode('host1-SN1', {
    networks: { management: { address: '10.0.0.11' }, backend: { address: '10.1.0.11' } },
    state: 'Disappeared',
    sshHostKeys: [key('a')],
    ...o,
  });
const sut = (r: EnrolRequest, current?: NodeRecord, others: NodeRecord[] = []): NodeRecord | undefined =>
  enrolledNode(
    r,
    current,
    {
      nodes: current ? [current, ...others] : others,
      fleet: fleetOf(current ? [current, ...others] : others),
      groups: defaultHostGroups,
      offered: () => ['ansible'],
    },
    1,
  );

describe('a machine that was found', () => {
  it('becomes a node whose agent is waited for, with the keys that its sshd has shown', () => {
    expect(sut(request())).toEqual({
      name: 'host1-SN1',
      label: 'host1',
      serial: 'SN1',
      failureDomain: 'default',
      networks: { management: { address: '10.0.0.11' } },
      powerLevels: [],
      provisionDriver: 'ansible',
      vars: {},
      fencing: 'auto',
      enrolled: false,
      awaited: true,
      status: 'Unallocated',
      prevStatus: 'Incomplete',
      state: 'Unknown',
      prevState: 'Unknown',
      createdAt: 1,
      sshHostKeys: [key('a'), key('b')],
    });
    expect(sut(request({ hostKeys: [] }))?.sshHostKeys).toBeUndefined();
  });

  it('is refused where another node has its address, or what it says of itself is none', () => {
    const other = aNode('host2-SN2', { networks: { management: { address: '10.0.0.11' } } });
    expect(() => sut(request(), undefined, [other])).toThrow('node host2-SN2 has the address 10.0.0.11 on management');
    expect(() => sut(request({ serial: 'a b' }))).toThrow('label and serial take letters');
    expect(() => sut(request({ networks: {} }))).toThrow('one to four networks');
    expect(() => sut(request({ hostKeys: ['ssh-ed25519 AAAA\nevil'] }))).toThrow('hostKeys are public keys');
  });

  it('says nothing by a filler in the place of its serial number: its agent may have another list of those', () => {
    const [found, before] = [request({ productSerial: 'Default-string' }), on({ productSerial: 'SN-1' })];
    expect(sut(found)).not.toHaveProperty('productSerial');
    expect(sut(found, before)).toBeUndefined();
  });

  it('keeps its record when it is the one that stands there', () => {
    for (const status of ['Unallocated', 'Allocated'] as const) expect(sut(request(), on({ status }))).toBeUndefined();
  });

  it('gets an agent where only external monitors knew it, and its keys pinned where none were', () => {
    const { sshHostKeys: _none, ...unpinned } = on({ enrolled: false, status: 'Allocated' });
    expect(sut(request(), unpinned)).toEqual({ ...unpinned, awaited: true, sshHostKeys: [key('a'), key('b')] });
  });

  it('is a member from when its agent is there, and not before', () => {
    const found = sut(request()) ?? on();
    expect(arrived(found)).toMatchObject({ name: 'host1-SN1', enrolled: true });
    expect(arrived(found)?.awaited).toBeUndefined();
    expect(sut(request(), found)).toBeUndefined();
    for (const node of [on(), on({ enrolled: false })]) expect(arrived(node)).toBeUndefined();
  });

  it('may have moved while nothing rested on it', () => {
    const moved = request({ networks: { management: { address: '10.0.0.99' } } });
    expect(sut(moved, on({ status: 'Decommissioned' }))?.networks).toEqual({
      management: { address: '10.0.0.99' },
      backend: { address: '10.1.0.11' },
    });
    const other = aNode('host2-SN2', { networks: { management: { address: '10.0.0.99' } } });
    expect(() => sut(moved, on(), [other])).toThrow('node host2-SN2 has the address 10.0.0.99');
  });

  it('is refused elsewhere while its node serves or is heard: it may be a copy, and would run what the first runs', () => {
    const moved = request({ networks: { management: { address: '10.0.0.99' } } });
    expect(() => sut(moved, on({ status: 'Allocated' }))).toThrow('is Allocated and Disappeared at 10.0.0.11');
    expect(() => sut(moved, on({ state: 'Discovered' }))).toThrow('one of the two is a copy');
    const networks = { management: { address: '10.0.0.11' }, backend: { address: '10.1.0.99' } };
    expect(sut(request({ networks }), on({ status: 'Allocated' }))).toBeUndefined();
  });

  it('is refused with other ssh keys than its node has', () => {
    expect(() => sut(request({ hostKeys: [key('c')] }), on())).toThrow('other ssh host keys than are pinned');
    expect(sut(request({ hostKeys: [] }), on())).toBeUndefined();
  });

  it('is refused as another installation of a node that is heard, and known by its own from the first time on', () => {
    const [mine, other] = ['1'.repeat(32), '2'.repeat(32)];
    expect(sut(request({ machine: mine }))?.machine).toBe(mine);
    expect(sut(request({ machine: mine }), on({ state: 'Discovered' }))?.machine).toBe(mine);
    const heard = on({ state: 'Discovered', machine: other });
    expect(() => sut(request({ machine: mine }), heard)).toThrow('which is heard, and runs on another machine');
    expect(sut(request({ machine: mine }), on({ machine: other }))?.machine).toBe(mine);
  });

  it('is refused as a second node beside the one that it is, by what was kept of its first enrolment', () => {
    const first = sut(request({ productSerial: 'SN-1', machine: '1'.repeat(32) })) ?? on();
    expect(first).toMatchObject({ productSerial: 'SN-1', machine: '1'.repeat(32) });
    const networks = { management: { address: '10.0.0.99' } };
    const anew = request({ label: 'host9', serial: 'x', networks, productSerial: 'SN-1', hostKeys: [key('c')] });
    expect(() => sut(anew, undefined, [first])).toThrow('is node host1-SN1 already, which has its serial number');
    expect(sut(request({ productSerial: 'SN-2' }), on({ productSerial: 'SN-1' }))?.productSerial).toBe('SN-2');
    expect(sut(request(), on({ productSerial: 'SN-1' }))).toBeUndefined();
  });

  it('is let in again after it was shut out, by the user that it gets then', () => {
    const shutOut = on({ enrolled: false, revoked: { by: 'ann', at: 1, reason: 'stolen' } });
    const again = withAgentKey(sut(request(), shutOut) ?? shutOut, 'U1');
    expect(again).toMatchObject({ awaited: true, agentKeys: ['U1'] });
    expect(again.revoked).toBeUndefined();
  });

  it('keeps the last four users of its agent', () => {
    const keys = ['U1', 'U2', 'U3', 'U4', 'U5'];
    expect(keys.reduce(withAgentKey, on()).agentKeys).toEqual(keys.slice(1));
    expect(withAgentKey(on({ agentKeys: ['U1', 'U2'] }), 'U1').agentKeys).toEqual(['U2', 'U1']);
  });
});
