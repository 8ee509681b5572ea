import type { Clock, LifeSigns, LifeChannel, LifeObservation } from '#contracts';
import { HostSigns } from '../probe/host-signs.js';

/** ms between two questions to the same observer about a suspect. */
const PERIOD = 2_000;
/** ms after which one who is still silent is asked about less often, and the period then. */
const SETTLED_AFTER = 60_000;
const SETTLED_PERIOD = 5_000;
/** ms after which a look says nothing of the present: only the signs of life in it are kept, see `SIGN_KEPT`. */
const OBSERVATION_FRESH = 12_000;

export interface AskedObservationsParts {
  clock: Clock;
  /** Who is to be asked now. */
  observersOf: (node: string) => readonly string[];
  /** What this observer finds now; undefined: it could not look, or gave no answer. Never rejects. */
  ask: (observer: string, node: string) => Promise<{ signs: LifeSigns; ageMs: number } | undefined>;
  /** By which channels the host has shown this observer that it lives. */
  spoke: (observer: string, node: string) => readonly LifeChannel[];
  /** Something was learnt of this node. */
  changed: (node: string) => void;
}

interface Observer {
  host: HostSigns;
  answeredAt: number;
  busy: boolean;
}

interface Asked {
  since: number;
  /** When they are asked again. */
  nextAt: number;
  observers: Map<string, Observer>;
  /** When nobody wanted to know any more; undefined: somebody does. */
  endedAt?: number;
}

/**
 * What nodes find of suspects that are on their own peer lists: the monitor is one program in one place, and what is
 * filtered from there is not silent everywhere. Times are monotonic ms.
 */
export class AskedObservations {
  private readonly nodes = new Map<string, Asked>();

  constructor(private readonly p: AskedObservationsParts) {}

  /** Exactly these are asked about from now on. */
  watch(targets: readonly { node: string }[]): void {
    const now = this.p.clock.monotonicMs();
    const wanted = new Set(targets.map((t) => t.node));
    for (const [node, asked] of this.nodes) if (!wanted.has(node)) asked.endedAt ??= now;
    for (const node of wanted) {
      const known = this.nodes.get(node);
      if (known && known.endedAt === undefined) continue;
      // What was found before it was heard again is as good as not tried; signs are kept.
      for (const o of known?.observers.values() ?? []) {
        o.host.echoed();
        o.host.rest();
      }
      this.nodes.set(node, { since: now, nextAt: now, observers: known?.observers ?? new Map() });
    }
    this.step();
  }

  /** Asks whom it is time to ask. */
  step(): void {
    const now = this.p.clock.monotonicMs();
    for (const [node, asked] of this.nodes) {
      if (asked.endedAt !== undefined) {
        if (now - asked.endedAt > OBSERVATION_FRESH) this.nodes.delete(node);
        continue;
      }
      if (now < asked.nextAt) continue;
      asked.nextAt = now + (now - asked.since < SETTLED_AFTER ? PERIOD : SETTLED_PERIOD);
      for (const observer of this.p.observersOf(node)) {
        const known = asked.observers.get(observer);
        const o = known ?? { host: new HostSigns(), answeredAt: -Infinity, busy: false };
        if (!known) asked.observers.set(observer, o);
        if (!o.busy) void this.ask(asked, observer, node, o);
      }
    }
  }

  /** What is known of a node by who was asked. */
  observations(node: string, now: number): LifeObservation[] {
    const asked = this.nodes.get(node);
    if (!asked || asked.endedAt !== undefined) return [];
    return [...asked.observers].flatMap(([by, { host, answeredAt }]): LifeObservation[] => {
      if (now - answeredAt > OBSERVATION_FRESH) host.rest();
      const signs = host.read(now);
      const isKnown = Object.values(signs).some((sign) => sign !== 'not-tried');
      return isKnown ? [{ by, ...signs, spoke: [...this.p.spoke(by, node)] }] : [];
    });
  }

  private async ask(asked: Asked, observer: string, node: string, o: Observer): Promise<void> {
    o.busy = true;
    const found = await this.p.ask(observer, node);
    o.busy = false;
    if (!found) return;
    const at = this.p.clock.monotonicMs() - found.ageMs;
    // It was heard meanwhile: what was found before says nothing of the present.
    if (asked.endedAt !== undefined) return;
    o.answeredAt = at;
    o.host.foundSsh(found.signs.ssh, at);
    o.host.foundIcmp(found.signs.icmp, at);
    o.host.foundPort(found.signs.port, at);
    o.host.foundAgentPort(found.signs.agentPort, at);
    this.p.changed(node);
  }
}
