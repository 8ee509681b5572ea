import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  PERMITS_KEY,
  RESERVATIONS_KEY,
  brakeLimit,
  isOpenIncident,
  isEndedJob,
  type IncidentRecord,
  type NodeRecord,
  type StormView,
  type Verdict,
  type VerdictKind,
} from '#contracts';
import { isInFailureDomain, isMember } from '#domain/node/membership.js';
import { isSilent, latestVerdict } from '#domain/verdict/latest-verdict.js';
import { wasCommanded } from '#domain/incident/phases.js';
import { ServiceContext } from '#service';
import { DetectorView } from '../verdicts/detector-view.js';
import { ReportsView } from '../reports/reports-view.js';
import { placeBook, placeText, type PlaceBook } from '../power/power-place.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { AgeBook } from '../ages/age-book.js';
import { brokerHosts, hostOf } from './broker-hosts.js';
import { withCarried } from '../plan/incidents/carried-evidence.js';
import { fencersOutside } from './fencers-outside.js';
import { lifeSign, type GateFacts } from '#domain/incident/gates.js';
import { PowerEvidence } from './power-evidence.js';
import { CheckpointedAges } from '../ages/checkpointed-ages.js';
import { calmKey, incidentKey, nothingToKeep, permitKey, tripKey } from '#domain/incident/permits.js';
import { candidates, type Grant, type Latch, type StormFacts } from '#domain/incident/storm-counts.js';
import { viewOf } from '#domain/incident/storm.js';
import { countsForNewStorm, isHeldAlive, isUnrecovered, memberState } from '#domain/incident/candidates.js';

/** Silent when a blindness ends: also who cannot be judged yet. */
const unheard: readonly (VerdictKind | undefined)[] = ['SUSPECT', 'DOWN', 'UNKNOWN'];

/** What names stand for may have changed after this, ms, though no node has. */
const PLACES_MS = 5_000;

