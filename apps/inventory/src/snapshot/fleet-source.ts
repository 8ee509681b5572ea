import { Injectable } from '@nestjs/common';
import type { LeaseRecord } from '#bus';
import { DATAGRAM_KEYS_KEY, RESERVATIONS_KEY, type Clock, type DatagramKeySet } from '#contracts';
import { AgentUsers } from '../agent-users/agent-users.js';
import { NatsUsers } from '../agent-users/nats-users.js';
import { ConductorService } from '../conductor/conductor.service.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { DegradedWatch } from '../nodes/degraded-watch.js';
import { IncidentAges } from '../power/incident-ages.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { ReportsView } from '../reports/reports-view.js';
import { StartFactsService } from '../reports/start-facts.js';
import { InventoryStore, type Table } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import { KnownNames } from '../store/known-names.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { ageMs, type AgeMs, type SightedMs } from './ages.js';
import type { Answers, DetectorNow, Fleet, Heard, Reading } from './fleet.js';
import { FlapWatch } from './flap-watch.js';
import { PeriodicReads } from './periodic-reads.js';
import { Records } from './records.js';
import { Refusals } from './refusals.js';
import { StormBook } from './storm-book.js';

const NO_ANSWERS: Answers = { leases: new Map() };

/** Makes snapshots of the store's views: only references, so that one a round costs nothing. */
@Injectable()
export class FleetSource {
  /** Of each view the records that were made of it last: they are the same until it changes. */
  private readonly made = new WeakMap<object, Records<unknown>>();
  /** The last that nothing was asked for: of one moment there is one, and what was made of it is made once. */
  private last: Fleet | undefined;
  /** How old permits, incidents, storms and silences are. Who acts, and who is asked for a permit, notes what it sees. */
  readonly storms: StormBook;
  private readonly keySets: Table<DatagramKeySet>['view'];

  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
    private readonly starts: StartFactsService,
    private readonly detector: DetectorView,
    private readonly conductor: ConductorService,
    private readonly incidentAges: IncidentAges,
    private readonly degraded: DegradedWatch,
    private readonly identity: IdentityReads,
    private readonly quarantine: PowerQuarantine,
    private readonly flaps: FlapWatch,
    private readonly refusals: Refusals,
    private readonly names: KnownNames,
    private readonly periodicReads: PeriodicReads,
    private readonly users: AgentUsers,
    private readonly natsUsers: NatsUsers,
  ) {
    this.storms = new StormBook(store.clock);
    this.keySets = settingsOf<DatagramKeySet>(store).view;
  }

  private readonly returns: Fleet['returns'] = (node) => this.flaps.count(node);
  private readonly addressesOf: Fleet['addressesOf'] = (name) => this.names.of(name);
  private readonly refusedFor: Fleet['refusedFor'] = (cause, node) => this.refusals.agoMs(cause, node);

  /**
   * As the views show it now.
   * @param term of the conductor who acts on it
   */
  now(answers: Answers = NO_ANSWERS, term?: number): Fleet {
    const { store } = this;
    const settings = store.clusterSettings;
    const { gap } = store;
    const fleet: Fleet = {
      nodes: this.of(store.nodes),
      incidents: this.of(store.incidents),
      jobs: this.of(store.jobs),
      workloads: this.of(store.workloads),
      alarms: this.of(store.alarms),
      reservations: this.of(store.reservations),
      leases: this.of(store.leases),
      settings,
      keySet: this.keySets.get(DATAGRAM_KEYS_KEY)?.value,
      agentUsers: this.agentUsers,
      reports: this.reports.freshByNode(settings.detection.freshness),
      heard: this.heard,
      lastWord: this.lastWord,
      detector: this.detectorNow(),
      offsAgo: this.offsAgo,
      openedAgo: this.openedAgo,
      provenAgo: this.provenAgo,
      degradedSteps: this.degradedSteps,
      workers: store.workers.stale ? undefined : store.workers.live(),
      failingTasks: this.failingTasks,
      live: gap === undefined,
      gap,
      permits: this.of(store.permits),
      storms: this.storms,
      knowsSettings: store.settings.view.live,
      identity: this.identity.reads(),
      periodicReads: this.periodicReads,
      addressesOf: this.addressesOf,
      quarantine: this.quarantine,
      returns: this.returns,
      refusedFor: this.refusedFor,
      wallMs: store.clock.wallMs(),
      term,
      answers,
    };
    if (answers !== NO_ANSWERS) return fleet;
    if (this.last === undefined || !isSame(this.last, fleet)) this.last = fleet;
    return this.last;
  }

  /**
   * The same, with what is asked for read anew: what the views show is of the moment when the last of it had come.
   * @throws MusterError what a read throws; RECORD_UNREADABLE for a node or an incident
   */
  async read(r: Reading, term?: number): Promise<Fleet> {
    const { store } = this;
    const [events, leases, jobs, nodes, incidents, reservations, workloads, connectedAgents] = await Promise.all([
      r.events && store.bus.eventStorage(),
      each(r.leases, async (name) => (await store.bus.bucket<LeaseRecord>('leases').read(name))?.revision ?? 0),
      each(r.jobs, async (id) => {
        const found = await store.jobs.bucket.read(id);
        return found !== undefined && 'why' in found ? ('unreadable' as const) : found;
      }),
      each(r.nodes, (name) => store.nodes.bucket.get(name)),
      each(r.incidents, (name) => store.incidents.bucket.get(name)),
      each(r.reservations && [RESERVATIONS_KEY], (key) => store.reservations.bucket.get(key)),
      r.workloads && store.workloads.bucket.list(),
      r.connectedAgents && this.natsUsers.connected(),
    ]);
    const answers: Answers = {
      leases,
      ...(events !== undefined && { events }),
      ...(connectedAgents !== undefined && { connectedAgents }),
    };
    const fleet = this.now(answers, term);
    return {
      ...fleet,
      jobs: fleet.jobs.with(jobs),
      nodes: fleet.nodes.with(nodes),
      incidents: fleet.incidents.with(incidents),
      reservations: fleet.reservations.with(reservations),
      workloads: workloads ? new Records(workloads, fleet.workloads.unreadable, fleet.workloads.live) : fleet.workloads,
    };
  }

  /** Goes only while a detector is heard that sees the fleet. */
  readonly sightedClock: Pick<Clock, 'monotonicMs'> = { monotonicMs: () => this.detector.sightedMs };

  private detectorNow(): DetectorNow {
    const { beacon, current, fresh, sighted, settled, blindnessEnded, silentTogether, silentMs, sightedMs } =
      this.detector;
    return {
      ...{ beacon, current, fresh, sighted, settled, blindnessEnded, silentTogether },
      silentFor: ageMs(silentMs),
      sightedMs: sightedMs as SightedMs,
    };
  }

  private readonly heard = (node: string): Heard | undefined => {
    const last = this.reports.of(node);
    return last && { report: last.report, ago: ageMs(this.store.clock.monotonicMs() - last.heardAt) };
  };
  private readonly agentUsers: Fleet['agentUsers'] = {
    able: () => this.natsUsers.able,
    all: () => this.users.all,
    revoked: () => this.users.revoked,
  };
  private readonly offsAgo: Fleet['offsAgo'] = (i) => this.incidentAges.offsAgoMs(i).map(knownAge);
  private readonly openedAgo: Fleet['openedAgo'] = (i) => knownAge(this.incidentAges.openedAgoMs(i));
  private readonly provenAgo: Fleet['provenAgo'] = (i) => knownAge(this.incidentAges.provenAgoMs(i));
  private readonly failingTasks: Fleet['failingTasks'] = () => this.conductor.failingTasks();
  // Looked for by who asks: few do, and all nodes would be looked at for each snapshot.
  private readonly degradedSteps: Fleet['degradedSteps'] = () => this.degraded.steps();
  private readonly lastWord: Fleet['lastWord'] = (node) => this.starts.lastWord(node);

  private of<T>({ view }: Table<T>): Records<T> {
    const list = view.entries();
    const { live, unreadable } = view;
    const was = this.made.get(view) as Records<T> | undefined;
    const isSame = was?.list === list && was.live === live && was.unreadable.size === 0 && unreadable.size === 0;
    if (was !== undefined && isSame) return was;
    const made = new Records<T>(list, new Set(unreadable.keys()), live);
    this.made.set(view, made);
    return made;
  }
}

