import type { AgentToken } from '../keys/agent-token.js';
import type { TokenRecord } from '../keys/token.js';
import type { AgentAdmission, AgentEnrolment } from '../wire/agent-enrolment.js';
import type { AgentKeyView, KeysAnswer, KeysQuestion } from '../wire/datagram-key-set.js';
import type { AlarmView } from '../alarms/alarm.js';
import type { GateCode, GateResult, IncidentRecord } from '../incident/incident.js';
import type { StormOutcome, StormView } from '../incident/storm.js';
import type { DiagnosisView } from './diagnosis.js';
import type { PublicEvent } from './public-event.js';
import type { JobRecord, JobStatus } from '../job/job.js';
import type { NodeView, PowerDevice } from '../node/node.js';
import type { IdentityStanding } from '../node/identity-standing.js';
import type { DeviceFacts, PowerIdentity } from '../hardware/power-identity.js';
import type { ClaimRecord } from '../admission/admission.js';
import type { AgentMetrics } from '../wire/report.js';
import type {
  AcceptDriftRequest,
  AgentEnrolRequest,
  AgentKeyRotateRequest,
  ClaimRequest,
  FencingRequest,
  MonitorNode,
  NodeCreateRequest,
  NodeImportRequest,
  NodePatchRequest,
  NodeReplaceRequest,
  OperationRequest,
  PowerActionRequest,
  WorkloadRequest,
} from './requests.js';
import type { UnreadableRecord } from '../records/decode.js';
import type { ClusterSettings, FencingSettings } from '../settings/settings.js';
import type { LifeSeen } from '../wire/life-signs.js';
import type { UnhealthyNode, Verdict } from '../verdict/verdict.js';
import type { WorkerRecord } from '../workers/worker.js';
import type { Remedy } from '../remedies/remedy.js';
import type { WorkloadStanding, WorkloadView } from '../workload/standing.js';
import type { WorkloadRecord } from '../workload/workload.js';

/** Who asks: for audit and records. */
export interface By {
  by: string;
  /** Address that the request came from, `unix` for a unix socket. Absent: it came by NATS. */
  from?: string;
}
/** Why one of several is not answered. */
export interface Refusal {
  /** Of `ErrorCodes`. */
  code: string;
  message: string;
  facts?: Record<string, unknown>;
}
export type WithRevision<T> = T & { revision: number };
export interface Page<T> {
  items: T[];
  next?: string;
}
export interface PageRequest {
  limit?: number;
  cursor?: string;
}

export interface LeaseView {
  name: string;
  holder?: string;
  token: number;
  /** ms since its last renewal was seen, on the answering process's monotonic clock. */
  ageMs: number;
}

/** Something that the conductor drives, and how its runs have gone in the present term. */
export interface TaskView {
  name: string;
  /** Buckets of records, and other sources, of which each change wakes it. */
  watches: string[];
  /** Where nothing wakes it, it runs this often, ms. */
  periodMs: number;
  /** Of its alarm, where it fails again and again. */
  severity: AlarmView['severity'];
  /** Wall clock, ms, of the beginning of its last run; absent: it has not run yet. */
  lastRun?: number;
  /** How long the last run that ended took, ms; absent: none has ended yet. */
  lastMs?: number;
  /** How long the run in progress has taken, ms; absent: there is none. */
  runningMs?: number;
  /** How often in a row it has failed, or that part of it that has failed for longest; 0: nothing of it fails. */
  errors: number;
  /** Since the first of these, ms. */
  errorsForMs: number;
  /** The last of these, or the last that there was; absent: none. `about` names the part of it that failed. */
  lastError?: { at: number; code: string; message: string; about?: string };
}

export interface FenceableView {
  proven: number;
  /** Fenced all the same, by devices that nothing speaks against. */
  unproven: number;
  /** Of the proven: by a drill. */
  drilled: number;
  /** Not fenced: a device is another machine's, or at the place of another node's. */
  mismatch: string[];
}

/** A node that is out of service. */
export interface OutNode {
  node: string;
  reasons: string[];
  /** For the first reason, which is the worst. */
  remedy: Remedy;
  /** It is so by somebody's will: cordoned, held, or not commissioned; and no work is assigned to it. */
  planned: boolean;
}

