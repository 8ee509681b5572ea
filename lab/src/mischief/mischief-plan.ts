import { DATAGRAM_BYTES, DatagramTypes, encodeDatagram, peerId, type DatagramKeys } from '#contracts';

/**
 * `late`: echoes come once more, 8 s after they were due; `duplicate`: echoes come twice; `reordered`: what came, once
 * more, the last one first; `truncated`, `oversized`: good probes with bytes missing, and bytes to spare;
 * `foreign-cluster`, `wrong-key`: good probes of others; `replay`: what came, once more, in its order; `echo-back`: the
 * host's own probes come back to it as they are; `noise`: random bytes of random length.
 */
export const MischiefKinds = [
  'late',
  'duplicate',
  'reordered',
  'truncated',
  'oversized',
  'foreign-cluster',
  'wrong-key',
  'replay',
  'echo-back',
  'noise',
] as const;
export type MischiefKind = (typeof MischiefKinds)[number];

/** What lab/host/mischief.py is told. */
export interface MischiefOrder {
  /** Hex. */
  send?: string[];
  capture?: { way: 'to' | 'from'; types: number[]; count: number };
  /** s between the capture of each and its sending. */
  delay?: number;
  reverse?: boolean;
  /** s to wait for answers. */
  settle: number;
}

export interface MischiefFacts {
  /** Node whose agent is meant, and another one that it knows. */
  to: string;
  from: string;
  keys: DatagramKeys;
  count: number;
  /** So many random bytes. */
  random: (bytes: number) => Buffer;
}

const SETTLE = 0.3;
const LATE = 8;
/** The largest payload of a UDP datagram. */
const MOST = 65_507;

/** What to send so that the agent gets exactly this. Of what is made here nothing may ever be answered. */
export function mischiefOrder(kind: MischiefKind, f: MischiefFacts): MischiefOrder {
  const all = Object.values(DatagramTypes);
  const capture = (way: 'to' | 'from', ...types: number[]): MischiefOrder => ({
    capture: { way, types, count: f.count },
    settle: SETTLE,
  });
  const make = (one: (i: number) => Buffer): MischiefOrder => ({
    send: Array.from({ length: f.count }, (_, i) => one(i).toString('hex')),
    settle: SETTLE,
  });
  switch (kind) {
    case 'late':
      return { ...capture('to', DatagramTypes.ECHO), delay: LATE };
    case 'duplicate':
      return capture('to', DatagramTypes.ECHO);
    case 'reordered':
      return { ...capture('to', ...all), reverse: true };
    case 'replay':
      return { ...capture('to', ...all), delay: 1 };
    case 'echo-back':
      return capture('from', DatagramTypes.PROBE);
    case 'truncated':
      return make((i) => probe(f).subarray(0, (i * 7) % DATAGRAM_BYTES));
    case 'oversized':
      return make((i) => {
        const spare = i % 4 === 3 ? MOST - DATAGRAM_BYTES : 1 + ((i * 97) % 1400);
        return Buffer.concat([probe(f), f.random(spare)]);
      });
    case 'foreign-cluster':
      return make(() => probe({ ...f, keys: { ...f.keys, cluster: `not-${f.keys.cluster}` } }));
    case 'wrong-key':
      return make(() => probe({ ...f, keys: { ...f.keys, keys: [f.random(32)] } }));
    case 'noise':
      return make(() => f.random(f.random(2).readUInt16BE() % 200));
  }
}

const probe = (f: MischiefFacts): Buffer =>
  encodeDatagram(
    {
      type: DatagramTypes.PROBE,
      from: peerId(f.from),
      to: peerId(f.to),
      epoch: 1n,
      boot: 0,
      network: 0,
      listVersion: 0,
      nonce: f.random(16),
    },
    f.keys,
  );
