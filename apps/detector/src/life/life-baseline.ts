import { isDeepStrictEqual } from 'node:util';
import {
  LifeChannels,
  lifePlace,
  UNUSED_PORT,
  type Clock,
  type DetectorCondition,
  type LifeChannel,
  type LifeSeen,
} from '#contracts';
import type { ProbeTarget } from '../probe/own-probe.js';
import type { ProbeNet } from '../probe/probe-net.js';

/** ms between two looks at a host that lives. */
const PERIOD = 6 * 3_600_000;
/** ms; the same at one that has shown nothing: a firewall may be opened for it. */
const PERIOD_WEAK = 5 * 60_000;
/** ms before the next looks where a channel did not speak, one after the other: it was lost, or it is filtered for good. */
const PERIODS_LACKING = [60_000, 5 * 60_000, 30 * 60_000];
/** ms before the next try where a channel did not speak: one datagram may be lost, a kernel answers one a second. */
const AGAIN = 1_500;
const TRIES = 3;
/** ms before a look that found less, could not be taken, or could not be put on record, is taken again. */
const SOON = 60_000;
/** Hosts that are looked at side by side. */
const MOST_AT_ONCE = 16;

/** A node as it is now. */
export interface LivingNode {
  target: ProbeTarget;
  /** Where its host is looked at. @default by the address and the ssh port of the target */
  place?: string;
  /** Its own reports come. */
  alive: boolean;
  /** What this observer has on record of it. */
  stored?: LifeSeen | undefined;
  /** By an admin: it needs no channel. */
  waived: boolean;
}

export interface LifeBaselineParts {
  clock: Clock;
  /** One try: the channels that speak, of those not found yet; undefined: nobody could look. */
  ask: (node: string, target: ProbeTarget, found: ReadonlySet<LifeChannel>) => Promise<LifeChannel[] | undefined>;
  random: () => number;
  /** Puts it on record. Rejects where it could not; it is then looked at, and put there, again later. */
  keep: (node: string, seen: Omit<LifeSeen, 'at'>) => Promise<void>;
  failed: (node: string, reason: unknown) => void;
}

interface Known {
  place: string;
  channels: readonly LifeChannel[];
  dueAt: number;
  /** The last life probe found less: it may have been at a host that was dying. */
  doubted?: true;
  /** So many whole life probes in a row in which a channel did not speak. */
  lacking?: number;
}

/** What a look found. */
interface Found {
  channels: LifeChannel[];
  /** Every channel spoke, or was tried as often as one is. */
  whole: boolean;
}

const placeOf = ({ place, target: { ssh } }: LivingNode): string | undefined =>
  ssh && (place ?? lifePlace(ssh.host, ssh.port));

/** Until the next look. @param lacking whole looks in a row, this one too, in which a channel did not speak */
function periodAfter(channels: readonly LifeChannel[], lacking: number): number {
  const period = channels.length === 0 ? PERIOD_WEAK : PERIOD;
  return lacking === 0 ? PERIOD : Math.min(period, PERIODS_LACKING[lacking - 1] ?? PERIOD);
}

/** The look of this process itself. */
export const askHost =
  (net: Pick<ProbeNet, 'sshSign' | 'ping' | 'unusedPort'>): LifeBaselineParts['ask'] =>
  async (_node, { ssh, limit }, found) => {
    if (!ssh) return [];
    const [banner, reply, port] = await Promise.all([
      found.has('ssh') || net.sshSign(ssh.host, ssh.port, limit),
      found.has('icmp') || net.ping(ssh.host, limit),
      found.has('port') || net.unusedPort(ssh.host, UNUSED_PORT, limit),
    ]);
    return channelsIn({ ssh: banner, icmp: reply, port });
  };

/** By what a host has shown that it lives. */
export function channelsIn(found: { ssh: unknown; icmp: unknown; port: unknown }): LifeChannel[] {
  const channels: LifeChannel[] = [];
  if (found.ssh === 'banner') channels.push('ssh');
  if (found.icmp === 'reply') channels.push('icmp');
  if (found.port === 'unreachable') channels.push('port');
  return channels;
}

/**
 * By which channels hosts that live have shown it: each is looked at when it is first heard at a place, and every six
 * hours. Only of such a channel means silence something when its node has fallen silent.
 */
