import { beforeEach, describe, expect, it } from 'vitest';
import { DATAGRAM_BYTES, DatagramTypes, encodeDatagram, peerId, type Datagram } from '#contracts/wire/datagram.js';
import { Datagrams, type Heard } from './datagrams.js';
import { DropCounters } from './drop-counters.js';

const KEYS = { cluster: 'c', keys: [Buffer.alloc(32, 1)] };
const NETWORKS = ['backend', 'management'];

const datagram = (over: Partial<Datagram> = {}): Datagram => ({
  type: DatagramTypes.PROBE,
  from: peerId('b'),
  to: peerId('a'),
  epoch: 3n,
  boot: 30,
  network: 1,
  listVersion: 7,
  nonce: Buffer.alloc(16, 9),
  ...over,
});

describe('what a daemon makes of datagrams', () => {
  let counters: DropCounters;
  let a: Datagrams;
  let answers: Buffer[];
  const receive = (bytes: Buffer, to: Datagrams = a, network = 'management'): Heard | undefined =>
    to.receive(bytes, network, 0, (reply) => answers.push(reply));
  const agent = (name: string, peer: string, c = new DropCounters(), keys = KEYS): Datagrams => {
    const d = new Datagrams({ name, epoch: 1, boot: name.charCodeAt(0), listVersion: () => 7 }, NETWORKS, keys, c);
    d.know([peer]);
    return d;
  };

  beforeEach(() => {
    counters = new DropCounters();
    answers = [];
    a = agent('a', 'b', counters);
  });

  it('answers a peer once, with the same size and the same random bytes', () => {
    const b = agent('b', 'a');
    const { bytes, nonce } = b.question(DatagramTypes.PROBE, 'a', 'management');
    expect(receive(bytes)).toMatchObject({ kind: 'probe', peer: 'b' });
    expect(answers).toHaveLength(1);
    expect(answers[0]).toHaveLength(DATAGRAM_BYTES);
    expect(receive(answers[0]!, b)).toMatchObject({ kind: 'echo', peer: 'a', nonce });
    expect(answers).toHaveLength(1);
  });

  it('tells its own start in what it asks and in what it answers', () => {
    const b = agent('b', 'a');
    const { bytes } = b.question(DatagramTypes.HELLO, 'a', 'management');
    expect(receive(bytes)).toMatchObject({ kind: 'hello', epoch: 1n, boot: 98 });
    expect(receive(answers[0]!, b)).toMatchObject({ kind: 'welcome', epoch: 1n, boot: 97 });
  });

  it('answers the monitor, which is on no list, and makes nothing of it', () => {
    const bytes = encodeDatagram(datagram({ from: peerId('detector:one') }), KEYS);
    expect(receive(bytes)).toBeUndefined();
    expect(answers).toHaveLength(1);
  });

  it('does not let strangers keep it busy', () => {
    const bytes = encodeDatagram(datagram({ from: peerId('detector:one') }), KEYS);
    for (let i = 0; i < 1000; i++) receive(bytes);
    expect(answers.length).toBeLessThanOrEqual(200);
    expect(counters.dropped.crowd).toBe(1000 - answers.length);
  });

  it.each<[string, Buffer]>([
    ['size', encodeDatagram(datagram(), KEYS).subarray(0, 63)],
    ['size', Buffer.concat([encodeDatagram(datagram(), KEYS), Buffer.alloc(1)])],
    ['size', Buffer.alloc(0)],
    ['magic', Buffer.alloc(64)],
    ['mac', encodeDatagram(datagram(), { ...KEYS, cluster: 'another' })],
    ['mac', encodeDatagram(datagram(), { ...KEYS, keys: [Buffer.alloc(32, 2)] })],
    ['not-for-us', encodeDatagram(datagram({ to: peerId('c') }), KEYS)],
    ['own', encodeDatagram(datagram({ from: peerId('a') }), KEYS)],
    ['network', encodeDatagram(datagram({ type: DatagramTypes.ECHO, network: 0 }), KEYS)],
    ['stranger', encodeDatagram(datagram({ type: DatagramTypes.ECHO, from: peerId('x') }), KEYS)],
  ])('drops, counts and never answers: %s', (reason, bytes) => {
    expect(receive(bytes)).toBeUndefined();
    expect(answers).toEqual([]);
    expect(counters.dropped).toEqual({ [reason]: 1 });
  });

  it('drops every datagram with one bit turned', () => {
    const good = encodeDatagram(datagram(), KEYS);
    for (let bit = 0; bit < good.length * 8; bit++) {
      const bad = Buffer.from(good);
      bad[bit >> 3]! ^= 1 << (bit & 7);
      receive(bad);
    }
    expect(answers).toEqual([]);
  });

  it('accepts the key before the newest one, and signs with the newest', () => {
    const both = agent('a', 'b', counters, { cluster: 'c', keys: [Buffer.alloc(32, 5), Buffer.alloc(32, 1)] });
    receive(encodeDatagram(datagram(), KEYS), both);
    expect(answers).toHaveLength(1);
    expect(receive(answers[0]!, agent('b', 'a', new DropCounters(), KEYS))).toBeUndefined();
  });
});
