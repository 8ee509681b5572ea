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

interface ProbeRun {
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

/** What outlives a run: who is suspected again a moment later has not lost its last sign of life. */
type Signs = Pick<ProbeRun, 'echoedAt' | 'host'>;

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
 * The monitor's own probes of nodes that are suspect: over every network by the agents' wire, and at their hosts by all that
 * shows whether these live without an agent.
 */
export class OwnProbes {
  private readonly runs = new Map<string, ProbeRun>();
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
    for (const [node, run] of this.runs)
      if (!wanted.has(node)) {
        run.timer?.cancel();
        this.runs.delete(node);
        run.host.rest();
        this.signs.set(node, { echoedAt: run.echoedAt, host: run.host });
      }
    const now = this.clock.monotonicMs();
    for (const [node, { echoedAt, host }] of this.signs)
      if (now - Math.max(host.latestAt, ...echoedAt.values()) > SIGN_KEPT) this.signs.delete(node);
    const suspected: ProbeTarget[] = [];
    for (const target of targets) {
      const known = this.runs.get(target.node);
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
    const run = this.runs.get(node);
    if (!run) return 'unknown';
    if (this.echoedWithin(run, now, freshness).length > 0) return 'echo';
    const unanswered = run.unansweredAt !== undefined && now - run.unansweredAt < freshness;
    return unanswered && run.host.sshIsKnown ? 'silent' : 'unknown';
  }

  evidence(node: string, now: number, freshness: number): OwnProbe | undefined {
    const run = this.runs.get(node);
    if (!run) return undefined;
    const at = [...run.echoedAt.values(), run.unansweredAt, run.learntAt].filter((x) => x !== undefined);
    return {
      echo: this.echoedWithin(run, now, freshness),
      ...run.host.read(now),
      by: this.parts.instance,
      spoke: [...this.parts.spoke(node)],
      ageMs: at.length === 0 ? 0 : Math.max(0, Math.round(now - Math.max(...at))),
    };
  }

  private echoedWithin(run: ProbeRun, now: number, freshness: number): string[] {
    return [...run.echoedAt].filter(([, at]) => now - at < freshness).map(([network]) => network);
  }

  /** @param delay ms until the first datagram */
  private begin(target: ProbeTarget, delay: number): void {
    const run: ProbeRun = {
      target,
      echoedAt: new Map(),
      host: new HostSigns(),
      notBefore: new Map(),
      rounds: 0,
      ...this.signs.get(target.node),
    };
    this.signs.delete(target.node);
    this.runs.set(target.node, run);
    if (delay === 0) this.round(run);
    else run.timer = this.clock.after(delay, () => this.round(run));
  }

  private round(run: ProbeRun): void {
    const { node, networks, port, limit, round } = run.target;
    run.timer = this.clock.after(round, () => this.round(run));
    const names = Object.keys(networks).sort();
    const echoes = (): void =>
      names.forEach((network, i) => this.echoes.ask(node, network, i, networks[network] as string, port, limit));
    const agents = (): void => names.forEach((network, i) => this.askAgentPort(run, network, i));
    if (run.rounds++ === 0) {
      echoes();
      agents();
      this.askHost(run);
      return;
    }
    // A kernel says once a second that nobody listens: to the first that asks, which must be one that can be told.
    agents();
    this.clock.soon(() => {
      if (this.runs.get(node) !== run) return;
      echoes();
      this.askHost(run);
    });
  }

  private askAgentPort(run: ProbeRun, network: string, index: number): void {
    const { node, networks, port, limit } = run.target;
    const bytes = this.echoes.question(node, index);
    const ask = (): Promise<PortSign> => this.parts.net.agentPort(networks[network] as string, port, bytes, limit);
    // In each round, also while the one before is waited for.
    this.ask(run, `agent ${network} ${run.rounds}`, ask, (host, sign, now) => host.foundAgentPort(sign, now));
  }

  private askHost(run: ProbeRun): void {
    const { ssh, limit } = run.target;
    if (!ssh) return;
    const { net } = this.parts;
    this.ask(
      run,
      'ssh',
      () => net.sshSign(ssh.host, ssh.port, limit),
      (host, sign, now) => host.foundSsh(sign, now),
    );
    this.ask(
      run,
      'icmp',
      () => net.ping(ssh.host, limit),
      (host, sign, now) => host.foundIcmp(sign, now),
    );
    this.ask(
      run,
      'port',
      () => net.unusedPort(ssh.host, UNUSED_PORT, limit),
      (host, sign, now) => host.foundPort(sign, now),
    );
  }

  /** Not while it is being asked already, nor soon after an answer that tells all that this can tell. */
  private ask<S extends string>(
    run: ProbeRun,
    what: string,
    ask: () => Promise<S>,
    found: (host: HostSigns, sign: S, now: number) => void,
  ): void {
    const { node } = run.target;
    if (this.clock.monotonicMs() < (run.notBefore.get(what) ?? -Infinity)) return;
    run.notBefore.set(what, Infinity);
    void ask().then((sign) => {
      const now = this.clock.monotonicMs();
      if (rested.has(sign)) run.notBefore.set(what, now + PAUSE);
      else run.notBefore.delete(what);
      const isProbed = this.runs.get(node) === run;
      // Who is not suspect any more may be so again before the sign is old; that there was none says nothing then.
      if (!isProbed && noSign.has(sign)) return;
      const known = this.runs.get(node);
      found((known ?? this.signOf(node)).host, sign, now);
      if (!known) return;
      known.learntAt = now;
      this.parts.changed(node);
    });
  }

  private onEcho({ node, network, echoed }: EchoAnswer): void {
    const run = this.runs.get(node);
    if (!run) {
      // It was asked while it was suspect, and may be so again before the echo is old.
      if (echoed) this.signOf(node).echoedAt.set(network, this.clock.monotonicMs());
      return;
    }
    if (echoed) {
      run.echoedAt.set(network, this.clock.monotonicMs());
      run.host.echoed();
    } else run.unansweredAt = this.clock.monotonicMs();
    this.parts.changed(node);
  }

  private signOf(node: string): Signs {
    let sign = this.signs.get(node);
    if (!sign) this.signs.set(node, (sign = { echoedAt: new Map(), host: new HostSigns() }));
    return sign;
  }
}
