import type { Clock, OwnProbe, SshSign, Timer } from '#contracts';
import type { ProbeKeys } from './fleet-keys.js';
import { startGap } from './limits.js';
import type { EchoAnswer, EchoProbes, ProbeNet } from './probe-net.js';

/** ms until ssh is tried again where it has just answered: a living host's log is not to be filled. */
const SSH_PAUSE = 2000;

/**
 * ms for which a banner stays a sign of life: one connection that is lost on the way, or that a busy ssh server turns
 * away, must not look as if the host had died just then. By then several more were tried.
 */
const BANNER_KEPT = 10_000;

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
  ssh: SshSign;
  sshAt?: number;
  bannerAt?: number;
  sshBusy: boolean;
}

export interface OwnProbesParts {
  instance: string;
  keys: ProbeKeys;
  /** Something was learnt of this node. */
  changed: (node: string) => void;
  failed: (reason: string) => void;
  clock: Clock;
  net: ProbeNet;
}

/** The monitor's own look at nodes that are suspect: over every network by the agents' wire, and at their ssh. */
export class OwnProbes {
  private readonly looks = new Map<string, Look>();
  /** Of those that are not looked at now: who is suspected again a moment later has not lost its last sign of life. */
  private readonly signs = new Map<string, Pick<Look, 'echoedAt' | 'bannerAt'>>();
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
        this.signs.set(node, {
          echoedAt: look.echoedAt,
          ...(look.bannerAt !== undefined && { bannerAt: look.bannerAt }),
        });
      }
    for (const [node, { echoedAt, bannerAt = -Infinity }] of this.signs)
      if (this.clock.monotonicMs() - Math.max(bannerAt, ...echoedAt.values()) > BANNER_KEPT) this.signs.delete(node);
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
    return unanswered && look.ssh !== 'not-tried' ? 'silent' : 'unknown';
  }

  evidence(node: string, now: number, freshness: number): OwnProbe | undefined {
    const look = this.looks.get(node);
    if (!look) return undefined;
    const at = [...look.echoedAt.values(), look.unansweredAt, look.sshAt].filter((x) => x !== undefined);
    return {
      echo: this.echoedWithin(look, now, freshness),
      ssh: look.bannerAt !== undefined && now - look.bannerAt < BANNER_KEPT ? 'banner' : look.ssh,
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
      ssh: 'not-tried',
      sshBusy: false,
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
    names.forEach((network, i) => this.echoes.ask(node, network, i, networks[network] as string, port, limit));
    void this.trySsh(look);
  }

  private async trySsh(look: Look): Promise<void> {
    const { ssh, node, limit } = look.target;
    const rested = look.ssh !== 'banner' || this.clock.monotonicMs() - (look.sshAt ?? 0) >= SSH_PAUSE;
    if (!ssh || look.sshBusy || !rested) return;
    look.sshBusy = true;
    look.ssh = await this.parts.net.sshSign(ssh.host, ssh.port, limit);
    look.sshAt = this.clock.monotonicMs();
    if (look.ssh === 'banner') (this.looks.get(node) ?? this.signOf(node)).bannerAt = look.sshAt;
    look.sshBusy = false;
    if (this.looks.has(node)) this.parts.changed(node);
  }

  private onEcho({ node, network, echoed }: EchoAnswer): void {
    const look = this.looks.get(node);
    if (!look) {
      // It was asked while it was suspect, and may be so again before the echo is old.
      if (echoed) this.signOf(node).echoedAt.set(network, this.clock.monotonicMs());
      return;
    }
    if (echoed) look.echoedAt.set(network, this.clock.monotonicMs());
    else look.unansweredAt = this.clock.monotonicMs();
    this.parts.changed(node);
  }

  private signOf(node: string): Pick<Look, 'echoedAt' | 'bannerAt'> {
    let sign = this.signs.get(node);
    if (!sign) this.signs.set(node, (sign = { echoedAt: new Map() }));
    return sign;
  }
}