const knownAge = (ms: number | undefined): AgeMs | undefined => (ms === undefined ? undefined : ageMs(ms));

/** Made of the same records, at the same moment. Asked for each snapshot: it makes nothing, and the moment comes first. */
function isSame(a: Fleet, b: Fleet): boolean {
  if (a.wallMs !== b.wallMs || !isSaid(a.detector, b.detector) || !isOffered(a.workers, b.workers)) return false;
  // Most days nobody is suspect.
  if (a.identity.size > 0 || b.identity.size > 0) return false;
  for (const k in a) if (!ASKED_APART.has(k) && !Object.is(a[k as keyof Fleet], b[k as keyof Fleet])) return false;
  return true;
}

/** Made anew for each snapshot: what is in them is compared. */
const ASKED_APART: ReadonlySet<string> = new Set<keyof Fleet>(['detector', 'workers', 'identity']);

function isSaid(a: DetectorNow, b: DetectorNow): boolean {
  for (const k in a) if (!Object.is(a[k as keyof DetectorNow], b[k as keyof DetectorNow])) return false;
  return true;
}

function isOffered(a: Fleet['workers'], b: Fleet['workers']): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((w, i) => w === b[i]);
}

async function each<T>(
  keys: readonly string[] | undefined,
  read: (key: string) => Promise<T>,
): Promise<ReadonlyMap<string, T>> {
  return new Map(await Promise.all((keys ?? []).map(async (key): Promise<[string, T]> => [key, await read(key)])));
}
