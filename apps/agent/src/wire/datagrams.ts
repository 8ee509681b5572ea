import {
  DatagramTypes,
  decodeDatagram,
  encodeDatagram,
  peerId,
  type Datagram,
  type DatagramKeys,
  type DatagramType,
} from '#contracts/wire/datagram.js';
import type { DropCounters, DropReason } from './drop-counters.js';
import type { Start } from './identities.js';
import { Nonces } from './nonces.js';

export interface WireSelf {
  name: string;
  epoch: number;
  /** See {@link bootMark}. */
  boot: number;
  listVersion: () => number;
}

/** Answers a second to all who are on no list; a monitor needs two per network and node. */
const STRANGER_RATE = 200;

/** What came in, for the agent to act on. Probes have been answered by then. */
export type Heard = { peer: string; network: string; epoch: bigint; boot: number; listVersion: number } & (
  { kind: 'probe' | 'hello' } | { kind: 'echo' | 'welcome'; nonce: string }
);

/** Who else may want a datagram. */
export interface WireEars {
  /** Takes the ECHO of a probe that was sent on request, also of somebody who is on no list: true when it was awaited. */
  polled: (from: bigint, network: string, nonce: string, now: number) => boolean;
  /** Somebody signs with our own name, maybe an earlier process of ours. */
  asUs: (start: Start, now: number) => void;
}

const deaf: WireEars = { polled: () => false, asUs: () => undefined };

/**
 * Turns datagrams into what the agent acts on, and answers. A PROBE or HELLO with a valid MAC that is meant for us is
 * answered to where it came from, once, with the same size: by a known peer, or by the monitor, which is on no list.
 * An ECHO or WELCOME is never answered, so no two daemons can keep each other busy.
 */
export class Datagrams {
  private readonly id: bigint;
  private peers = new Map<bigint, string>();
  private ids = new Map<string, bigint>();
  private readonly nonces = new Nonces();
  private strangers = { second: 0, answers: 0 };

  constructor(
    private readonly self: WireSelf,
    private readonly networks: string[],
    private readonly keys: DatagramKeys,
    private readonly counters: DropCounters,
    private readonly ears = deaf,
  ) {
    this.id = peerId(self.name);
  }

  know(names: Iterable<string>): void {
    this.ids = new Map([...names].map((name) => [name, peerId(name)]));
    this.peers = new Map([...this.ids].map(([name, id]) => [id, name]));
  }

  /** A fresh question, and the nonce that must come back. */
  question(type: DatagramType, peer: string, network: string): { bytes: Buffer; nonce: string } {
    const nonce = this.nonces.next();
    return {
      bytes: this.encode(type, this.ids.get(peer) ?? peerId(peer), network, nonce),
      nonce: nonce.toString('hex'),
    };
  }

  receive(bytes: Buffer, network: string, now: number, answer: (bytes: Buffer) => void): Heard | undefined {
    this.counters.received++;
    const d = decodeDatagram(bytes, this.keys);
    if (typeof d === 'string') return this.drop(d);
    if (d.from === this.id) {
      this.ears.asUs(d, now);
      return this.drop('own');
    }
    if (d.to !== this.id) return this.drop('not-for-us');
    const peer = this.peers.get(d.from);
    const { epoch, boot, listVersion } = d;
    if (d.type === DatagramTypes.ECHO || d.type === DatagramTypes.WELCOME) {
      const isOurs = d.network === this.networks.indexOf(network);
      const nonce = d.nonce.toString('hex');
      const kind = d.type === DatagramTypes.ECHO ? 'echo' : 'welcome';
      if (kind === 'echo' && isOurs && this.ears.polled(d.from, network, nonce, now)) return undefined;
      if (peer === undefined) return this.drop('stranger');
      if (!isOurs) return this.drop('network');
      return { kind, peer, network, epoch, boot, listVersion, nonce };
    }
    if (peer === undefined && this.crowded(now)) return this.drop('crowd');
    answer(this.reply(d));
    if (peer === undefined) return undefined;
    return { kind: d.type === DatagramTypes.PROBE ? 'probe' : 'hello', peer, network, epoch, boot, listVersion };
  }

  /** The asker's network index and nonce go back as they came: it compares them with its own. */
  private reply(d: Datagram): Buffer {
    const type = d.type === DatagramTypes.PROBE ? DatagramTypes.ECHO : DatagramTypes.WELCOME;
    const { epoch, boot, listVersion } = this.self;
    return encodeDatagram(
      { ...d, type, from: this.id, to: d.from, epoch: BigInt(epoch), boot, listVersion: listVersion() },
      this.keys,
    );
  }

  private encode(type: DatagramType, to: bigint, network: string, nonce: Buffer): Buffer {
    return encodeDatagram(
      {
        type,
        from: this.id,
        to,
        epoch: BigInt(this.self.epoch),
        boot: this.self.boot,
        network: this.networks.indexOf(network),
        listVersion: this.self.listVersion(),
        nonce,
      },
      this.keys,
    );
  }

  private crowded(now: number): boolean {
    const second = Math.floor(now / 1000);
    if (this.strangers.second !== second) this.strangers = { second, answers: 0 };
    return ++this.strangers.answers > STRANGER_RATE;
  }

  private drop(reason: DropReason): undefined {
    this.counters.drop(reason);
    return undefined;
  }
}
