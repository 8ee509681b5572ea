import type { AgentConnection, EventStorage, LeaseRecord } from '#bus';
import type {
  AgentRevocation,
  AgentUser,
  AlarmRecord,
  Beacon,
  ClusterSettings,
  DatagramKeySet,
  IncidentRecord,
  JobRecord,
  NodeRecord,
  Permits,
  Report,
  Reservations,
  TaskView,
  WorkerRecord,
  WorkloadRecord,
} from '#contracts';
import type { LastWord } from '#domain/workload/last-word.js';
import type { DegradedStep } from '../nodes/degraded-policy.js';
import type { IdentityRead } from '../identity/identity-reads.js';
import type { HeardEnd } from '../verdicts/sight-watch.js';
import type { AgeMs, SightedMs } from './ages.js';
import type { AddressesOf } from '../power/power-place.js';
import type { PowerQuarantine } from '../power/power-quarantine.js';
import type { ReadSchedule } from './periodic-reads.js';
import type { Records } from './records.js';
import type { StormsKept } from './storm-book.js';

/**
 * All that a decision may rest on, as of one moment: everything that was decided from one fleet was decided on the same
 * facts. It holds references to the records, which nobody changes in place. What is a function in it answers as of when it
 * is asked, which is before anything is waited for.
 */
export interface Fleet {
  readonly nodes: Records<NodeRecord>;
  readonly incidents: Records<IncidentRecord>;
  readonly jobs: Records<JobRecord>;
  readonly workloads: Records<WorkloadRecord>;
  readonly alarms: Records<AlarmRecord>;
  /** One record, under `RESERVATIONS_KEY`; by their keys alone, the parts of edits as well. */
  readonly reservations: Records<Reservations>;
  /** Who holds which, as last seen. A gap in it is none of {@link live}. */
  readonly leases: Records<LeaseRecord>;
  readonly settings: ClusterSettings;
  /** By which keys datagrams are proved; undefined: by those of a file, or it cannot be read. */
  readonly keySet: DatagramKeySet | undefined;
  /** The NATS users of agents, as last seen. A gap in them is one in the settings. */
  readonly agentUsers: AgentUsersNow;
  /** Node → its own last report, where that is fresh. */
  readonly reports: ReadonlyMap<string, Report>;
  readonly detector: DetectorNow;
  /** What a node has said last, however long ago; undefined: nothing since this process began to listen. */
  readonly heard: (node: string) => Heard | undefined;
  /** What a node that does not answer has said last of what it runs; undefined: nothing in the boot of its record. */
  readonly lastWord: (node: string) => LastWord | undefined;
  /** How long ago this process saw each power-off of an incident; undefined: that was given before it began to look. */
  readonly offsAgo: (i: IncidentRecord) => readonly (AgeMs | undefined)[];
  /** The same of the incident itself. */
  readonly openedAgo: (i: IncidentRecord) => AgeMs | undefined;
  /** The same of its proof of off; undefined also where it has none. */
  readonly provenAgo: (i: IncidentRecord) => AgeMs | undefined;
  /** What the policy for nodes that stay DEGRADED has done now, by node; nothing while it is not known what it rests on. */
  readonly degradedSteps: () => ReadonlyMap<string, DegradedStep>;
  /** Fencers and provisioners that are alive; undefined: not known, as their view has a gap. */
  readonly workers: readonly WorkerRecord[] | undefined;
  /** As last seen: who gets one is decided in its compare-and-set. */
  readonly permits: Records<Permits>;
  /** How old permits, open incidents, storms and silences are. */
  readonly storms: StormsKept;
  /** No gap in the settings. */
  readonly knowsSettings: boolean;
  /** Node → the reads of whose its power devices are, where that was asked since it is suspect. */
  readonly identity: ReadonlyMap<string, IdentityRead>;
  /** Reads of whose power devices are in good days. */
  readonly periodicReads: ReadSchedule;
  /** Addresses of a name, as last looked up: asking has it looked up again now and then. Undefined: not known. */
  readonly addressesOf: AddressesOf;
  /** Of the power of a node, by the incident that it has: what this process has seen of its commands. */
  readonly quarantine: Pick<PowerQuarantine, 'reasonOf' | 'leftMs'>;
  /** How often a node has returned in the last ten minutes, as this process has seen it. */
  readonly returns: (node: string) => number;
  /** Since a job that the conductor asked for was refused; undefined: none was, or one was accepted since. */
  readonly refusedFor: (cause: string, node: string) => AgeMs | undefined;
  /** Tasks of this process's conductor of which something has failed, and not succeeded since. */
  readonly failingTasks: () => readonly TaskView[];
  /** No view of the store had a gap, and the reservations can be read. */
  readonly live: boolean;
  /** Why it is not {@link live}. */
  readonly gap: string | undefined;
  /** Time of day, ms: for what a person gave as such. Never a measure of an age. */
  readonly wallMs: number;
  /** Token of the conductor who acts on it; undefined: nobody acts on it. */
  readonly term: number | undefined;
  /** What was asked for besides; of what was not asked nothing is known. */
  readonly answers: Answers;
}

/** What the active detector has said of itself. */
export interface DetectorNow {
  /** The last one, however old; undefined: none was heard. */
  readonly beacon: Beacon | undefined;
  /** The same, where it counts: without a fresh one every verdict is UNKNOWN. */
  readonly current: Beacon | undefined;
  /** Without one: since the last, or since this process listens. */
  readonly silentFor: AgeMs;
  /** It counts: without a fresh one every verdict is UNKNOWN. */
  readonly fresh: boolean;
  /** Fresh, and it hears enough of the fleet to judge. */
  readonly sighted: boolean;
  /** Sighted, and for long enough that it has judged everyone. */
  readonly settled: boolean;
  /** The last end of a blindness that missing reports made, where it was a moment ago. */
  readonly blindnessEnded: HeardEnd | undefined;
  /** The most that were silent at the same moment a moment ago, with how long each has been by now where it still is. */
  readonly silentTogether: readonly { readonly node: string; readonly forMs: number }[];
  readonly sightedMs: SightedMs;
}

/** The NATS users that agents were issued, and whom NATS is to refuse. Looked for by who asks: they stand among all settings. */
export interface AgentUsersNow {
  /** There is a key with which NATS can be told. */
  able(): boolean;
  all(): readonly AgentUser[];
  /** Node → its last revocation, as it is kept beside the record. */
  revoked(): ReadonlyMap<string, AgentRevocation>;
}

/** A report, and how long ago it came. */
export interface Heard {
  readonly report: Report;
  readonly ago: AgeMs;
}

/** What no view shows. */
export interface Answers {
  /** What the stream of events holds. */
  readonly events?: EventStorage;
  /** Lease → its revision; 0: there is none. It moves on with each renewal. */
  readonly leases: ReadonlyMap<string, number>;
  /** Agents that are connected to NATS. */
  readonly connectedAgents?: readonly AgentConnection[];
}

/** What is to be read for a decision: by a live read, so that nothing in it is older than the question. */
export interface Reading {
  readonly events?: true;
  readonly leases?: readonly string[];
  readonly connectedAgents?: true;
  readonly jobs?: readonly string[];
  readonly nodes?: readonly string[];
  readonly incidents?: readonly string[];
  /** All of them: what is not among them is not there. */
  readonly workloads?: true;
  readonly reservations?: true;
}
