import { describe, expect, it } from 'vitest';
import { aNode } from '../testing/records.js';
import { brokerHosts, type BrokerSources } from './broker-hosts.js';
import { brokerMajority } from '#domain/incident/broker-majority.js';

const at = (n: number): { networks: { management: { address: string }; backend: { address: string } } } => ({
  networks: { management: { address: `10.0.0.${n}` }, backend: { address: `10.0.1.${n}` } },
});
const fleet = [1, 2, 3, 4, 5].map((n) => aNode(`n-${n}`, at(n)));
const [n1, n2] = fleet as [(typeof fleet)[0], (typeof fleet)[0]];
const dns: Record<string, string[]> = { 'nats-1': ['10.0.0.1'], 'nats-2': ['10.0.0.2'], 'nats-3': ['10.0.0.3'] };
const named = ['nats://nats-1:4222', 'nats://nats-2:4222', 'nats://nats-3:4222'];
const byAddress = [
  '10.0.0.1:4222',
  '10.0.1.1:4222',
  '10.0.0.2:4222',
  '10.0.1.2:4222',
  '10.0.0.3:4222',
  '10.0.1.3:4222',
];
const from = (o: Partial<BrokerSources> = {}): BrokerSources => ({
  advertised: [],
  configured: named,
  addressesOf: (name) => dns[name],
  ...o,
});
const majority = (s: BrokerSources, unhealthy = [n1]): boolean =>
  brokerMajority(brokerHosts(s, n1, unhealthy, fleet)).pass;

describe('the servers of the bus', () => {
  it('are one each, by whatever name and over however many networks they are known', () => {
    expect(brokerHosts(from({ advertised: byAddress }), n1, [n1], fleet)).toEqual({
      servers: ['n-1', 'n-2', 'n-3'],
      total: 3,
      onThisNode: ['n-1'],
      doubtful: ['n-1'],
      unresolved: [],
    });
  });
  it('are found by name where none is advertised', () => {
    expect(brokerHosts(from(), n1, [n1], fleet).onThisNode).toEqual(['n-1']);
  });
  it('keep their majority without one of three, and lose it without two', () => {
    for (const s of [from(), from({ advertised: byAddress })]) {
      expect(majority(s)).toBe(true);
      expect(majority(s, [n1, n2])).toBe(false);
    }
  });
  it('count those that are gone already in the majority', () => {
    const five = [...named, '10.0.0.4', '10.0.0.5'];
    expect(majority(from({ configured: five, advertised: byAddress }))).toBe(false);
  });
  it('stop where one of several has a name that nobody knows, and one alone does not', () => {
    expect(majority(from({ addressesOf: () => undefined }), [])).toBe(false);
    expect(majority(from({ configured: ['nats://nats:4222'], addressesOf: () => undefined }), [])).toBe(true);
    expect(majority(from({ configured: ['10.9.0.1', '10.9.0.2', '10.9.0.3'] }), [n1, n2])).toBe(true);
  });
});
