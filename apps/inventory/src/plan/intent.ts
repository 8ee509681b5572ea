import type { AgentConnection } from '#bus';
import type {
  AgentRevocation,
  AgentUser,
  AlarmCode,
  AlarmRecord,
  ClaimRecord,
  DatagramKeySet,
  EventMap,
  IncidentRecord,
  JobRecord,
  MusterError,
  NodeRecord,
  Permits,
  Reservations,
  WorkloadRecord,
} from '#contracts';
import type { PermitDecision } from '#domain/incident/permits.js';
import type { WorkloadEvent } from '#domain/workload/changes.js';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import type { About } from '../conductor/task.js';
import type { CheckVerdict } from '#domain/return/check-verdict.js';
import type { Fleet, Reading } from '../snapshot/fleet.js';
import type { WantedRead } from '../snapshot/periodic-reads.js';

/** When an intent is carried out: what its decision is made of besides the record. */
export interface Moment {
  /** As of now; what the intent {@link Intended.reads} is read anew. */
  readonly fleet: Fleet;
  /** Of the conductor's lease. */
  readonly token: number;
  /** New for each intent, and the same in each of its tries. */
  readonly uuid: string;
}

interface Intended {
  /** What it is about, as it stands in a log line where it fails. */
  readonly about: About;
  /** Why, for people. */
  readonly reason: string;
  /** What has to be read for it to be decided again. */
  readonly reads?: Reading;
  /** Logged where it was done. */
  readonly log?: {
    readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly facts: object;
    readonly message: string;
  };
}

/**
 * A change of one record. The plan was made from what a view showed; what becomes of the record is asked again, purely, of
 * the one that the compare-and-set replaces. It may be asked several times.
 *
 * How much of the decision is made again is the intent's own. Some decide anew by the same function. Others only see
 * whether the record still bears the marks of what was decided on, as its phase, generation or number of commands
 * (`sentToFencing`, `noteCollateral`): what has changed elsewhere since the plan, as a verdict, does not stop these. An
 * event of a workload may be given whatever its record says (`startIntents`): the table of its changes compares the marks.
 */
interface Changes<T, R = T> extends Intended {
  readonly key: string;
  /** @returns undefined: no longer; the record is left alone */
  decide(now: T, at: Moment): R | undefined;
}

export interface ChangeNode extends Changes<NodeRecord> {
  readonly do: 'change-node';
  /** The reason that the events of the change give. @default none */
  readonly told?: string;
  /** An act of a person that takes effect now: it stands in the audit. */
  readonly audit?: { readonly by: string; readonly action: string; readonly detail: string };
}

/** What happens to a workload, decided on its record as it is; what the table of its changes does not allow leaves it alone. */
export interface ChangeWorkload extends Changes<WorkloadRecord, WorkloadEvent> {
  readonly do: 'change-workload';
  /** Told in its event where it was changed. @default it is no news */
  readonly told?: EventMap['workload']['change'];
  /**
   * What is then written besides, in this order. After a crash in between it lacks: the plan asks for it again.
   * @param was the record that was replaced
   */
  followedBy?(changed: WorkloadRecord, at: Moment, was: WorkloadRecord): Intent[];
}

/** The same of several workloads that go on together, one after the other; one that is left alone holds up no other. */
export interface ChangeWorkloads extends Intended {
  readonly do: 'change-workloads';
  readonly keys: readonly string[];
  decide(now: WorkloadRecord, at: Moment): WorkloadEvent | undefined;
  /** What is then written besides, where any was changed. After a crash in between it lacks: the plan asks for it again. */
  followedBy(changed: readonly WorkloadRecord[], at: Moment): Intent[];
}

export interface ChangeIncident extends Changes<IncidentRecord> {
  readonly do: 'change-incident';
  /** Which of its node: one that has taken its place is left alone. */
  readonly id: string;
  /**
   * What is then written besides, side by side, once the view shows the change: whoever is woken by that finds it. After a
   * crash in between it lacks: the plan asks for it again.
   */
  followedBy?(changed: IncidentRecord): Intent[];
}

/**
 * First the node, then the incident that rests on it: also where the node says so already, or was deleted. After a crash
 * in between the incident has not moved, and the plan asks for both again.
 */
export interface NodeFirst extends Intended {
  readonly do: 'node-first';
  readonly node: ChangeNode;
  /** @param found the node as the change found it; undefined: it was deleted */
  incident(found: NodeRecord | undefined): ChangeIncident;
}

export interface ChangeJob extends Changes<JobRecord> {
  readonly do: 'change-job';
}

/** The node's incident, where it has none that is open: whoever comes second joins the first. */
export interface OpenIncident extends Intended {
  readonly do: 'open-incident';
  readonly key: string;
  make(at: Moment): IncidentRecord;
  /** One that is over keeps its place all the same. */
  keeps(over: IncidentRecord, at: Moment): boolean;
  /** What is then written besides, where this one was opened. After a crash in between it is planned for the one that is there. */
  followedBy(opened: IncidentRecord): Intent[];
}

