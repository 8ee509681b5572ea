import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  PERMITS_KEY,
  RESERVATIONS_KEY,
  isOpenIncident,
  isEndedJob,
  type ClusterSettings,
  type IncidentRecord,
  type NodeRecord,
  type StormView,
  type Verdict,
} from '#contracts';
import { isSilent } from '#domain/verdict/latest-verdict.js';
import { ServiceContext } from '#service';
import { placeBook, placeText, type PlaceBook } from '../power/power-place.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { AgeBook } from '../ages/age-book.js';
import { addressesOf, brokerHosts, hostOf } from './broker-hosts.js';
import { aboutNode, decideTogether, eachRecord } from '../plan/each-record.js';
import type { FailRecord } from '../plan/intent.js';
import { withCarried } from '../plan/incidents/carried-evidence.js';
import { fencersOutside } from './fencers-outside.js';
import { lifeSign, type GateFacts } from '#domain/incident/gates.js';
import { PowerEvidence } from './power-evidence.js';
import type { PermitsFacts } from '#domain/incident/permits.js';
import {
  brakeFigures,
  hasStorms,
  isStormKnown,
  permitsFacts,
  silentIn,
  stormFacts,
  stormKeys,
  stormsSeen,
  stormViews,
  type StormSight,
} from '../plan/incidents/storm-facts.js';
import type { Fleet } from '../snapshot/fleet.js';
import { FleetSource } from '../snapshot/fleet-source.js';

/** Of all nodes: where their power devices are, and whose addresses a server of the bus may have. */
interface Places {
  /** Monotonic ms. */
  readonly at: number;
  readonly book: PlaceBook;
  readonly hosts: readonly NodeRecord[];
  /** Of which that cannot be said: they are left out, as a record that cannot be read is. */
  readonly failed: readonly FailRecord[];
}

/** What names stand for may have changed after this, ms, though no node has. */
const PLACES_MS = 5_000;

/**
 * Gathers what the gates look at: what has to be read live first, and then one snapshot, by this process's own clock. What
 * is not known is left out.
 */