/** Workloads of a status that are not as they should be, at most. */
export const MOST_WRONG_WORKLOADS = 100;

export interface WorkloadSummary {
  total: number;
  /** Of those that should run. */
  running: number;
  /** Not as they should be: should run and do not, run and should not, or nobody can say. */
  wrong: number;
  /** The worst of them: highest priority first, {@link MOST_WRONG_WORKLOADS} at most. */
  worst: { workload: string; node?: string; actual: WorkloadStanding }[];
}

/** Something that will stand in the way some day, though nothing is wrong now. */
export interface Weakness {
  text: string;
  remedy: Remedy;
}

export interface StatusView {
  cluster: string;
  /** One line: what keeps the store of NATS from its work, as the gateway itself sees it; absent: nothing. */
  store?: string;
  /** One line: why records may have changed since they were last seen, as they are told here; absent: they have not. */
  stale?: string;
  /** Networks from which the clusterm surface of the gateway that answers needs no token; absent: none. */
  compat?: { allowFrom: string[] };
  fencing: FencingSettings;
  leases: LeaseView[];
  detector: {
    instance?: string;
    epoch?: number;
    sighted: boolean;
    members: number;
    reporters: number;
    beaconAgeMs?: number;
  };
  brake: { candidates: number; limit: number };
  /** Storms that stand; absent: none. */
  storms?: StormView[];
  nodes: {
    total: number;
    inService: number;
    /** The worst first: incidents and the silent before what only waits, and what an operator wants so last. */
    out: OutNode[];
    /** At once, whether or not an alarm or an incident has followed; also of those that are in service. */
    troubled: UnhealthyNode[];
    /** Drifts that operators want, as long as their word holds; absent: none. */
    accepted?: { node: string; services: string[]; by: string; reason: string; until?: number }[];
  };
  /** Nodes that may be fenced, by whether their power devices are known to be their own: a node counts by its worst. */
  fenceable: FenceableView;
  incidents: WithRevision<IncidentRecord>[];
  /** Jobs that are kept, by their status. */
  jobs: Record<JobStatus, number>;
  workloads: WorkloadSummary;
  weaknesses: Weakness[];
  alarms: AlarmView[];
  missingDrivers: { driver: string; nodes: string[] }[];
  workers: WorkerRecord[];
  /** What the conductor drives, in the order in which a change wakes it; absent: no conductor answers. */
  tasks?: TaskView[];
}

/** What an item of a plan is about. */
export type PlanSubject = 'incident' | 'power' | 'storm' | 'workload' | 'drain' | 'return' | 'job' | 'check' | 'cordon';

/** A number that a decision rests on, and how much of it there may be. */
export interface PlanFigure {
  /** What is counted: `unhealthy nodes`, `ms held as hung`. */
  of: string;
  count: number;
  limit: number;
}

/** When an item is looked at again. One of both is there; with both, whichever comes first. */
export interface PlanAgain {
  /** At the latest after this, ms. */
  inMs?: number;
  /** When this has changed, in words. */
  when?: string;
}

/** One thing that the conductor does next, or waits for. */
export interface PlanItem {
  about: PlanSubject;
  /** Name of the node or workload, id of the job or storm. */
  name: string;
  /** The nodes that it concerns. */
  nodes: string[];
  /** `acts`: with its next look. `waits`: for what `again` names. `would`: if the mode were enforce. */
  does: 'acts' | 'waits' | 'would';
  /** The next step, in one sentence. */
  next: string;
  /** Why, in one sentence or more. */
  reason: string;
  /** The gate that stops it. */
  gate?: GateCode;
  /** Of the gate or the wait; absent: it rests on none. */
  figures?: PlanFigure[];
  again: PlanAgain;
}

/** What the conductor would do next and what it waits for, as of one moment. */
export interface PlanView {
  /** Wall clock, ms. */
  at: number;
  /** The process that holds the lease `conductor`, and its token. */
  conductor: string;
  token: number;
  mode: FencingSettings['mode'];
  /** One line: why records may have changed since they were last seen; absent: they have not. */
  stale?: string;
  /** Empty: there is nothing to do, and nothing is waited for. */
  items: PlanItem[];
}