/**
 * Brake, domain, cap and flapping are answered over all permits, and the incident's own is written with that answer. It
 * is asked for anew in each try, by how many nodes are unhealthy then.
 */
export interface TakePermit extends Intended {
  readonly do: 'take-permit';
  /** Its id. */
  readonly key: string;
  readonly incident: IncidentRecord;
  readonly node: NodeRecord;
  /** What is then written, granted or not, in this order. After a crash in between it is asked for again, and answered the same. */
  followedBy(decision: PermitDecision): Intent[];
}

/**
 * Storms tripped and ended, and old permits dropped, over all permits and by the fleet as they are in each try. One write:
 * after a crash before it the plan asks for it again.
 */
export interface KeepPermits extends Intended {
  readonly do: 'keep-permits';
  /** The ages are written down besides, where they are worth it: then none are for a while. */
  readonly checkpoints: boolean;
  /** @returns undefined: nothing is to be written */
  decide(now: Permits | undefined, at: Moment): Permits | undefined;
}

/** A record that is only made where there is none of that key. A job that somebody is to carry out is told by its event. */
export interface CreateJob extends Intended {
  readonly do: 'create-job';
  readonly key: string;
  decide(at: Moment): JobRecord | undefined;
}

/** A record that is taken away as it was when that was decided. */
export interface DeleteJob extends Intended {
  readonly do: 'delete-job';
  readonly key: string;
  readonly revision: number;
}

export interface ExpireClaim extends Intended {
  readonly do: 'expire-claim';
  readonly key: string;
  /** @returns whether it is over */
  decide(now: ClaimRecord, at: Moment): boolean;
}

/** A job that was accepted is written to its end: its nodes, its record, its event, in the order of who accepts jobs. */
export interface CompleteJob extends Intended {
  readonly do: 'complete-job';
  /** As it was accepted. */
  readonly job: JobRecord;
}

/**
 * What an ended job leaves, in this order, each begun when all before it is written: its nodes, side by side; the nodes
 * that it has found; the reservations, from where on others may have its nodes; its record; its event. A crash in between
 * leaves a job that is not settled, and all of it is planned again: a node that has followed is left alone, what it holds
 * no more stays free, and what was told already is told under the same id.
 */
export interface SettleJob extends Intended {
  readonly do: 'settle-job';
  readonly key: string;
  /** @returns undefined: it is settled, or gone */
  decide(at: Moment): EndedJob | undefined;
}

/** All that follows from the end of a job. */
export interface EndedJob {
  /** As it was read. */
  readonly job: JobRecord;
  /** What becomes of one of its nodes. It may be asked several times. */
  readonly node: (now: NodeRecord) => NodeAfterJob;
  /** Nodes that it has found at their addresses. */
  readonly found: readonly Pick<ChangeNode, 'key' | 'decide'>[];
  /**
   * Absent: it holds none.
   * @param nodesAt the highest revision of its nodes, as it has left them
   */
  readonly release?: (now: Reservations, nodesAt: number) => Reservations | undefined;
  /** @param verdicts of each node that it has checked */
  readonly settled: (now: JobRecord, verdicts: ReadonlyMap<string, CheckVerdict>) => JobRecord | undefined;
  /** No worker has published that it has ended. */
  readonly publishesEnd: boolean;
}

export interface NodeAfterJob {
  /** Undefined: it has followed already. */
  readonly next: NodeRecord | undefined;
  /** Told once it is written, and again after a crash in between. */
  readonly events: readonly NodeEvent<'check' | 'resetup' | 'in-service'>[];
  /** Of a check. */
  readonly verdict: CheckVerdict | undefined;
}

type NodeEvent<K extends keyof EventMap> = { [E in K]: { kind: E; data: EventMap[E] } }[K];

/** A node is taken from the job that holds it, which goes on with its others. */
export interface FreeNode extends Changes<Reservations> {
  readonly do: 'free-node';
}

/**
 * Jobs that the conductor itself asks for, one after the other, until so many of them are accepted: in the place of one
 * that is refused the next is asked for, and the fleet says when it was. Each is one write, by who accepts jobs.
 */
export interface SubmitJobs extends Intended {
  readonly do: 'submit-jobs';
  readonly wanted: readonly WantedJob[];
  readonly most: number;
}

export interface WantedJob {
  readonly node: string;
  readonly kind: 'check' | 'resetup';
  /** As it stands in its record. */
  readonly cause: string;
  /** resetup: the only services that it is for. @default all */
  readonly services: readonly string[] | undefined;
  /** @returns whether the node that is decided on needs it still, by all that is known then */
  needs(now: NodeRecord, at: Moment): boolean;
  /** The workload is assigned to the node, and certainly does not run there. @default it may run */
  isAbsent?(workload: string, at: Moment): boolean;
}

