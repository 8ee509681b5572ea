import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import {
  DatagramTypes,
  decodeDatagram,
  encodeDatagram,
  isOfTheTarget,
  peerId,
  type Clock,
  type Timer,
} from '#contracts';
import type { ProbeKeys } from './fleet-keys.js';
import type { EchoAnswer, EchoProbes, EchoProbesOptions } from './probe-net.js';

/** A datagram that was given up is waited for so many times as long: an echo that comes late is a sign of life, too. */
const LATE = 3;

/**
 * Bytes of receive buffer that are asked for. By default it holds some 270 echoes, and a fleet's come while the loop is
 * at something else; the system may give less (net.core.rmem_max).
 */
const BUFFER_BYTES = 4 * 1024 * 1024;

interface Asked {
  node: string;
  network: string;
  timer: Timer;
  /** By the keys of that moment; where they were not the fleet's, no answer says nothing. */
  provable: boolean;
}

/**
 * The monitor's own datagrams to a node's agent. The monitor is on no peer list: it signs as `detector:<instance>`,
 * and agents answer any valid probe that is meant for them.
 */
export class EchoProbe implements EchoProbes {
  private readonly sockets = new Map<'udp4' | 'udp6', Socket>();
  private readonly waiting = new Map<string, Asked>();
  forged = 0;
  private readonly id: bigint;
  private readonly keys: ProbeKeys;
  private readonly done: (a: EchoAnswer) => void;
  private readonly failed: (reason: string) => void;

  constructor(
    o: EchoProbesOptions,
    private readonly clock: Clock,
  ) {
    this.id = peerId(`detector:${o.instance}`);
    this.keys = o.keys;
    this.done = o.done;
    this.failed = o.failed;
  }

  ask(node: string, network: string, index: number, address: string, port: number, limit: number): void {
    const nonce = randomBytes(16);
    const key = nonce.toString('hex');
    const bytes = this.question(node, index, nonce);
    const timer = this.clock.after(limit, () => this.giveUp(key, limit));
    const asked: Asked = { node, network, timer, provable: !this.keys.outdated };
    this.waiting.set(key, asked);
    this.socket(isIPv6(address) ? 'udp6' : 'udp4').send(bytes, port, address, (e) => {
      if (!e) return;
      this.failed(`cannot send to ${address}:${port}: ${e.message}`);
      if (isOfTheTarget(e)) return;
      asked.timer.cancel();
      this.waiting.delete(key);
    });
  }

  question(node: string, network: number, nonce = randomBytes(16)): Buffer {
    return encodeDatagram(
      {
        type: DatagramTypes.PROBE,
        from: this.id,
        to: peerId(node),
        epoch: 0n,
        boot: 0,
        network,
        listVersion: 0,
        nonce,
      },
      this.keys,
    );
  }

  private giveUp(key: string, limit: number): void {
    const asked = this.waiting.get(key);
    if (!asked) return;
    asked.timer = this.clock.after((LATE - 1) * limit, () => this.waiting.delete(key));
    if (asked.provable && !this.keys.outdated) this.done({ node: asked.node, network: asked.network, echoed: false });
  }

  close(): void {
    for (const { timer } of this.waiting.values()) timer.cancel();
    this.waiting.clear();
    for (const socket of this.sockets.values()) socket.close();
    this.sockets.clear();
  }

  private socket(type: 'udp4' | 'udp6'): Socket {
    const known = this.sockets.get(type);
    if (known) return known;
    const socket = createSocket(type);
    socket.on('listening', () => this.growBuffer(socket));
    socket.on('message', (bytes) => this.receive(bytes));
    socket.on('error', (e) => {
      this.failed(e.message);
      if (this.sockets.get(type) === socket) this.sockets.delete(type);
      socket.close();
    });
    this.sockets.set(type, socket);
    return socket;
  }

  private growBuffer(socket: Socket): void {
    try {
      socket.setRecvBufferSize(BUFFER_BYTES);
    } catch (e) {
      this.failed(`the receive buffer cannot be set: ${String(e)}`);
    }
  }

  private receive(bytes: Buffer): void {
    const d = decodeDatagram(bytes, this.keys);
    if (d === 'mac') this.forged++;
    if (typeof d === 'string' || d.type !== DatagramTypes.ECHO || d.to !== this.id) return;
    const key = d.nonce.toString('hex');
    const asked = this.waiting.get(key);
    if (!asked || d.from !== peerId(asked.node)) return;
    this.waiting.delete(key);
    asked.timer.cancel();
    this.done({ node: asked.node, network: asked.network, echoed: true });
  }
}
