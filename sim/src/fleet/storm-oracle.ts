import type { IncidentRecord, NodeRecord, StormMember, StormTrip, VerdictKind } from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import { isSilent } from '#domain/verdict/latest-verdict.js';
import type { SentCommand } from '../hands/played-power.js';
import type { Findings } from './fleet-rules.js';
import type { PlayedHost } from './played-host.js';

export interface StormWorld {
  /** So many may be unhealthy at once. */
  brake: number;
  hosts: ReadonlyMap<string, PlayedHost>;
  /** The monitor's last word of a machine is that it is well. */
  isCalledUp: (node: string) => boolean;
  /** As last written. */
  nodes: ReadonlyMap<string, NodeRecord>;
  /** Storms that stand by the record. */
  trips: () => readonly StormTrip[];
}

/** A storm that will heal. */
interface Storm {
  /** Who fell silent, and will come back. */
  nodes: ReadonlySet<string>;
  sinceMs: number;
  /** Who of them has not been heard again. */
  unheard: Set<string>;
  /** Whom the monitor has called silent since: where it was away, it has seen no other. */
  called: Set<string>;
}

/** Storms that heal, and whom an off may reach meanwhile. Times in virtual ms. */
export class StormOracle {
  private storms: Storm[] = [];
  /** Incident → when it was written first. */
  private readonly begunMs = new Map<string, number>();

  constructor(
    private readonly f: Findings,
    private readonly w: StormWorld,
  ) {}

  /** They are cut off together, and will come back by themselves. */
  begins(nodes: readonly string[]): void {
    const speaking = nodes.filter((n) => this.w.hosts.get(n)?.speaks === true);
    // Who is cordoned is no member of the fleet: the brake does not count it.
    const members = speaking.filter((n) => {
      const record = this.w.nodes.get(n);
      return record !== undefined && isMember(record);
    });
    if (members.length <= this.w.brake) return;
    this.storms.push({
      nodes: new Set(speaking),
      sinceMs: this.f.now(),
      unheard: new Set(speaking),
      called: new Set(),
    });
  }

  /** The monitor's word of a machine. */
  called(node: string, verdict: VerdictKind): void {
    for (const { nodes, called } of this.storms)
      if (isSilent(verdict) && nodes.has(node)) called.add(node);
      // It judges nobody: whom it calls silent after that is all that anybody knows of the storm.
      else if (verdict === 'UNKNOWN') called.delete(node);
  }

  heard(node: string): void {
    for (const { unheard } of this.storms) unheard.delete(node);
  }

  /**
   * A storm is over where all of it were heard again, are called well, and are held by no storm that the product knows:
   * who falls silent after that does so for a cause of its own.
   */
  end(): void {
    this.storms = this.storms.filter(
      ({ nodes, unheard }) => unheard.size > 0 || [...nodes].some((n) => !this.w.isCalledUp(n) || this.isTripped(n)),
    );
  }

  incidentWritten(i: IncidentRecord, before: IncidentRecord | undefined): void {
    if (before?.id !== i.id) this.begunMs.set(i.id, this.f.now());
  }

  /** An off has left a fencer's host. */
  judgeOff(node: string, i: IncidentRecord, { fencer }: SentCommand): void {
    if (isPastStorm(i)) return;
    const begunMs = this.begunMs.get(i.id) ?? 0;
    // One that was dead to all before the storm began is no member of it, whatever it does by now.
    const storm = this.storms.find((s) => s.nodes.has(node) && s.sinceMs < begunMs);
    if (storm === undefined || !this.countsAsStorm(storm)) return;
    const forMs = Math.round(this.f.now() - storm.sinceMs);
    if (this.w.hosts.get(node)?.state === 'up')
      this.f.violate('storm-off', `${fencer} gave off to ${node}, ${forMs} ms into a storm of ${storm.nodes.size}`);
  }

  /** The product knows it, or has to: whom a person has cordoned meanwhile the brake does not count. */
  private countsAsStorm({ nodes, called }: Storm): boolean {
    const counted = [...called].filter((n) => this.w.nodes.get(n)?.cordon === undefined);
    return counted.length > this.w.brake || [...nodes].some((n) => this.isTripped(n));
  }

  private isTripped(node: string): boolean {
    const member = (t: StormTrip): StormMember | undefined => t.members[node];
    return this.w.trips().some((t) => member(t) !== undefined && member(t)?.released === undefined);
  }
}

/** A person has let it go although many are silent, or ordered off a machine that is not silent itself. */
const isPastStorm = ({ cause, wantedAt, released }: IncidentRecord): boolean =>
  released?.gates.some((gate) => gate === 'BRAKE' || gate === 'DOMAIN') === true ||
  (cause === 'manual' && isHeardVerdict(wantedAt));