@Injectable()
export class GateFactsService implements OnModuleInit {
  private readonly hungSince: AgeBook;
  private places: Places | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly power: PowerEvidence,
    private readonly names: KnownNames,
    private readonly fleets: FleetSource,
  ) {
    this.hungSince = new AgeBook(context.clock);
    this.keepAges(this.fleets.now());
    store.permits.view.onChange(() => this.keepAges(this.fleets.now()));
    store.nodes.view.onChange(() => (this.places = undefined));
    // A node that was heard in between, or is gone, has not hung all the while.
    store.nodes.view.onChange((name, node) => {
      if (!isSilent(node?.verdict?.verdict)) this.hungSince.forget(name);
    });
  }

  /** Looked up before the first incident asks. */
  onModuleInit(): void {
    for (const server of this.context.config.nats.servers) this.names.of(hostOf(server));
  }

  async gather(
    node: NodeRecord,
    verdict: Verdict | undefined,
    o: { cause: 'auto' | 'manual'; degraded?: boolean; incident?: IncidentRecord | undefined },
  ): Promise<GateFacts> {
    const [stored, reservedBy] = await Promise.all([
      this.store.incidents.bucket.get(node.name),
      this.reservedBy(node.name),
    ]);
    // Nothing is awaited from here on: all that the views show is of one moment, and no older than what was read.
    const now = this.seen();
    const { beacon, fresh, sighted } = now.detector;
    const settings = now.knowsSettings ? now.settings : undefined;
    const open = stored?.value;
    return {
      cause: o.cause,
      degraded: o.degraded === true || o.incident?.degraded === true,
      node,
      incident: o.incident,
      open: open !== undefined && isOpenIncident(open) ? open : undefined,
      detector: beacon && { fresh, sighted, members: beacon.members, reporters: beacon.sightedReporters },
      verdict,
      settings,
      reservedBy,
      ownReportAgeMs: now.heard(node.name)?.ago,
      ...withCarried({ hungForMs: this.hungFor(node, verdict, settings), power: this.power.of(node.name) }, o.incident),
      storm: stormFacts(now, now.storms),
      broker: brokerHosts(
        {
          advertised: this.context.bus.serverInfo?.connectUrls ?? [],
          configured: this.context.config.nats.servers,
          addressesOf: (name) => this.names.of(name),
        },
        node,
        silentIn(now),
        this.placesNow().hosts,
      ),
      otherFencers: now.workers && fencersOutside(now.workers, node),
      sharedPlace: this.sharedPlace(node),
      wallNow: now.wallMs,
    };
  }

  /** As {@link permitsFacts}, as of now. */
  permits(newId: () => string): PermitsFacts | undefined {
    const now = this.seen();
    return permitsFacts(now, now.storms, newId);
  }

  /** Permits, open incidents and storms, by this process's clock and the last checkpoint. */
  private keepAges(now: StormSight): void {
    this.fleets.storms.seeKeys(stormKeys(now), now.permits.get(PERMITS_KEY)?.value.ages);
  }

  /** As {@link stormViews}. */
  storms(): StormView[] {
    // Most days there is none: what the others are doing is not counted for nothing.
    if (!hasStorms(this.fleets.now())) return [];
    const now = this.seen();
    return stormViews(now, now.storms);
  }

  /** No gap hides who of them is back. */
  get knowsStorms(): boolean {
    return isStormKnown(this.fleets.now());
  }

  /** As shown by status: how many nodes are unhealthy now, and how many may be. */
  brake(): { candidates: number; limit: number } {
    const now = this.seen();
    return brakeFigures(now, now.storms);
  }

  /** Members that are silent as of now have an age from now on. */
  seeSilent(): void {
    this.fleets.storms.seeSilent(silentIn(this.fleets.now()).map((n) => n.name));
  }

  /** What is seen now has an age from now on. Through a gap what is not seen keeps its own, and nothing new has one. */
  seen(): Fleet {
    const now = this.fleets.now();
    const seen = stormsSeen(now);
    if (seen !== undefined) this.fleets.storms.see(seen);
    return now;
  }

  private hungFor(
    node: NodeRecord,
    verdict: Verdict | undefined,
    settings: ClusterSettings | undefined,
  ): number | undefined {
    if (verdict !== undefined && lifeSign({ node, verdict, settings }).kind === 'hung')
      return this.hungSince.see(node.name);
    this.hungSince.forget(node.name);
    return undefined;
  }

  /** A live read: a job that reserved the node a moment ago must be seen. */
  private async reservedBy(node: string): Promise<NonNullable<GateFacts['reservedBy']>> {
    const held = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.held[node];
    if (held?.edit !== undefined) return { known: true, by: 'an edit of several nodes' };
    // Whoever claimed the node relies on it that a dead one is fenced.
    if (held?.job === undefined) return { known: true };
    const job = (await this.store.jobs.bucket.get(held.job))?.value;
    if (job !== undefined && isEndedJob(job)) return { known: true };
    return job === undefined ? { known: true, by: `job ${held.job}` } : { known: true, job };
  }

  /** A device of the node that is where another node has its own, and which; undefined: none. */
  sharedPlace(node: NodeRecord): GateFacts['sharedPlace'] {
    const { book } = this.placesNow();
    for (const device of node.powerLevels.flat()) {
      const other = book.conflictOf(node.name, device);
      if (other !== undefined) return { device: device.id, place: placeText(device), node: other.node };
    }
    return undefined;
  }

  /** Other nodes of which it cannot be said where their power devices are, or their addresses. */
  unplaced(): readonly FailRecord[] {
    return this.placesNow().failed;
  }

  private placesNow(): Places {
    const at = this.context.clock.monotonicMs();
    if (this.places === undefined || at - this.places.at > PLACES_MS) {
      const all = this.store.nodes.view.entries();
      const places = decideTogether(all, aboutNode, (some) =>
        placeBook(
          some.map((e) => e.value),
          (name) => this.names.of(name),
        ),
      );
      const hosts = eachRecord(all, aboutNode, ({ value }) => (addressesOf(value).length > 0 ? [value] : []));
      this.places = { at, book: places.made, hosts: hosts.made, failed: [...places.failed, ...hosts.failed] };
    }
    return this.places;
  }

  /** Undefined: it is not known which are alive. */
  fencersOutside(node: NodeRecord): number | undefined {
    return this.store.workers.stale ? undefined : fencersOutside(this.store.workers.live(), node);
  }
}
