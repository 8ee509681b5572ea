import { UNUSED_PORT, type Clock, type LifeChannel, type OwnProbe, type PortSign, type Timer } from '#contracts';
import type { ProbeKeys } from './fleet-keys.js';
import { HostSigns, SIGN_KEPT } from './host-signs.js';
import { startGap } from './limits.js';
import type { EchoAnswer, EchoProbes, ProbeNet } from './probe-net.js';

/** ms until what has just answered is asked again: a living host's log is not to be filled, nor its kernel kept busy. */
const PAUSE = 2000;

const rested: ReadonlySet<string> = new Set(['banner', 'reply', 'cannot']);
const noSign: ReadonlySet<string> = new Set(['silent', 'not-tried', 'cannot']);

/** Where a node is looked for. */
export interface ProbeTarget {
  node: string;
  /** Network → address. */
  networks: Record<string, string>;
  port: number;
  ssh?: { host: string; port: number };
  /** ms: see `answerLimit` and `roundPeriod`. */
  limit: number;
  round: number;
}

interface Look {
  target: ProbeTarget;
  timer?: Timer;
  /** Network → when it last echoed, monotonic ms. */
  echoedAt: Map<string, number>;
  /** When a datagram was last given up, monotonic ms. */
  unansweredAt?: number;
  host: HostSigns;
  /** When something of the host was last learnt, monotonic ms. */
  learntAt?: number;
  /** Not to be asked before, monotonic ms; Infinity while it is being asked. */
  notBefore: Map<string, number>;
  rounds: number;
}

/** What outlives a look: who is suspected again a moment later has not lost its last sign of life. */
type Signs = Pick<Look, 'echoedAt' | 'host'>;

export interface OwnProbesParts {
  instance: string;
  keys: ProbeKeys;
  /** Channels by which this instance has seen the node's host to speak while it lived. */
  spoke: (node: string) => readonly LifeChannel[];
  /** Something was learnt of this node. */
  changed: (node: string) => void;
  failed: (reason: string) => void;
  clock: Clock;
  net: ProbeNet;
}

/**
 * The monitor's own look at nodes that are suspect: over every network by the agents' wire, and at their hosts by all that
 * shows whether these live without an agent.
 */
export class OwnProbes {
  private readonly looks = new Map<string, Look>();
  /** Of those that are not looked at now. */
  private readonly signs = new Map<string, Signs>();
  private readonly echoes: EchoProbes;
  private readonly clock: Clock;

  constructor(private readonly parts: OwnProbesParts) {
    const { instance, keys, failed, net } = parts;
    this.clock = parts.clock;
    this.echoes = net.echoes({ instance, keys, done: (a) => this.onEcho(a), failed });
  }

  /** Looks at exactly these nodes from now on; who is looked at already goes on with what is known. */
  watch(targets: readonly ProbeTarget[]): void {
    const wanted = new Set(targets.map((t) => t.node));
    for (const [node, look] of this.looks)
      if (!wanted.has(node)) {
        look.timer?.cancel();
        this.looks.delete(node);
        look.host.rest();
        this.signs.set(node, { echoedAt: look.echoedAt, host: look.host });
      }
    const now = this.clock.monotonicMs();
    for (const [node, { echoedAt, host }] of this.signs)
      if (now - Math.max(host.latestAt, ...echoedAt.values()) > SIGN_KEPT) this.signs.delete(node);
    const suspected: ProbeTarget[] = [];
    for (const target of targets) {
      const known = this.looks.get(target.node);
      if (known) known.target = target;
      else suspected.push(target);
    }
    suspected.forEach((target, i) => this.begin(target, Math.floor(i * startGap(suspected.length, target.round))));
  }

  /** Datagrams that came to the monitor and were not signed by this cluster, since the start. */
  get forged(): number {
    return this.echoes.forged;
  }

  close(): void {
    this.watch([]);
    this.echoes.close();
  }

  /** `silent` only while a datagram was given up and no echo came within `freshness`, and ssh was tried. */
  state(node: string, now: number, freshness: number): 'echo' | 'silent' | 'unknown' {
    const look = this.looks.get(node);
    if (!look) return 'unknown';
    if (this.echoedWithin(look, now, freshness).length > 0) return 'echo';
    const unanswered = look.unansweredAt !== undefined && now - look.unansweredAt < freshness;
    return unanswered && look.host.sshIsKnown ? 'silent' : 'unknown';
  }