/** An absent filter lets all through. */
export interface NodeListRequest extends PageRequest {
  names?: string[];
  selector?: string;
  status?: string;
  state?: string;
  hostGroup?: string;
  failureDomain?: string;
  enrolled?: boolean;
  inService?: boolean;
}

/** What a node's agent last said of itself. */
export interface AgentView {
  node: string;
  /** Its last report is no older than the freshness of detection, by the clock of who answers. */
  fresh: boolean;
  /** Of the process that sent that report; this and the rest are absent where none was heard. */
  epoch?: number;
  abstains?: boolean;
  /** Peers that are members for it, and those that it has lost. */
  members?: number;
  lost?: number;
  metrics?: AgentMetrics;
}

/** What an import did, or with `dryRun` would do. */
export interface ImportOutcome {
  dryRun: boolean;
  created: string[];
  updated: string[];
  unchanged: string[];
}

/** `config` of the operations contract: what clients of the contiv cluster manager read and post. */
export interface ClustermConfig {
  serf: Record<string, unknown>;
  inventory: Record<string, unknown>;
  ansible: {
    configure_playbook: string;
    cleanup_playbook: string;
    upgrade_playbook: string;
    playbook_location: string;
    extra_variables: string;
    user: string;
    priv_key_file: string;
  };
  manager: { addr: string };
}

/** Who power devices of a node said they are, by one reading. */
export interface FreshIdentity {
  /** Since it began, ms, by the clock of the inventory that had it read, as it says so. */
  ageMs: number;
  /** Those that said something. */
  devices: { id: string; basis: string; seen: DeviceFacts }[];
}

/** A power device of a node, and whether it is its own. */
export interface IdentifiedDevice {
  id: string;
  standing: IdentityStanding;
  /** What was found last; absent: it was never read in this place with these credentials. */
  identity?: PowerIdentity;
  /** It could not be read now: why. What was found before stands. */
  unread?: string;
  /** Devices at the same address, under another port, driver or outlet. */
  neighbours?: { node: string; device: string }[];
}

/** Of a revocation. */
export interface RevocationOutcome {
  node: string;
  /** Users of its agent that NATS lets in no more. */
  users: number;
  /** Why NATS still lets its agent connect, which then hears nothing and is not believed. Absent: it does not. */
  pending?: string;
  /**
   * No node of this name is on record. What was issued for it until now and is not connected is not known either: NATS
   * refuses it within a minute after it has connected; until then it hears nothing and is not believed while no node of
   * this name is enrolled.
   */
  unregistered?: true;
}

/**
 * Verb → [request, answer] of every RPC, `muster.rpc.<service>.<verb>`. Errors come back as WireError. All are
 * answered by any replica; writes are compare-and-set.
 */
