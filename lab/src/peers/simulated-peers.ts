import { randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { performance } from 'node:perf_hooks';
import { connectBus, type Bus, type BusCredentials, type BusLog, type WireMessage } from '#bus';
import {
  DatagramTypes,
  fromToken,
  isOfTheTarget,
  MusterError,
  Subjects,
  type Peer,
  peerId,
  type PeerList,
  type RunningWorkload,
} from '#contracts';
import { parsePollRequest } from '../../../apps/agent/src/poll/parse-poll-request.js';
import { Polls } from '../../../apps/agent/src/poll/polls.js';
import { Datagrams } from '../../../apps/agent/src/wire/datagrams.js';
import { DropCounters } from '../../../apps/agent/src/wire/drop-counters.js';
import { SimulatedPeer } from './simulated-peer.js';

export interface SimulatedPeersOptions {
  /** Names, and own addresses, which this machine must have, per network. */
  peers: readonly Peer[];
  /** Peer → what its reports say runs there, until it boots. Absent: they tell nothing of what runs. */
  workloads?: Readonly<Record<string, readonly RunningWorkload[]>>;
  cluster: string;
  /** The cluster's datagram keys, the first signs. */
  keys: readonly Buffer[];
  /** UDP port of every agent. */
  port: number;
  servers: string[];
  /** A user that may speak as each of these nodes; see {@link issuePeersCredentials}. Absent: a server without users. */
  credentials?: BusCredentials;
  log: BusLog;
}

/** ms between two steps of the loop, as of an agent. */
const STEP = 20;
/** Peer lists that are asked for at once, and ms before what failed is asked for again. */
const AT_ONCE = 16;
const AGAIN = 1_000;
const ASK_LIMIT = 5_000;

/**
 * Many nodes in one process, as the rest of the cluster sees them: each has a socket at each of its own addresses and
 * answers there, probes the real machines on its list, answers the monitor's polls, and reports. Between themselves they
 * need no datagrams: who is not killed is heard. All speak over one NATS connection: a fleet of real agents has one for
 * each node and network, so this says nothing of how many connections a server bears.
 */
export class SimulatedPeers {
  private readonly peers = new Map<string, SimulatedPeer>();
  private readonly wires = new Map<string, Datagrams>();
  private readonly sockets = new Map<string, Map<string, Socket>>();
  private readonly counters = new DropCounters();
  private readonly polls = new Map<string, Polls>();
  /** Their lists have changed, or were never had. */
  private readonly outdated = new Set<string>();
  private asking = 0;
  private lastStep = performance.now();
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  private constructor(
    private readonly o: SimulatedPeersOptions,
    private readonly bus: Bus,
  ) {
    const fate = (name: string): 'alive' | 'dead' | undefined => {
      const peer = this.peers.get(name);
      return peer && (peer.alive ? 'alive' : 'dead');
    };
    o.peers.forEach((self, i) => {
      const runs = o.workloads?.[self.name];
      const peer = new SimulatedPeer(self, (i * 0.618) % 1, randomUUID(), fate, this.lastStep, runs);
      this.peers.set(self.name, peer);
      this.outdated.add(self.name);
      this.wires.set(self.name, this.wireOf(peer));
      this.polls.set(self.name, this.pollsOf(peer));
    });
  }

  /** Resolves when every address is bound and the loop runs; lists come as inventory answers. */
  static async start(o: SimulatedPeersOptions): Promise<SimulatedPeers> {
    const bus = await connectBus({
      name: 'simulated-peers',
      servers: o.servers,
      log: o.log,
      ...(o.credentials && { credentials: o.credentials }),
    });
    const all = new SimulatedPeers(o, bus);
    try {
      for (const peer of all.peers.values()) await all.bind(peer);
    } catch (e) {
      await all.close();
      throw e;
    }
    all.listen();
    all.plan();
    all.askLists();
    return all;
  }

  /** Silent from now on, at once. NODE_UNKNOWN */
  kill(names: readonly string[]): void {
    const now = performance.now();
    const peers = names.map((n) => this.peer(n));
    for (const peer of peers) peer.die();
    this.notify(names, now);
  }

  /** Those of them that are dead run again, with a new boot id. NODE_UNKNOWN */
  boot(names: readonly string[]): void {
    const now = performance.now();
    const dead = names.map((n) => this.peer(n)).filter((p) => !p.alive);
    for (const peer of dead) peer.boot(randomUUID(), now);
    const booted = dead.map((p) => p.name);
    this.notify(booted, now);
  }

  get dead(): string[] {
    return [...this.peers.values()].filter((p) => !p.alive).map((p) => p.name);
  }

  /** Those that have their peer list, and so report. */
  get reporting(): number {
    return [...this.peers.values()].filter((p) => p.alive && p.list !== undefined).length;
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    for (const sockets of this.sockets.values()) for (const s of sockets.values()) s.close();
    await this.bus.close();
  }

  private peer(name: string): SimulatedPeer {
    const peer = this.peers.get(name);
    if (peer === undefined) throw new MusterError('NODE_UNKNOWN', `no simulated peer is called "${name}"`);
    return peer;
  }

  private notify(names: readonly string[], now: number): void {
    for (const peer of this.peers.values()) for (const name of names) peer.notice(name, now);
  }

  // ---- datagrams ----------------------------------------------------------------------------------------------------

  private wireOf(peer: SimulatedPeer): Datagrams {
    const self = {
      name: peer.name,
      get epoch() {
        return peer.epoch;
      },
      boot: 0,
      listVersion: () => peer.list?.version ?? 0,
    };
    return new Datagrams(self, peer.networks, { cluster: this.o.cluster, keys: this.o.keys }, this.counters, {
      polled: (...echo) => this.polls.get(peer.name)?.echo(...echo) ?? false,
      asUs: () => undefined,
    });
  }

  private async bind(peer: SimulatedPeer): Promise<void> {
    const sockets = new Map<string, Socket>();
    this.sockets.set(peer.name, sockets);
    for (const network of peer.networks) {
      const address = peer.self.networks[network] as string;
      const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
      sockets.set(network, socket);
      socket.bind(this.o.port, address);
      await once(socket, 'listening');
      socket.on('error', (err) => this.o.log.warn({ err, peer: peer.name, network }, 'a socket failed'));
      socket.on('message', (bytes, from) => {
        const now = performance.now();
        // The dead have sockets, too: without one the system would answer that nothing listens, and look alive.
        if (!peer.alive) return;
        const answer = (reply: Buffer): void => this.sendTo(socket, reply, from.address, from.port);
        const heard = this.wires.get(peer.name)?.receive(bytes, network, now, answer);
        if (heard?.kind === 'echo') peer.links.echo(heard.peer, network, heard.nonce, now);
      });
    }
  }

  private probe(peer: SimulatedPeer, target: string, network: string, now: number): void {
    const address = peer.list?.peers.find((p) => p.name === target)?.networks[network];
    const wire = this.wires.get(peer.name);
    if (address === undefined || wire === undefined) return;
    const { bytes, nonce } = wire.question(DatagramTypes.PROBE, target, network);
    peer.links.sent(target, network, nonce, now);
    const unsent = (why: string): void => peer.links.unsent(nonce, now, why);
    this.sendTo(this.sockets.get(peer.name)?.get(network), bytes, address, this.o.port, unsent);
  }

  private sendTo(
    socket: Socket | undefined,
    bytes: Buffer,
    address: string,
    port: number,
    unsent: (why: string) => void = () => undefined,
  ): void {
    if (socket === undefined || this.closed) unsent('its socket is closed');
    else
      socket.send(bytes, port, address, (e) => {
        // What the stack could not find was sent, and is missed.
        if (e !== null && !isOfTheTarget(e)) unsent(e.message);
      });
  }

  // ---- polls --------------------------------------------------------------------------------------------------------

  private pollsOf(peer: SimulatedPeer): Polls {
    const polls = new Polls({
      node: peer.name,
      get epoch() {
        return peer.epoch;
      },
      networks: peer.networks,
      question: ({ target, network }) => {
        const question = this.wires.get(peer.name)!.question(DatagramTypes.PROBE, target, network);
        if (this.peers.get(target)?.alive === true)
          setImmediate(() => polls.echo(peerId(target), network, question.nonce, performance.now()));
        return question;
      },
      send: ({ target, network, address }, port, bytes, unsent) => {
        if (!this.peers.has(target))
          this.sendTo(this.sockets.get(peer.name)?.get(network), bytes, address, port, unsent);
      },
      abstains: (now) => peer.links.abstains(now),
    });
    return polls;
  }

  private async answerPoll(msg: WireMessage): Promise<void> {
    const peer = this.peers.get(fromToken(msg.subject.slice(Subjects.poll('').length)));
    // The polls of real agents are heard here, too, and are theirs to answer.
    if (peer === undefined || !peer.alive) return;
    const request = parsePollRequest(msg.text);
    const answer = await this.polls.get(peer.name)?.begin(request, msg.reply ?? '', performance.now());
    if (peer.alive && !this.closed) msg.respond(JSON.stringify(answer));
  }

  // ---- NATS ---------------------------------------------------------------------------------------------------------

  private listen(): void {
    this.bus.wire.subscribe(Subjects.poll('*'), {
      onRefused: (err) => this.o.log.error({ err }, 'polls cannot be heard'),
      onMessage: (msg) => {
        this.answerPoll(msg).catch((err: unknown) => this.o.log.warn({ err }, 'a poll was not answered'));
      },
    });
    this.bus.subscribe(Subjects.peersChanged('*'), (_text, subject) => {
      const name = fromToken(subject.slice(Subjects.peersChanged('').length));
      if (!this.peers.has(name)) return;
      this.outdated.add(name);
      this.askLists();
    });
  }

  private askLists(): void {
    for (; this.asking < AT_ONCE; this.asking++) {
      const name = this.outdated.values().next().value;
      if (name === undefined || this.closed) return;
      this.outdated.delete(name);
      void this.askList(name).then((answered) => {
        this.asking--;
        if (answered) this.askLists();
        else setTimeout(() => this.askAgain(name), AGAIN).unref();
      });
    }
  }

  private askAgain(name: string): void {
    this.outdated.add(name);
    this.askLists();
  }

  private async askList(name: string): Promise<boolean> {
    try {
      const list = await this.bus.ask<PeerList>(Subjects.peers(name), {}, { timeoutMs: ASK_LIMIT });
      const peer = this.peer(name);
      if (peer.list !== undefined && list.version < peer.list.version) return true;
      peer.accept(list, performance.now());
      this.wires.get(name)?.know(list.peers.map((p) => p.name));
      return true;
    } catch (err) {
      this.o.log.debug({ err, peer: name }, 'no peer list yet');
      return false;
    }
  }

  // ---- loop ---------------------------------------------------------------------------------------------------------

  private plan(): void {
    // After the poll phase: an echo that is already in the buffer is read before its probe is judged.
    this.timer = setTimeout(() => setImmediate(() => this.step(performance.now())), STEP);
  }

  private step(now: number): void {
    if (this.closed) return;
    const gap = now - this.lastStep;
    this.lastStep = now;
    for (const peer of this.peers.values()) {
      if (gap > peer.loopGap) {
        peer.stoodStill(gap, now);
        this.polls.get(peer.name)?.stoodStill();
      }
      const { probes, report } = peer.step(now, gap);
      for (const { peer: target, network } of probes) this.probe(peer, target, network, now);
      // As a real agent: over the connection of each network.
      if (report !== undefined) for (const _ of peer.networks) this.bus.publish(Subjects.report(peer.name), report);
      this.polls.get(peer.name)?.step(now);
    }
    this.plan();
  }
}