/** A job that has not ended is called off, as anybody may: one that waits ends at once, one that runs is told to its worker. */
export interface CancelJob extends Intended {
  readonly do: 'cancel-job';
  readonly key: string;
  /** @returns whether it is still to be called off */
  decide(now: JobRecord, at: Moment): boolean;
}

/** A change of several nodes at once that was decided is written to its end, by whoever has begun it or not. */
export interface CompleteEdit extends Intended {
  readonly do: 'complete-edit';
  readonly key: string;
}

/** One that was prepared is given up, unless it has been decided by then. */
export interface SweepEdit extends Intended {
  readonly do: 'sweep-edit';
  readonly key: string;
}

/** One that is up with other words gets these. */
export interface RaiseAlarm extends Intended {
  readonly do: 'raise-alarm';
  readonly alarm: WantedAlarm;
  /** What is then told besides. After a crash in between it lacks: the plan asks for it again. */
  followedBy?(raised: AlarmRecord): Intent[];
}

export interface ClearAlarm extends Intended {
  readonly do: 'clear-alarm';
  readonly code: AlarmCode;
  readonly subject: string;
  /** What is then told besides. After a crash in between it lacks. */
  followedBy?(): Intent[];
}

/** Drops older verdicts from the stream of events. */
export interface KeepVerdicts extends Intended {
  readonly do: 'keep-verdicts';
  /** Node, or `*` for all of them → so many of its newest are kept. */
  readonly newest: ReadonlyMap<string, number>;
}

/** The detector is asked for its verdict as of now, and what it says is applied as any that arrives. */
export interface FetchVerdict extends Intended {
  readonly do: 'fetch-verdict';
  readonly node: string;
}

/** The event that nobody offers a driver any more, or that somebody does again: told once by each process. */
export interface PublishDriver extends Intended {
  readonly do: 'publish-driver';
  readonly event: EventMap['driver'];
  /** Of its alarm: so often it was lost so far. */
  readonly count: number;
}

/**
 * The power devices of a node are asked whose they are. It is not waited for: a later snapshot has what became of it, with
 * what was asked for. After a crash it is planned anew.
 */
export interface BeginIdentityRead extends Intended {
  readonly do: 'begin-identity-read';
  readonly read: WantedRead;
}

/** A record about which a decision threw: it fails by itself with that, so that the task and its log name it. */
export interface FailRecord extends Intended {
  readonly do: 'fail-record';
  readonly error: MusterError;
}

/**
 * First the secret of a key that was replaced is destroyed, then the set says so. After a crash in between the set still
 * says that it is to be, and both are planned again.
 */
export interface ChangeKeySet extends Intended {
  readonly do: 'change-key-set';
  /** Key whose secret is destroyed. @default none is */
  readonly destroys?: string;
  /** @returns undefined: no longer; the set is left alone */
  decide(now: DatagramKeySet, at: Moment): DatagramKeySet | undefined;
}

/**
 * First NATS is told to refuse users of agents, all at once, then each is noted as refused. After a crash in between some
 * are not noted: those are told to it and noted again.
 */
export interface RefuseUsers extends Intended {
  readonly do: 'refuse-users';
  /** @returns those that are still to be refused; none: NATS is told nothing */
  decide(at: Moment): readonly RefusedUser[];
}

/** `revoked`: it is noted as refused already. */
export type RefusedUser = Pick<AgentUser, 'key' | 'node' | 'revoked'>;

/** A revocation is kept beside the record of its node, where no later one is. */
export interface NoteRevocation extends Intended {
  readonly do: 'note-revocation';
  readonly revocation: AgentRevocation;
}

/**
 * A user that is connected, and that nobody has noted. Refused, as any; or the record of its node names it first, and then
 * it is noted: a note of a user that no record names has it refused. After a crash in between it is connected, and only noted.
 */
export interface TakeUser extends Intended {
  readonly do: 'take-user';
  readonly user: AgentConnection;
  /** @returns undefined: it is left alone */
  decide(at: Moment): 'refused' | 'noted' | undefined;
  /** @returns undefined: the record is left alone */
  named(now: NodeRecord): NodeRecord | undefined;
}

/** What a plan wants done: data, and nothing is done by making it. */
export type Intent =
  | ChangeNode
  | ChangeWorkload
  | ChangeWorkloads
  | ChangeIncident
  | OpenIncident
  | TakePermit
  | KeepPermits
  | NodeFirst
  | ChangeJob
  | CreateJob
  | DeleteJob
  | ExpireClaim
  | CompleteJob
  | SettleJob
  | FreeNode
  | SubmitJobs
  | CancelJob
  | CompleteEdit
  | SweepEdit
  | RaiseAlarm
  | ClearAlarm
  | ChangeKeySet
  | RefuseUsers
  | NoteRevocation
  | TakeUser
  | KeepVerdicts
  | PublishDriver
  | FetchVerdict
  | BeginIdentityRead
  | FailRecord;