export class LifeBaseline {
  private readonly known = new Map<string, Known>();
  private readonly busy = new Set<string>();
  private nodes: ReadonlyMap<string, LivingNode> = new Map();
  private stopped = false;

  constructor(private readonly p: LifeBaselineParts) {}

  stop(): void {
    this.stopped = true;
  }

  /** Begins what is due. @param nodes all that are watched */
  step(nodes: ReadonlyMap<string, LivingNode>): void {
    this.nodes = nodes;
    const now = this.p.clock.monotonicMs();
    for (const node of this.known.keys()) if (!nodes.has(node)) this.known.delete(node);
    for (const [name, node] of nodes) {
      const place = placeOf(node);
      if (place === undefined) continue;
      if (this.known.get(name)?.place !== place) this.known.set(name, this.first(place, node, now));
      const isDue = node.alive && now >= (this.known.get(name) as Known).dueAt;
      if (isDue && !this.busy.has(name) && this.busy.size < MOST_AT_ONCE) void this.probe(name, place, node.target);
    }
  }

  /** By which the host has shown that it lives, where it is now. */
  spoke(node: string): readonly LifeChannel[] {
    return this.known.get(node)?.channels ?? [];
  }

  /** Nodes that live, and whose hosts have been looked at and have shown nothing. */
  conditions(): DetectorCondition[] {
    const weak = [...this.nodes].filter(
      ([name, { alive, waived }]) =>
        alive && !waived && this.known.has(name) && this.known.get(name)?.dueAt !== 0 && this.spoke(name).length === 0,
    );
    return weak.map(([subject]) => ({
      code: 'life-sign-weak',
      subject,
      severity: 'warning',
      message: `Only the agent of ${subject} shows that it lives: its host answers no ssh, no ping and no closed UDP port from here. It is not fenced when the agent falls silent, until one of them is let through or an admin waives it.`,
    }));
  }

  /** One of which something is on record was looked at by a process before this one: not all of them at once. */
  private first(place: string, { stored }: LivingNode, now: number): Known {
    return stored?.place === place
      ? { place, channels: stored.channels, dueAt: now + PERIOD * this.p.random() }
      : { place, channels: [], dueAt: 0 };
  }

  private async probe(name: string, place: string, target: ProbeTarget): Promise<void> {
    this.busy.add(name);
    try {
      const found = await this.channelsOf(name, target);
      const node = this.nodes.get(name);
      // What fell silent meanwhile may have done so before it was asked.
      if (this.stopped || !node?.alive || placeOf(node) !== place) return;
      const before = this.known.get(name) as Known;
      const now = this.p.clock.monotonicMs();
      const { channels, whole } = found ?? { channels: [], whole: false };
      const isLess = before.channels.some((c) => !channels.includes(c));
      if (found === undefined || (isLess && !whole)) {
        this.known.set(name, { ...before, dueAt: now + SOON });
        return;
      }
      if (isLess && !before.doubted) {
        this.known.set(name, { ...before, dueAt: now + SOON, doubted: true });
        return;
      }
      const lacking = channels.length === LifeChannels.length ? 0 : (before.lacking ?? 0) + 1;
      const dueAt = now + (whole ? periodAfter(channels, lacking) * (0.9 + 0.2 * this.p.random()) : SOON);
      this.known.set(name, { place, channels, dueAt, lacking });
      if (node.stored?.place !== place || !isDeepStrictEqual(node.stored.channels, channels))
        await this.p.keep(name, { place, channels });
    } catch (e) {
      this.p.failed(name, e);
      const known = this.known.get(name);
      // Soon enough: this process knows it all the same.
      if (known) known.dueAt = this.p.clock.monotonicMs() + SOON;
    } finally {
      this.busy.delete(name);
    }
  }

  private async channelsOf(name: string, target: ProbeTarget): Promise<Found | undefined> {
    const found = new Set<LifeChannel>();
    let tries = 0;
    const isWhole = (): boolean => tries === TRIES || found.size === LifeChannels.length;
    while (!isWhole() && !this.stopped) {
      if (tries > 0) await new Promise<void>((resolve) => void this.p.clock.after(AGAIN, resolve));
      if (this.nodes.get(name)?.alive !== true) break;
      const channels = await this.p.ask(name, target, found);
      if (channels === undefined) break;
      tries++;
      for (const channel of channels) found.add(channel);
    }
    return tries > 0 ? { channels: [...found].sort(), whole: isWhole() } : undefined;
  }
}