export interface RpcMap {
  /** By name; a page has 500 at most, and fewer where they are large. */
  'inventory.nodes.list': [NodeListRequest, Page<NodeView>];
  /** The same page as JSON text, items with commas between: for who hands it on without a look at it. */
  'inventory.nodes.text': [
    NodeListRequest & {
      /** The only members that are answered. @default all */
      fields?: string[];
      /** Last name of the page at the latest; the answer repeats it. @default the last of the fleet */
      until?: string;
      /** Have the answer tell where the rest can be divided. @default false */
      divide?: boolean;
    },
    {
      text: string;
      count: number;
      /** The last name of this page, where the fleet, or the part up to `until`, goes on. */
      next?: string;
      until?: string;
      /** Where it goes on for long: last names of parts, in their order, each good for `until` of one page and `cursor` of the next. */
      cuts?: string[];
    },
  ];
  'inventory.nodes.get': [{ name: string }, NodeView];
  /**
   * Many at once, each as `inventory.nodes.get` answers it, as JSON text. `found`: of each, in the order of `names`, its
   * revision, or why it is not shown; `text`: a line for each that is. An answer has a largest size: names at the end
   * of a longer one have no member in `found`, and are to be asked for again. The first always has one.
   */
  'inventory.nodes.each': [{ names: string[] }, { found: (number | Refusal)[]; text: string }];
  /** The verdict as of now, from the active detector; absent where none answers. */
  'inventory.nodes.verdict': [{ name: string }, { verdict?: Verdict }];
  'inventory.nodes.create': [By & { node: NodeCreateRequest }, NodeView];
  'inventory.nodes.delete': [By & { name: string; revision?: number }, Record<string, never>];
  'inventory.nodes.cordon': [By & { name: string; reason: string; until?: number }, NodeView];
  /** It may be powered off although nothing but its agent has ever shown that its host lives. */
  'inventory.nodes.waiveLifeSign': [By & { name: string; reason: string }, NodeView];
  'inventory.nodes.requireLifeSign': [By & { name: string }, NodeView];
  /** What its last check has found to differ is wanted so. */
  'inventory.nodes.acceptDrift': [By & { name: string } & AcceptDriftRequest, NodeView];
  'inventory.nodes.withdrawDrift': [By & { name: string }, NodeView];
  'inventory.nodes.uncordon': [By & { name: string }, NodeView];
  'inventory.nodes.patch': [By & { name: string; patch: NodePatchRequest; revision?: number }, NodeView];
  'inventory.nodes.replace': [By & { name: string; replacement: NodeReplaceRequest; revision?: number }, NodeView];
  'inventory.nodes.import': [By & NodeImportRequest, ImportOutcome];
  /** A page of the file; `next` goes into `cursor` for the one that follows. */
  'inventory.nodes.export': [
    { format: 'yaml' | 'csv'; selector?: string; cursor?: string },
    { text: string; next?: string },
  ];
  /** Cordons the node and has its workloads moved away. */
  'inventory.nodes.drain': [By & { name: string; reason: string; until?: number }, NodeView];
  /**
   * `on`, `soft` and `cycle` only where nobody else may be acting on the node; `off` is a fence by hand, and `cycle` one
   * after which the node is switched on again. Answers what carries it out: the fencing leader does, and the incident
   * of that id tells how it went.
   */
  'inventory.nodes.power': [
    By & { name: string } & PowerActionRequest,
    { node: string; action: PowerActionRequest['action']; incident: string; detail: string },
  ];
  /** Powers it off and on by its first level, to prove that the devices are its own; the incident tells how it goes. */
  /** `level`: the fencing level to be drilled, from 1; the first when absent. */
  'inventory.nodes.drill': [By & { name: string; reason: string; level?: number }, WithRevision<IncidentRecord>];
  /** Asks the node's power devices now who they are, and compares it with what the machine says. */
  'inventory.nodes.identify': [By & { name: string }, { devices: IdentifiedDevice[] }];
  /** An administrator answers for a device that says that it is another machine's. */
  'inventory.nodes.acknowledge': [By & { name: string; device: string; reason: string }, NodeView];
  'inventory.nodes.fence': [
    By & { name: string; reason: string; dryRun?: boolean },
    { incident?: WithRevision<IncidentRecord>; gates: GateResult[] },
  ];
  /** The same `key` again, by the same caller: the same job, not a second one. */
  'inventory.operations.submit': [
    By & OperationRequest & { key?: string },
    /** `skipped`: addresses that were left out, and the node that each is already. */
    { job: string; skipped?: Record<string, string> },
  ];
  'inventory.claims.create': [By & ClaimRequest & { key?: string }, ClaimRecord];
  'inventory.claims.list': [PageRequest & { owner?: string }, Page<ClaimRecord>];
  'inventory.claims.get': [{ id: string }, ClaimRecord];
  'inventory.claims.delete': [By & { id: string }, Record<string, never>];
  'inventory.monitor.event': [By & { event: 'discovered' | 'disappeared'; nodes: MonitorNode[] }, { nodes: string[] }];
  'inventory.jobs.list': [
    PageRequest & { status?: string; kind?: string; node?: string },
    Page<WithRevision<JobRecord>>,
  ];
  /** id, or `active` / `last`. */
  'inventory.jobs.get': [{ id: string }, WithRevision<JobRecord>];
  'inventory.jobs.cancel': [By & { id: string }, WithRevision<JobRecord>];
  'inventory.incidents.list': [PageRequest & { open?: boolean }, Page<WithRevision<IncidentRecord>>];
  /** `storms`: those that hold the node. */
  'inventory.incidents.get': [{ node: string }, WithRevision<IncidentRecord> & { storms?: StormView[] }];
  'inventory.incidents.release': [
    By & {
      node: string;
      reason: string;
      force?: boolean;
      /** That the person saw: where another one stops it by then it is refused. @default whichever stops it */
      gate?: GateCode;
    },
    WithRevision<IncidentRecord>,
  ];
  'inventory.incidents.confirm': [
    By & { node: string; reason: string; force?: boolean },
    WithRevision<IncidentRecord> & { doNotPowerOnBefore?: number },
  ];
  /** Before the first command of its power-off. */
  'inventory.incidents.cancel': [By & { node: string; reason: string }, WithRevision<IncidentRecord>];
  'inventory.storms.list': [Record<string, never>, { items: StormView[] }];
  'inventory.storms.get': [{ id: string }, StormView];
  /** Of the nodes, by default its rest: they are judged as if there were no storm. */
  'inventory.storms.release': [By & { id: string; nodes?: string[]; reason: string }, { nodes: StormOutcome[] }];
  /** Of the nodes, by default its rest: each is confirmed as down, as by its incident. */
  'inventory.storms.confirm': [
    By & { id: string; nodes?: string[]; reason: string; force?: boolean },
    { nodes: StormOutcome[] },
  ];
  /**
   * Asked by the fencing leader before its first command and at each retry: does the incident still stand on the
   * verdict as of now? `go: false` names why; the incident has then been ended or stopped by inventory.
   */
  /**
   * `reads`: as in the fencer's worker record; below 3 the answer is a no. `identity`: who its devices said they are, where
   * inventory has asked them shortly before.
   */
  'inventory.incidents.recheck': [
    { node: string; incident: string; epoch: number; reads?: number },
    { go: boolean; reason: string; revision: number; verdict?: Verdict; identity?: FreshIdentity },
  ];
  'inventory.workloads.list': [PageRequest, Page<WithRevision<WorkloadView>>];
  'inventory.workloads.get': [{ name: string }, WithRevision<WorkloadView>];
  'inventory.workloads.put': [By & { name: string; workload: WorkloadRequest }, WithRevision<WorkloadRecord>];
  /** `reason`: an operator answers for it that it does not run, where its node was never heard. */
  'inventory.workloads.delete': [By & { name: string; reason?: string }, Record<string, never>];
  /** Whether the pair of a gateway's files can be shown: `why` not. `host`: where there are several control hosts. */
  'inventory.records.certificate': [{ owner: 'http'; host?: string; why?: string }, Record<string, never>];
  'inventory.alarms.list': [{ all?: boolean }, { items: AlarmView[] }];
  'inventory.alarms.ack': [By & { id: string; note?: string }, AlarmView];
  'inventory.status': [Record<string, never>, StatusView];
  /** By whoever holds the lease `conductor`, of one node or of all. NOT_LEADER where nobody does, CONDUCTOR_SLOW in time. */
  'inventory.plan': [{ node?: string }, PlanView];
  /** `revision`: of the settings that the order rests on. `warnings`: what will keep nodes from being fenced all the same. */
  'inventory.fencing.put': [By & FencingRequest & { revision?: number }, FencingSettings & { warnings?: string[] }];
  'inventory.settings.get': [Record<string, never>, WithRevision<ClusterSettings>];
  /** Merge patch over the whole set, validated as one. */
  'inventory.settings.patch': [
    By & { patch: Record<string, unknown>; revision?: number },
    WithRevision<ClusterSettings>,
  ];
  'inventory.config.get': [Record<string, never>, { config: ClustermConfig }];
  'inventory.config.put': [By & { config: unknown }, { config: ClustermConfig }];
  'inventory.tokens.list': [Record<string, never>, { items: (TokenRecord & { id: string })[] }];
  /** `sha256` of a token that the gateway has made and shows once. */
  'inventory.tokens.create': [By & { sha256: string; token: Omit<TokenRecord, 'by' | 'createdAt'> }, TokenRecord];
  'inventory.tokens.delete': [By & { id: string }, Record<string, never>];
  /** Stored records that cannot be read. */
  'inventory.records.list': [Record<string, never>, { items: UnreadableRecord[] }];
  'inventory.records.delete': [
    By & { bucket: string; key: string; reason: string; force?: boolean },
    Record<string, never>,
  ];
  /** By a provisioner that has found a bare machine: registers it where it is new, and issues its agent's user. */
  'inventory.agents.enrol': [By & AgentEnrolRequest, AgentEnrolment];
  /** By a host itself, which shows a token; `sha256` is of that. */
  'inventory.agents.admit': [{ sha256: string; host: AgentEnrolRequest; from?: string }, AgentAdmission];
  'inventory.agentTokens.list': [Record<string, never>, { items: AgentToken[] }];
  /** `sha256` of a token that the gateway has made and shows once; `ttl` in s; `uses`: nodes. @default 1 */
  'inventory.agentTokens.create': [By & { sha256: string; ttl: number; uses?: number }, AgentToken];
  'inventory.agentTokens.delete': [By & { id: string }, Record<string, never>];
  /** What a detector lacks, sealed to it; for nobody else. */
  'inventory.agents.keys': [KeysQuestion, KeysAnswer];
  /** By which channels an observer has seen a node's host to speak while it lived; from detectors, and nobody else. */
  'inventory.nodes.lifeSeen': [{ name: string; observer: string; seen: Omit<LifeSeen, 'at'> }, Record<string, never>];
  'inventory.agentKeys.get': [Record<string, never>, AgentKeyView];
  /** Begins an exchange; with `dropAbsent` it goes on with one that waits for nodes that nobody hears. */
  'inventory.agentKeys.rotate': [By & AgentKeyRotateRequest, AgentKeyView];
  /** Its agent's users are worthless from now on. */
  'inventory.nodes.revoke': [By & { name: string; reason: string; force?: boolean }, RevocationOutcome];
  'inventory.globals.put': [By & { extraVars?: Record<string, unknown> }, { extraVars: Record<string, unknown> }];
  /** Of every node that has an agent, by name; a page has 500 at most. */
  'inventory.agents.metrics': [PageRequest, Page<AgentView>];
  /** What a doctor asks of the bus and of the agents; each part says for itself where it could not be asked. */
  'inventory.diagnosis': [Record<string, never>, DiagnosisView];
  'inventory.workers.list': [Record<string, never>, { items: WorkerRecord[] }];
  /**
   * A provisioner is about to start a recover task on a node: may it still? Reads the registry and every fresh
   * report; `false` where the workload was seen running elsewhere or the generation is no longer current.
   */
  'inventory.workloads.mayStart': [
    { workload: string; node: string; generation: number },
    { allowed: boolean; reason: string },
  ];
  /** Any live fencer that offers the driver: one status read, no incident, no intent (it changes nothing). */
  'fencer.power.read': [
    { node: string; devices?: PowerDevice[] },
    { devices: { id: string; power: 'on' | 'off' | 'unknown'; code?: string; detail?: string }[] },
  ];
  /**
   * Who the devices of a node say they are. Nothing is changed; a node that is being fenced is not asked. `quick`: no
   * more than it takes to tell one from another. Without `seen` the device was not read: `code` says why.
   */
  'fencer.power.identify': [
    { node: string; quick?: boolean },
    { devices: { id: string; basis: string; seen?: DeviceFacts; code?: string; detail?: string }[] },
  ];
}
export type RpcVerb = keyof RpcMap;
export type RpcRequest<V extends RpcVerb> = RpcMap[V][0];
export type RpcAnswer<V extends RpcVerb> = RpcMap[V][1];

/** Plain request on Subjects.currentVerdict(). */
export interface CurrentVerdictRequest {
  node: string;
}
/** Plain answer of muster.cmd.* to tools. */
export type CommandAnswer = { ok: true; job?: string; nodes?: string[] } | CommandRefusal;
export interface CommandRefusal {
  ok: false;
  code: string;
  message: string;
}
/** As over HTTP: taken, and what each gate says of it. What stops at one waits to be released. */
export interface FenceCommandAnswer {
  ok: true;
  nodes: string[];
  gates: GateResult[];
  /** Absent for a dry run on a node without one. */
  incident?: { id: string; phase: IncidentRecord['phase'] };
}
/** Of muster.cmd.events. */
export interface EventsCommandAnswer {
  ok: true;
  events: PublicEvent[];
  /** Goes into the next `after`. */
  last: number;
  /** There is more behind `last`: ask again at once. */
  more: boolean;
  /** Some that stood behind `after` are not kept any more: what they told is to be read anew. */
  lost: boolean;
}