/** Gathers what the gates look at, from live views and this process's own clock. What is not known is left out. */
@Injectable()
export class GateFactsService implements OnModuleInit {
  private readonly silentSince: AgeBook;
  private readonly ages: CheckpointedAges;
  private readonly hungSince: AgeBook;
  private places: { at: number; book: PlaceBook } | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly reports: ReportsView,
    private readonly power: PowerEvidence,
    private readonly names: KnownNames,
  ) {
    this.silentSince = new AgeBook(context.clock);
    this.ages = new CheckpointedAges(context.clock);
    this.hungSince = new AgeBook(context.clock);
    this.keepAges();
    store.permits.view.onChange(() => this.keepAges());
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
    const beacon = this.detector.beacon;
    const [stored, reservedBy] = await Promise.all([
      this.store.incidents.bucket.get(node.name),
      this.reservedBy(node.name),
    ]);
    const open = stored?.value;
    return {
      cause: o.cause,
      degraded: o.degraded === true || o.incident?.degraded === true,
      node,
      incident: o.incident,
      open: open !== undefined && isOpenIncident(open) ? open : undefined,
      detector: beacon && {
        fresh: this.detector.fresh,
        sighted: this.detector.sighted,
        members: beacon.members,
        reporters: beacon.sightedReporters,
      },
      verdict,
      settings: this.store.settings.view.live ? this.store.clusterSettings : undefined,
      reservedBy,
      ownReportAgeMs: this.reports.ageMs(node.name),
      ...withCarried({ hungForMs: this.hungFor(node, verdict), power: this.power.of(node.name) }, o.incident),
      storm: this.storm(),
      broker: brokerHosts(
        {
          advertised: this.context.bus.serverInfo?.connectUrls ?? [],
          configured: this.context.config.nats.servers,
          addressesOf: (name) => this.names.of(name),
        },
        node,
        this.silent().map((s) => s.node),
        this.store.nodes.view.entries().map((e) => e.value),
      ),
      otherFencers: this.fencersOutside(node),
      sharedPlace: this.sharedPlace(node),
      wallNow: this.context.clock.wallMs(),
    };
  }

  /** Of a permit, an open incident or a storm, by its key; one that this process has not seen is as young as can be. */
  ageMs(key: string): number {
    return this.ages.ageMs(key);
  }

  /** All ages, for who comes after. */
  checkpoint(): Record<string, number> {
    return this.ages.checkpoint();
  }

  /** For brake, domain, cap and flapping. Undefined while any view has a gap: unknown stops. */
  storm(): StormFacts | undefined {
    const { nodes: every, incidents, permits } = this.store;
    if (!every.view.live || !incidents.view.live || !permits.view.live) return undefined;
    if (permits.view.unreadable.has(PERMITS_KEY)) return undefined;
    this.keepAges();
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const domains: StormFacts['domains'] = {};
    for (const n of nodes) if (isInFailureDomain(n)) (domains[n.failureDomain] ??= { members: 0 }).members++;
    const grants: Grant[] = this.store.grantedPermits.map((g) => ({
      incident: g.incident,
      node: g.node,
      ageMs: this.ages.ageMs(permitKey(g.incident)),
    }));
    return {
      limits: this.store.clusterSettings.fencing.storm,
      members: nodes.filter(isMember).length,
      silent: this.silent().map(({ node, forMs }) => ({ node: node.name, domain: node.failureDomain, forMs })),
      unrecovered: this.store.incidents.view
        .entries()
        .filter(
          ({ key, value }) =>
            isUnrecovered(value) &&
            this.store.nodes.view.get(key)?.value.cordon === undefined &&
            countsForNewStorm(value, this.ages.ageMs(incidentKey(value.id))) &&
            !this.isHeldAlive(key, value),
        )
        .map((e) => e.key),
      grants,
      domains,
      domainOf: (name) => this.store.nodes.view.get(name)?.value.failureDomain,
      latch: this.latch(),
    };
  }

  /** As {@link nothingToKeep}; false while any view has a gap. What {@link storm} keeps the ages of is seen all the same. */
  nothingToKeep(): boolean {
    const { nodes, incidents, permits } = this.store;
    if (!nodes.view.live || !incidents.view.live || !permits.view.live) return false;
    if (permits.view.unreadable.has(PERMITS_KEY)) return false;
    this.keepAges();
    return nothingToKeep({
      permits: permits.view.get(PERMITS_KEY)?.value,
      open: incidents.view.entries().some((e) => isOpenIncident(e.value)),
      blindnessEnded: this.detector.blindnessEnded !== undefined,
      silent: () => this.silent().length,
    });
  }

  private latch(): Latch {
    const beacon = this.detector.current;
    const now = (name: string): VerdictKind | undefined => {
      const node = this.store.nodes.view.get(name)?.value;
      return node && latestVerdict(node, beacon);
    };
    const open = (name: string): IncidentRecord | undefined => {
      const i = this.store.incidents.view.get(name)?.value;
      return i !== undefined && isOpenIncident(i) ? i : undefined;
    };
    const commanded = this.store.incidents.view
      .entries()
      .filter((e) => isOpenIncident(e.value) && wasCommanded(e.value));
    return {
      trips: this.store.permits.view.get(PERMITS_KEY)?.value.trips ?? [],
      state: (name) => memberState(this.store.nodes.view.get(name)?.value, open(name), now(name)),
      sees: this.detector.settled,
      settling: this.detector.sighted && !this.detector.settled,
      calmMs: (trip) => this.ages.ageMs(calmKey(trip)),
      commanded: new Set(commanded.map((e) => e.key)),
      blindness: this.blindness(now),
      wallNow: this.context.clock.wallMs(),
    };
  }

  /** Once everyone is judged again: who is silent then. */
  private blindness(now: (node: string) => VerdictKind | undefined): Latch['blindness'] {
    const ended = this.detector.settled ? this.detector.blindnessEnded : undefined;
    if (ended === undefined) return undefined;
    const silent = this.store.nodes.view
      .entries()
      .filter((e) => isMember(e.value) && unheard.includes(now(e.key)))
      .map((e) => e.key);
    return { ...ended, silent };
  }

  /** Permits, open incidents and storms, by this process's clock and the last checkpoint. */
  private keepAges(): void {
    const { store } = this;
    const permits = store.permits.view.get(PERMITS_KEY)?.value;
    const open = store.incidents.view.entries().filter((e) => isOpenIncident(e.value));
    const keys = [
      ...store.grantedPermits.map((g) => permitKey(g.incident)),
      ...open.map((e) => incidentKey(e.value.id)),
      ...(permits?.trips ?? []).flatMap((t) => [tripKey(t), calmKey(t)]),
    ];
    this.ages.keep(keys, permits?.ages);
  }

  /** Those that stand, with their figures as of now. */
  storms(): StormView[] {
    // Most days there is none: what the others are doing is not counted for nothing.
    if ((this.store.permits.view.get(PERMITS_KEY)?.value.trips ?? []).length === 0) return [];
    const s = this.storm();
    const latch = s?.latch;
    if (s === undefined || latch === undefined) return [];
    return latch.trips.map((t) => viewOf(t, s, latch, this.ages.ageMs(tripKey(t))));
  }

  /** As shown by status: how many are in trouble now, and how many may be. */
  brake(): { candidates: number; limit: number } {
    const s = this.storm();
    return s === undefined
      ? { candidates: 0, limit: 0 }
      : { candidates: candidates(s).size, limit: brakeLimit(s.members, s.limits) };
  }

  /** Members that are silent as of now, with how long on this process's clock. Called each round, so that ages are true. */
  silent(): { node: NodeRecord; forMs: number }[] {
    const beacon = this.detector.current;
    const now = this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => isMember(n) && isSilent(latestVerdict(n, beacon)));
    this.silentSince.keep(now.map((n) => n.name));
    return now.map((node) => ({ node, forMs: this.silentFor(node.name) }));
  }

  /** Its incident may be older than this process's look at it. */
  private silentFor(name: string): number {
    const i = this.store.incidents.view.get(name)?.value;
    const known = i !== undefined && isOpenIncident(i) ? this.ages.ageMs(incidentKey(i.id)) : 0;
    return Math.max(this.silentSince.ageMs(name), known);
  }

  /** While no detector that sees the fleet is heard no verdict counts: then it is in trouble. */
  private isHeldAlive(name: string, i: IncidentRecord): boolean {
    const node = this.store.nodes.view.get(name)?.value;
    const now = node && this.detector.sighted ? latestVerdict(node, this.detector.beacon) : undefined;
    return isHeldAlive(
      i,
      now,
      this.store.grantedPermits.some((g) => g.incident === i.id),
    );
  }

  private hungFor(node: NodeRecord, verdict: Verdict | undefined): number | undefined {
    const settings = this.store.settings.view.live ? this.store.clusterSettings : undefined;
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
    const book = this.placesNow();
    for (const device of node.powerLevels.flat()) {
      const other = book.conflictOf(node.name, device);
      if (other !== undefined) return { device: device.id, place: placeText(device), node: other.node };
    }
    return undefined;
  }

  private placesNow(): PlaceBook {
    const now = this.context.clock.monotonicMs();
    if (this.places === undefined || now - this.places.at > PLACES_MS)
      this.places = {
        at: now,
        book: placeBook(
          this.store.nodes.view.entries().map((e) => e.value),
          (name) => this.names.of(name),
        ),
      };
    return this.places.book;
  }

  /** Undefined: it is not known which are alive. */
  fencersOutside(node: NodeRecord): number | undefined {
    return this.store.workers.stale ? undefined : fencersOutside(this.store.workers.live(), node);
  }
}