  evidence(node: string, now: number, freshness: number): OwnProbe | undefined {
    const look = this.looks.get(node);
    if (!look) return undefined;
    const at = [...look.echoedAt.values(), look.unansweredAt, look.learntAt].filter((x) => x !== undefined);
    return {
      echo: this.echoedWithin(look, now, freshness),
      ...look.host.look(now),
      by: this.parts.instance,
      spoke: [...this.parts.spoke(node)],
      ageMs: at.length === 0 ? 0 : Math.max(0, Math.round(now - Math.max(...at))),
    };
  }

  private echoedWithin(look: Look, now: number, freshness: number): string[] {
    return [...look.echoedAt].filter(([, at]) => now - at < freshness).map(([network]) => network);
  }

  /** @param delay ms until the first datagram */
  private begin(target: ProbeTarget, delay: number): void {
    const look: Look = {
      target,
      echoedAt: new Map(),
      host: new HostSigns(),
      notBefore: new Map(),
      rounds: 0,
      ...this.signs.get(target.node),
    };
    this.signs.delete(target.node);
    this.looks.set(target.node, look);
    if (delay === 0) this.round(look);
    else look.timer = this.clock.after(delay, () => this.round(look));
  }

  private round(look: Look): void {
    const { node, networks, port, limit, round } = look.target;
    look.timer = this.clock.after(round, () => this.round(look));
    const names = Object.keys(networks).sort();
    const echoes = (): void =>
      names.forEach((network, i) => this.echoes.ask(node, network, i, networks[network] as string, port, limit));
    const agents = (): void => names.forEach((network, i) => this.askAgentPort(look, network, i));
    if (look.rounds++ === 0) {
      echoes();
      agents();
      this.askHost(look);
      return;
    }
    // A kernel says once a second that nobody listens: to the first that asks, which must be one that can be told.
    agents();
    this.clock.soon(() => {
      if (this.looks.get(node) !== look) return;
      echoes();
      this.askHost(look);
    });
  }

  private askAgentPort(look: Look, network: string, index: number): void {
    const { node, networks, port, limit } = look.target;
    const bytes = this.echoes.question(node, index);
    const ask = (): Promise<PortSign> => this.parts.net.agentPort(networks[network] as string, port, bytes, limit);
    // In each round, also while the one before is waited for.
    this.ask(look, `agent ${network} ${look.rounds}`, ask, (host, sign, now) => host.foundAgentPort(sign, now));
  }

  private askHost(look: Look): void {
    const { ssh, limit } = look.target;
    if (!ssh) return;
    const { net } = this.parts;
    this.ask(
      look,
      'ssh',
      () => net.sshSign(ssh.host, ssh.port, limit),
      (host, sign, now) => host.foundSsh(sign, now),
    );
    this.ask(
      look,
      'icmp',
      () => net.ping(ssh.host, limit),
      (host, sign, now) => host.foundIcmp(sign, now),
    );
    this.ask(
      look,
      'port',
      () => net.unusedPort(ssh.host, UNUSED_PORT, limit),
      (host, sign, now) => host.foundPort(sign, now),
    );
  }

  /** Not while it is being asked already, nor soon after an answer that tells all that this can tell. */
  private ask<S extends string>(
    look: Look,
    what: string,
    ask: () => Promise<S>,
    found: (host: HostSigns, sign: S, now: number) => void,
  ): void {
    const { node } = look.target;
    if (this.clock.monotonicMs() < (look.notBefore.get(what) ?? -Infinity)) return;
    look.notBefore.set(what, Infinity);
    void ask().then((sign) => {
      const now = this.clock.monotonicMs();
      if (rested.has(sign)) look.notBefore.set(what, now + PAUSE);
      else look.notBefore.delete(what);
      const isLookedAt = this.looks.get(node) === look;
      // Who is not suspect any more may be so again before the sign is old; that there was none says nothing then.
      if (!isLookedAt && noSign.has(sign)) return;
      const known = this.looks.get(node);
      found((known ?? this.signOf(node)).host, sign, now);
      if (!known) return;
      known.learntAt = now;
      this.parts.changed(node);
    });
  }

  private onEcho({ node, network, echoed }: EchoAnswer): void {
    const look = this.looks.get(node);
    if (!look) {
      // It was asked while it was suspect, and may be so again before the echo is old.
      if (echoed) this.signOf(node).echoedAt.set(network, this.clock.monotonicMs());
      return;
    }
    if (echoed) {
      look.echoedAt.set(network, this.clock.monotonicMs());
      look.host.echoed();
    } else look.unansweredAt = this.clock.monotonicMs();
    this.parts.changed(node);
  }

  private signOf(node: string): Signs {
    let sign = this.signs.get(node);
    if (!sign) this.signs.set(node, (sign = { echoedAt: new Map(), host: new HostSigns() }));
    return sign;
  }
}
