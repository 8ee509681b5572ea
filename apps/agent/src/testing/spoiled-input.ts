import {
  encodeDatagram,
  peerId,
  type Datagram,
  type DatagramKeys,
  type DatagramType,
} from '#contracts/wire/datagram.js';
import type { PeerList } from '#contracts/wire/peers.js';
import type { PollRequest } from '#contracts/wire/poll.js';
import type { Report } from '#contracts/wire/report.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';

/** What is random in spoiled inputs. */
export class Spoiler {
  constructor(private readonly random: () => number) {}

  below(n: number): number {
    return Math.floor(this.random() * n);
  }

  one<T>(of: readonly T[]): T {
    return of[this.below(of.length)]!;
  }

  bytes(length: number): Buffer {
    const out = Buffer.allocUnsafe(length);
    for (let i = 0; i < length; i++) out[i] = this.below(256);
    return out;
  }

  /** Of any size, most of them near the right one. */
  anyBytes(right: number): Buffer {
    return this.bytes(this.one([0, 1, right - 1, right, right, right, right + 1, this.below(1500)]));
  }

  /** A valid datagram of a random type and nonce. */
  datagram(over: Partial<Datagram>, keys: DatagramKeys): Buffer {
    const base: Datagram = {
      type: (1 + this.below(4)) as DatagramType,
      from: peerId('b'),
      to: peerId('a'),
      epoch: BigInt(this.below(1000)),
      boot: this.below(256),
      network: this.below(3),
      listVersion: this.below(65_536),
      nonce: this.bytes(16),
    };
    return encodeDatagram({ ...base, ...over }, keys);
  }

  /** The same with bits turned, bytes replaced, cut, doubled or grown: never what it was. */
  spoiledBytes(good: Buffer): Buffer {
    const bad = Buffer.from(good);
    const at = this.below(good.length);
    switch (this.below(6)) {
      case 0:
        return bad.subarray(0, at);
      case 1:
        return Buffer.concat([bad, this.bytes(1 + this.below(64))]);
      case 2:
        return Buffer.concat([bad, bad]);
      case 3: {
        // Of the same size, with a stretch of noise.
        const end = Math.min(good.length, at + 1 + this.below(20));
        this.bytes(end - at).copy(bad, at);
        break;
      }
      default:
        for (let i = this.below(3); i >= 0; i--) bad[this.below(good.length)]! ^= 1 << this.below(8);
    }
    if (bad.equals(good)) bad[at]! ^= 1;
    return bad;
  }

  /** A value that JSON can carry, of no particular use. */
  value(depth = 2): unknown {
    const kind = this.below(depth > 0 ? 12 : 10);
    switch (kind) {
      case 0:
        return null;
      case 1:
        return this.random() < 0.5;
      case 2:
        return this.one([0, 1, -1, 0.5, 6, 1000, 65_536, 2 ** 31, 2 ** 53, -(2 ** 53), 1e308, -0]);
      case 3:
        return this.below(100_000);
      case 4:
        return this.one([
          '',
          'a',
          'b',
          'c',
          '__proto__',
          'constructor',
          'toString',
          '10.0.0.1',
          '::1',
          'x y',
          '\0',
          'é',
        ]);
      case 5:
        return 'x'.repeat(this.below(3000));
      case 6:
        return [];
      case 7:
        return {};
      case 8:
        return this.bytes(this.below(40)).toString('latin1');
      case 9:
        return String(this.below(1000));
      case 10:
        return Array.from({ length: this.below(5) }, () => this.value(depth - 1));
      default:
        return Object.fromEntries(
          Array.from({ length: this.below(4) }, () => [String(this.value(0)), this.value(depth - 1)]),
        );
    }
  }

  /** The text with one to three of its values replaced, removed, doubled or renamed; sometimes no JSON any more. */
  spoiledJson(good: unknown): string {
    const copy = structuredClone(good);
    for (let i = this.below(3); i >= 0; i--) this.spoilWithin(copy);
    let text = JSON.stringify(copy);
    if (this.below(8) === 0) text = text.replace(/\d+/, this.one(['1e400', '-1e400', '1e-400', '00', '0x1']));
    if (this.below(5) > 0) return text;
    const at = this.below(text.length + 1);
    return this.one([
      text.slice(0, at),
      text.slice(0, at) + this.bytes(1 + this.below(4)).toString('latin1') + text.slice(at + 1),
      text.slice(0, at) + text.slice(this.below(text.length)),
      text + text,
      '['.repeat(this.below(5000)),
    ]);
  }

  private spoilWithin(root: unknown): void {
    let at = root;
    while (typeof at === 'object' && at !== null) {
      const holder = at as Record<string, unknown>;
      const keys = Object.keys(holder);
      if (keys.length === 0) return;
      const key = this.one(keys);
      const child = holder[key];
      const deeper = typeof child === 'object' && child !== null && this.random() < 0.75;
      if (!deeper) return this.spoilMember(holder, key);
      at = child;
    }
  }

  private spoilMember(holder: Record<string, unknown>, key: string): void {
    switch (this.below(5)) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1);
        else delete holder[key];
        return;
      case 1:
        if (Array.isArray(holder)) holder.push(structuredClone(holder[key as never]));
        else holder[String(this.value(0))] = holder[key];
        return;
      case 2: {
        const other = this.one(Object.keys(holder));
        [holder[key], holder[other]] = [holder[other], holder[key]];
        return;
      }
      default:
        holder[key] = this.value();
    }
  }
}

export const goodPeerList: PeerList = {
  version: 7,
  cluster: 'c',
  self: { name: 'a', networks: { backend: '10.2.0.1', management: '10.1.0.1' } },
  peers: ['b', 'd', 'e'].map((name, i) => ({
    name,
    networks: { backend: `10.2.0.${i + 2}`, management: `10.1.0.${i + 2}` },
  })),
  port: 7946,
  detection: DetectionProfiles.lan,
};

export const goodPoll: PollRequest = { targets: goodPeerList.peers, port: 7946 };

export const goodReport: Report = {
  v: 1,
  node: 'a',
  bootId: 'boot-1',
  epoch: 12,
  seq: 340,
  listVersion: 7,
  networks: ['backend', 'management'],
  peers: [
    [
      'b',
      [
        [0, 412],
        [4, 300, 83],
      ],
    ],
    [
      'd',
      [
        [24, -1],
        [0, -1],
      ],
    ],
  ],
  health: {
    abstain: true,
    reason: 'its loop stood still',
    sendErrors: { backend: 3, management: 0 },
    loopGapMs: 312,
    warnings: ['peer list: no answer'],
    metrics: {
      rssBytes: 52 * 1024 * 1024,
      cpuMs: 61_200,
      standstills: 2,
      sent: 100,
      received: 90,
      dropped: { mac: 3 },
      rejoin: { runs: { timer: 2, heard: 1 }, lost: 1, greeted: 4, joined: 0, lostNow: 1 },
    },
  },
  workloads: [{ name: 'shop', generation: 3, starting: true }],
  leaving: { kind: 'reboot', bootId: 'boot-1' },
};
