import { isIP } from 'node:net';
import type { Clock } from '#contracts/ports/clock.js';
import { UNUSED_PORT, withoutSilence } from '#contracts/wire/life-signs.js';
import type { LifeAnswer, LifeQuestion, LifeUnable, NetworkLifeSigns } from '#contracts/wire/life-question.js';
import type { HostProbes } from '#probe/host-probes.js';
import { MOST_WAITED } from '#probe/port-sign.js';
import type { KnownPeers } from '../peers/known-peers.js';

/** Peers that are probed side by side. */
const MOST_AT_ONCE = 4;
/** Peers that are begun to be probed in a second. */
const MOST_A_SECOND = 8;
/** ms for which what was found answers later questions: no peer is asked more often, whoever asks us how often. */
const KEPT = 1_000;

export interface PeerLifeProbesParts {
  node: string;
  known: Pick<KnownPeers, 'list' | 'shared' | 'addressOf'>;
  probes: HostProbes;
  /** A datagram as the agent of this peer gets them. */
  datagram: (peer: string, network: string) => Buffer;
  isLeaving: () => boolean;
  clock: Clock;
}

interface LifeProbe {
  sshPort: number;
  networks: Promise<Record<string, NetworkLifeSigns>>;
  /** The loop did not run meanwhile: an answer may have come and gone unread. */
  void: boolean;
  endedAt?: number;
}

/**
 * Looks for signs of life at peers whose agents are silent, when a detector asks. A stranger who could ask it would
 * have no port scanner: it looks at nobody but the peers on its own list, at the addresses that stand there, and not
 * often.
 */
export class PeerLifeProbes {
  private readonly lifeProbes = new Map<string, LifeProbe>();
  private begun: number[] = [];

  constructor(private readonly p: PeerLifeProbesParts) {}

  /** Never rejects. */
  async answer(q: LifeQuestion): Promise<LifeAnswer> {
    const unable = this.unable(q);
    if (unable !== undefined) return { ...this.head(q), ageMs: 0, networks: {}, unable };
    const probe = this.lifeProbes.get(q.target) ?? this.begin(q);
    const networks = await probe.networks;
    const ageMs = Math.max(0, Math.round(this.p.clock.monotonicMs() - (probe.endedAt ?? 0)));
    return { ...this.head(q), ageMs, networks };
  }

  /** Our own loop did not run for too long: that nothing came says nothing. */
  stoodStill(): void {
    for (const probe of this.lifeProbes.values()) if (probe.endedAt === undefined) probe.void = true;
  }

  private unable({ target, sshPort }: LifeQuestion): LifeUnable | undefined {
    const { clock, isLeaving, known } = this.p;
    if (isLeaving()) return 'leaving';
    if (!known.list?.peers.some((peer) => peer.name === target)) return 'not-a-peer';
    const now = clock.monotonicMs();
    for (const [peer, { endedAt }] of this.lifeProbes)
      if (endedAt !== undefined && now - endedAt >= KEPT) this.lifeProbes.delete(peer);
    const same = this.lifeProbes.get(target);
    if (same) return same.sshPort === sshPort ? undefined : 'busy';
    this.begun = this.begun.filter((at) => now - at < 1_000);
    const running = [...this.lifeProbes.values()].filter((l) => l.endedAt === undefined);
    return running.length >= MOST_AT_ONCE || this.begun.length >= MOST_A_SECOND ? 'busy' : undefined;
  }

  private head({ nonce, target }: LifeQuestion): Pick<LifeAnswer, 'node' | 'nonce' | 'target'> {
    return { node: this.p.node, nonce, target };
  }

  private begin(q: LifeQuestion): LifeProbe {
    const { clock } = this.p;
    this.begun.push(clock.monotonicMs());
    const probe: LifeProbe = { sshPort: q.sshPort, void: false, networks: Promise.resolve({}) };
    const ended = (found: Record<string, NetworkLifeSigns>): Record<string, NetworkLifeSigns> => {
      probe.endedAt = clock.monotonicMs();
      return probe.void ? unheard(found) : found;
    };
    // Where a process cannot be started nothing was looked at; the next question looks anew.
    probe.networks = this.probe(q).then(ended, () => ended({}));
    this.lifeProbes.set(q.target, probe);
    return probe;
  }

  private async probe({ target, sshPort, withinMs }: LifeQuestion): Promise<Record<string, NetworkLifeSigns>> {
    const { clock, datagram, known, probes } = this.p;
    const limit = Math.min(MOST_WAITED, withinMs);
    let late = (): void => undefined;
    const deadline = new Promise<'not-tried'>((resolve) => (late = () => resolve('not-tried')));
    const timer = clock.after(withinMs, late);
    const intime = <S>(sign: Promise<S>): Promise<S | 'not-tried'> => Promise.race([sign, deadline]);
    const found = (known.shared.get(target) ?? []).map(async (network): Promise<[string, NetworkLifeSigns][]> => {
      const address = known.addressOf(target, network);
      // Only literal addresses: a resolver could hold the loop up.
      if (address === undefined || isIP(address) === 0 || !known.list) return [];
      const [ssh, icmp, port, agentPort] = await Promise.all([
        intime(probes.sshSign(address, sshPort, limit)),
        intime(probes.ping(address, limit)),
        intime(probes.unusedPort(address, UNUSED_PORT, limit)),
        intime(probes.agentPort(address, known.list.port, datagram(target, network), limit)),
      ]);
      return [[network, { address, ssh, icmp, port, agentPort }]];
    });
    const byNetwork = (await Promise.all(found)).flat();
    timer.cancel();
    return Object.fromEntries(byNetwork);
  }
}

/** Of all networks. */
const unheard = (found: Record<string, NetworkLifeSigns>): Record<string, NetworkLifeSigns> =>
  Object.fromEntries(
    Object.entries(found).map(([network, signs]) => [network, { address: signs.address, ...withoutSilence(signs) }]),
  );
