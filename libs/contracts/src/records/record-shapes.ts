import type { AlarmRecord } from '../alarms/alarm.js';
import {
  IncidentPhases,
  type GateResult,
  type IncidentRecord,
  type IncidentStep,
  type OffProof,
  type PowerCommand,
  type PowerOrder,
  type ProofDoubt,
  type RecoveryAssignment,
} from '../incident/incident.js';
import {
  OrderPhases,
  POWER_RECORD_SCHEMA,
  type CommandLog,
  type IncidentPart,
  type OrderStory,
  type PowerRecord,
  type StoredOrder,
} from '../incident/power-record.js';
import type { StormMember, StormTrip } from '../incident/storm.js';
import type { PartDiff } from '../job/check-diff.js';
import {
  JobKinds,
  JobStatuses,
  type CheckResult,
  type Finding,
  type JobRecord,
  type NodeProgress,
  type NodeResult,
  type RecoverTask,
  type WorkloadOutcome,
} from '../job/job.js';
import { STORE_GENERATION_KEY, TOKEN_FLOOR_KEY } from '../admission/token-floor.js';
import { STORE_DISK_PREFIX } from '../settings/store-disk.js';
import {
  PERMITS_KEY,
  RESERVATIONS_KEY,
  type ClaimRecord,
  type Hold,
  type Permits,
  type Reservations,
} from '../admission/admission.js';
import type { DeviceDenial, DeviceFacts, HardwareFacts, PowerIdentity } from '../hardware/power-identity.js';
import {
  AGENT_REVOCATION_PREFIX,
  AGENT_TOKEN_PREFIX,
  AGENT_USER_PREFIX,
  type AgentRevocation,
  type AgentUser,
  type StoredAgentToken,
} from '../keys/agent-token.js';
import type { StoredToken } from '../keys/token.js';
import {
  NodeStatuses,
  type AcceptedDrift,
  type ConfirmedOff,
  type Cordon,
  type LastCheck,
  type Maintenance,
  type NodeFindings,
  type NodeRecord,
  type PendingReturn,
  type PowerDevice,
  type Provisioned,
  type ServiceFinding,
} from '../node/node.js';
import type { BucketName } from '../names/subjects.js';
import type { DeclaredService, ServiceTestResult } from '../services/service-test.js';
import type { HostGroup } from '../settings/host-group.js';
import {
  SETTINGS_KEY,
  type AnsibleSettings,
  type CheckSettings,
  type ClusterSettings,
  type DegradedSettings,
  type DetectionSettings,
  type FencingPause,
  type FencingSettings,
  type Webhook,
} from '../settings/settings.js';
import { VerdictKinds, type Verdict, type VerdictEvidence } from '../verdict/verdict.js';
import { DATAGRAM_KEYS_KEY, type DatagramKeySet } from '../wire/datagram-key-set.js';
import type { LifeSeen, LifeSignWaived } from '../wire/life-signs.js';
import type { WorkerRecord } from '../workers/worker.js';
import type { Assignment, Ended, FailedOn, Move, StartOwed, StopOwed, WorkloadRecord } from '../workload/workload.js';
import { anything, count, flag, listOf, mapOf, number, object, oneOf, text, type Shape } from './shape.js';

// Required is what the programs follow without asking whether it is there; values of an enumeration where they decide by it.

/**
 * Each member of `T` has its shape: one that is not named does not compile, and neither does one that `T` has not. What
 * an earlier version left out is not required, whatever its type says now.
 */
const recordOf =
  <T extends object>() =>
  <R extends { readonly [K in keyof T]?: Shape }>(
    required: R & { readonly [K in Exclude<keyof R, keyof T>]: never },
    optional: { readonly [K in Exclude<keyof T, keyof R>]: Shape },
  ): Shape =>
    object(required, optional);

const free = mapOf(anything);
const byAt = { by: text, at: number };

const powerDevice = recordOf<PowerDevice>()(
  { id: text, driver: text, address: text },
  { port: number, username: text, secret: text, options: mapOf(text), shared: flag },
);

const facts = { boardSerial: text, chassisSerial: text };
const deviceFacts = recordOf<DeviceFacts>()({}, { guid: text, ...facts });
const powerIdentity = recordOf<PowerIdentity>()(
  { result: oneOf('proven', 'unproven', 'mismatch'), at: number, basis: text },
  {
    by: text,
    why: text,
    seen: deviceFacts,
    acknowledged: object({ ...byAt, why: text }),
    unread: object({ at: number, why: text }),
  },
);
const hardware = { systemUuid: text, bmcGuid: text, ...facts };

const finding = recordOf<Finding>()({ service: text, result: text, why: text }, { digest: text });
const checkResult = recordOf<CheckResult>()({ findings: listOf(finding), checksum: text }, { alone: listOf(text) });

const node = recordOf<NodeRecord>()(
  {
    name: text,
    label: text,
    serial: text,
    failureDomain: text,
    networks: mapOf(object({ address: text })),
    powerLevels: listOf(listOf(powerDevice)),
    provisionDriver: text,
    vars: free,
    fencing: oneOf('auto', 'manual'),
    enrolled: flag,
    status: oneOf(...NodeStatuses),
    prevStatus: oneOf(...NodeStatuses, 'Incomplete'),
    state: oneOf('Unknown', 'Discovered', 'Disappeared'),
    prevState: oneOf('Unknown', 'Discovered', 'Disappeared'),
    createdAt: number,
  },
  {
    hostGroup: text,
    powerIdentity: mapOf(powerIdentity),
    hardware: recordOf<HardwareFacts>()({ at: number }, hardware),
    awaited: flag,
    cordon: recordOf<Cordon>()({ reason: text, ...byAt }, { until: number, drain: flag, drained: number }),
    maintenance: recordOf<Maintenance>()({ reason: text, at: number }, { incident: text }),
    confirmedOff: recordOf<ConfirmedOff>()({ at: number, incident: text }, { bootId: text }),
    pendingReturn: recordOf<PendingReturn>()(
      { reason: text, at: number },
      {
        job: text,
        next: text,
        failedTries: count,
        failedWhy: text,
        unreached: object({ tries: count, why: text }),
        found: text,
        only: listOf(text),
        held: text,
        heldBy: text,
      },
    ),
    provisioned: recordOf<Provisioned>()({ checksum: text, at: number, job: text }, { services: listOf(text) }),
    findings: recordOf<NodeFindings>()(
      {
        at: number,
        job: text,
        services: mapOf(
          recordOf<ServiceFinding>()({ result: text, why: text, since: number }, { version: text, mode: text }),
        ),
      },
      {},
    ),
    lastCheck: recordOf<LastCheck>()(
      { at: number, job: text, ok: flag, step: text },
      { message: text, unreachable: flag, check: checkResult, failed: count },
    ),
    acceptedDrift: recordOf<AcceptedDrift>()(
      { reason: text, ...byAt, check: text, checksum: text, findings: listOf(finding) },
      { until: number, configuration: flag },
    ),
    bootId: text,
    verdict: recordOf<NonNullable<NodeRecord['verdict']>>()(
      { verdict: oneOf(...VerdictKinds), networks: listOf(text), epoch: number, seq: number, at: number },
      { bootId: text, reason: text, left: text },
    ),
    lifeSeen: mapOf(recordOf<LifeSeen>()({ place: text, channels: listOf(text), at: number }, {})),
    lifeSignWaived: recordOf<LifeSignWaived>()({ reason: text, ...byAt }, {}),
    ungated: listOf(text),
    poweredOnAt: listOf(number),
    external: object({ event: text, address: text, at: number }),
    sshHostKeys: listOf(text),
    machine: text,
    productSerial: text,
    agentKeys: listOf(text),
    revoked: object({ ...byAt, reason: text }),
    hostGroupWas: text,
    lastJob: text,
  },
);

const gate = recordOf<GateResult>()({ gate: text, pass: flag, detail: text }, {});
const command = recordOf<PowerCommand>()(
  { n: count, epoch: count, fencer: text, level: count, device: text, verb: text, at: number },
  {
    attempt: count,
    endedAt: number,
    tookMs: number,
    result: object({ ok: flag }, { power: text, code: text, detail: text }),
  },
);
const doubt = recordOf<ProofDoubt>()({ at: number }, { bootId: text, device: text });
const proof = recordOf<OffProof>()({ kind: text, at: number }, { by: text, reason: text, level: count, doubt });
const recovery = listOf(
  recordOf<RecoveryAssignment>()(
    { workload: text, from: text, state: text },
    { to: text, generation: count, job: text, detail: text },
  ),
);
/** Figures in it are shown, and an age of what was never heard is no number in JSON. */
const evidence = recordOf<VerdictEvidence>()(
  { observers: listOf(object({ observer: text, network: text, stance: text })) },
  {
    wordless: listOf(object({ observer: text, why: text })),
    assigned: anything,
    accusers: anything,
    networksOut: listOf(text),
    members: anything,
    sightedReporters: anything,
    sighted: flag,
    ownReportAgeMs: anything,
    ownProbe: object({ echo: listOf(text), ssh: text }),
    lifeLooks: listOf(object({ by: text, spoke: listOf(text) })),
    left: text,
  },
);

/** What of an incident is its own, in either schema. */
const ofIncident = {
  id: text,
  phase: oneOf(...IncidentPhases),
  cause: oneOf('auto', 'manual'),
  reason: text,
  openedAt: number,
  gates: listOf(gate),
  conductor: count,
  level: count,
  attempt: count,
  recovery,
  steps: listOf(recordOf<IncidentStep>()({ phase: text, at: number, detail: text }, {})),
} satisfies { [K in keyof IncidentPart]?: Shape };
const ofIncidentOrNot = {
  by: text,
  orderedAt: number,
  degraded: flag,
  verdict: recordOf<Verdict>()(
    { node: text, verdict: oneOf(...VerdictKinds), epoch: number, seq: number, evidence },
    { networks: listOf(text), at: number, bootId: text, agentEpoch: number, poweredOn: flag, reason: text },
  ),
  bootId: text,
  gate: text,
  retryAt: number,
  lacking: listOf(text),
  devices: text,
  proof,
  drill: object({ at: number }, { level: count, result: object({ ok: flag, at: number, detail: text }) }),
  silentBefore: listOf(text),
  collateral: object({ at: number, nodes: listOf(object({ node: text }, { bootId: text })) }),
  contradiction: object({ at: number, devices: text, recovery }, { proof }),
  evidence: recordOf<NonNullable<IncidentRecord['evidence']>>()({}, { power: text, hungForMs: number }),
  powerOn: object({ wanted: flag, requestedAt: number }, { done: flag, ok: flag, detail: text }),
  released: object({ by: text, reason: text, at: number, gates: listOf(text), force: flag }),
  wantedAt: text,
  takenBack: object({ ...byAt, reason: text }, { over: flag }),
} satisfies { [K in keyof IncidentPart]?: Shape };

const commands = listOf(command);
const ofLogOrNot = {
  epoch: count,
  devicesAfter: count,
  onBefore: object({ incident: text, n: count }),
  denied: mapOf(recordOf<DeviceDenial>()({ basis: text, seen: deviceFacts, at: number }, {})),
} satisfies { [K in keyof CommandLog]?: Shape };

const ofOrder = {
  action: text,
  by: text,
  reason: text,
  at: number,
  after: count,
} satisfies { [K in keyof PowerOrder]?: Shape };
const ofOrderOrNot = { bootId: text, detail: text } satisfies { [K in keyof PowerOrder]?: Shape };

/** It stands elsewhere in the record, or in no record: as a member of this part it would be followed unseen. */
const notHere: Shape = (_x, at) => `${at} is no member of a stored incident`;

/** Of the first schema. `unreadable` has only what stands in for a record that cannot be read, and is never stored. */
const incident = recordOf<IncidentRecord>()(
  { ...ofIncident, node: text, updatedAt: number, commands },
  {
    ...ofIncidentOrNot,
    ...ofLogOrNot,
    order: recordOf<PowerOrder>()(ofOrder, { ...ofOrderOrNot, done: flag, ok: flag }),
    unreadable: notHere,
  },
);

// Its schema has chosen this shape already; whoever opens what is sealed takes it off.
const powerParts = recordOf<Omit<PowerRecord, 'schema'> & Pick<IncidentRecord, 'unreadable'>>()(
  { node: text, updatedAt: number, log: recordOf<CommandLog>()({ commands }, ofLogOrNot) },
  {
    incident: recordOf<Omit<IncidentRecord, 'node' | 'updatedAt' | 'commands'>>()(ofIncident, {
      ...ofIncidentOrNot,
      epoch: notHere,
      devicesAfter: notHere,
      onBefore: notHere,
      denied: notHere,
      order: notHere,
      unreadable: notHere,
    }),
    order: recordOf<StoredOrder & Pick<PowerOrder, 'done' | 'ok'>>()(
      { ...ofOrder, phase: oneOf(...OrderPhases) },
      {
        ...ofOrderOrNot,
        done: notHere,
        ok: notHere,
        story: recordOf<OrderStory>()(
          { id: text, since: number, steps: listOf(object({ at: number, detail: text })) },
          {},
        ),
      },
    ),
    unreadable: notHere,
  },
);

/** It is about a fencing, or an order that tells its own story, or both. */
const powerRecord: Shape = (x, at) => {
  const why = powerParts(x, at);
  if (why !== undefined) return why;
  const { incident: about, order: by } = x as { incident?: object; order?: { story?: object } };
  return about === undefined && by?.story === undefined
    ? 'it has neither an incident nor an order of its own'
    : undefined;
};

const recoverTask = recordOf<RecoverTask>()(
  { workload: text, generation: count, driver: text, spec: free },
  { stop: flag },
);
const partDiff = recordOf<PartDiff>()({ kind: text, name: text, lines: listOf(text) }, { note: text, cut: count });
const nodeResult = recordOf<NodeResult>()(
  { ok: flag, step: text },
  {
    node: text,
    failedTask: text,
    message: text,
    changed: number,
    check: checkResult,
    diff: object(
      { services: listOf(object({ service: text, parts: listOf(partDiff) }, { unknown: text })) },
      { cut: count },
    ),
    verdict: object({ outcome: text, why: text }),
    declared: mapOf(recordOf<DeclaredService>()({ version: text, mode: text }, {})),
    test: recordOf<ServiceTestResult>()(
      {
        service: text,
        hostGroup: text,
        mode: text,
        steps: listOf(object({ step: text, ok: flag })),
        wrong: listOf(object({ file: text, what: text })),
      },
      {},
    ),
    checksum: text,
    services: listOf(text),
    cleanupFailed: flag,
    unreachable: flag,
    hostKeys: listOf(text),
    hardware: recordOf<Omit<HardwareFacts, 'at'>>()({}, hardware),
    workloads: mapOf(recordOf<WorkloadOutcome>()({ started: flag, reason: text }, { stopped: flag, seen: count })),
  },
);

const job = recordOf<JobRecord>()(
  {
    id: text,
    kind: oneOf(...JobKinds),
    nodes: listOf(text),
    status: oneOf(...JobStatuses),
    desc: text,
    extraVars: free,
    task: text,
    error: text,
    createdAt: number,
    by: text,
    generation: count,
    results: mapOf(nodeResult),
    settled: flag,
  },
  {
    hostGroup: text,
    addresses: listOf(text),
    skipped: mapOf(text),
    services: listOf(text),
    diff: flag,
    recover: listOf(recoverTask),
    progress: mapOf(recordOf<NodeProgress>()({ step: text, task: text, done: number, failed: flag }, {})),
    timeoutMs: number,
    moving: listOf(text),
    startedAt: number,
    endedAt: number,
    fingerprint: text,
    cause: text,
    conductor: count,
    outranked: count,
    worker: text,
    cancel: object(byAt),
  },
);

const assignment = recordOf<Assignment>()({ node: text, generation: count }, { followed: count });
const owedStart = recordOf<StartOwed>()({ cause: text, attempt: count }, { job: text });
const owedStop = recordOf<StopOwed>()({ cause: text, attempt: count }, { job: text, why: text });

const workload = recordOf<WorkloadRecord>()(
  {
    name: text,
    desired: oneOf('running', 'stopped'),
    priority: number,
    weight: number,
    recovery: object({ driver: text, spec: free }),
    generation: count,
  },
  {
    hostGroup: text,
    assignment,
    held: text,
    start: owedStart,
    stop: owedStop,
    move: recordOf<Move>()({ cause: text, from: text, to: text }, {}),
    boot: text,
    ended: recordOf<Ended>()({ times: count, at: number }, {}),
    failedOn: listOf(recordOf<FailedOn>()({ node: text, at: number }, {})),
  },
);

const worker = recordOf<WorkerRecord>()(
  {
    service: text,
    id: text,
    drivers: listOf(text),
    incarnation: text,
    host: text,
    startedAt: number,
    beat: number,
  },
  { failing: listOf(text), reads: number, addresses: listOf(text) },
);

const alarm = recordOf<AlarmRecord>()(
  {
    code: text,
    subject: text,
    severity: oneOf('info', 'warning', 'critical'),
    message: text,
    since: number,
    count: number,
  },
  { worst: text, cleared: number, acknowledged: object(byAt, { note: text }) },
);

/** The longest that a record may claim to hold a lease for, ms: a contender waits as long as the record says. */
const LONGEST_LEASE_MS = 60_000;

const lease = object({
  holder: text,
  token: count,
  nonce: text,
  ttlMs: (x, at) =>
    typeof x === 'number' && x > 0 && x <= LONGEST_LEASE_MS ? undefined : `${at} is not within ${LONGEST_LEASE_MS} ms`,
});

const fencing = recordOf<FencingSettings>()(
  { mode: oneOf('observe', 'enforce') },
  {
    paused: recordOf<FencingPause>()({ reason: text, by: text }, { until: number }),
    hung: oneOf('alarm', 'fence'),
    afterRecovery: oneOf('power-on', 'stay-off'),
    storm: mapOf(number),
  },
);
const ansible = recordOf<AnsibleSettings>()(
  {},
  {
    playbooks: text,
    user: text,
    privateKey: text,
    extraVars: free,
    sitePlaybook: text,
    cleanupPlaybook: text,
    upgradePlaybook: text,
  },
);
const cluster = recordOf<ClusterSettings>()(
  {
    cluster: text,
    detection: recordOf<DetectionSettings>()(
      {
        interval: number,
        misses: number,
        suspectMisses: number,
        reportPeriod: number,
        freshness: number,
        loopGap: number,
      },
      { profile: text },
    ),
    fencing,
    hostGroups: listOf(
      recordOf<HostGroup>()({ name: text, role: text }, { onReturn: text, lifeSign: text, lifeSignReason: text }),
    ),
  },
  {
    agentPort: number,
    globals: free,
    leaveGrace: number,
    holdDown: number,
    degraded: recordOf<DegradedSettings>()({}, { policy: text, after: number }),
    check: recordOf<CheckSettings>()({}, { every: number }),
    witness: text,
    ansible,
    webhooks: listOf(recordOf<Webhook>()({ name: text, url: text }, { secret: text, severity: text })),
    compat: object({}, { force: flag }),
  },
);

const hold = recordOf<Hold>()(
  { generation: count, at: number },
  { job: text, claim: text, edit: text, kind: text, periodic: flag, hostGroup: text },
);
const claim = recordOf<ClaimRecord>()(
  { id: text, owner: text, nodes: listOf(text), by: text, at: number },
  { hostGroup: text, selector: text, expiresAt: number, pending: flag },
);
const reservations = recordOf<Reservations>()(
  { held: mapOf(hold), pending: mapOf(job), generation: count },
  { claims: mapOf(claim), edits: mapOf(object({ nodes: listOf(text) })), nodesAt: count },
);
const stormMember = recordOf<StormMember>()({}, { returned: flag, released: object({ ...byAt, reason: text }) });
const trip = recordOf<StormTrip>()(
  { id: text, cause: text, at: number, members: mapOf(stormMember) },
  { domain: text },
);
const permits = recordOf<Permits>()(
  { granted: listOf(object({ incident: text, node: text, at: number })) },
  { trips: listOf(trip), ages: mapOf(number), blindness: object({ epoch: number, seq: number }) },
);
const editPart = object({
  edit: text,
  part: count,
  parts: count,
  changes: listOf(object({ kind: oneOf('create', 'edit', 'delete') }, { node, name: text, patch: free })),
  drops: listOf(text),
  fresh: listOf(text),
});

const secret = object({ iv: text, tag: text, data: text });
const token = recordOf<StoredToken>()(
  { name: text, role: oneOf('viewer', 'operator', 'admin'), by: text, createdAt: number, sha256: text },
  { expiresAt: number },
);
const attempt = object({ fingerprint: text, instance: text, incarnation: text }, { answer: object({}) });

const settings: readonly [prefix: string, shape: Shape][] = [
  [
    DATAGRAM_KEYS_KEY,
    recordOf<DatagramKeySet>()(
      { version: number, phase: text, keys: listOf(text), by: text, startedAt: number },
      { retired: text, without: listOf(text), changedAt: number },
    ),
  ],
  [AGENT_REVOCATION_PREFIX, recordOf<AgentRevocation>()({ node: text, reason: text, ...byAt }, {})],
  [
    AGENT_TOKEN_PREFIX,
    recordOf<StoredAgentToken>()(
      { id: text, by: text, createdAt: number, expiresAt: number, usedBy: listOf(text), sha256: text },
      { uses: count },
    ),
  ],
  [AGENT_USER_PREFIX, recordOf<AgentUser>()({ key: text, node: text, at: number }, { revoked: number })],
  ['peer-list', object({ version: number, hash: text })],
  ['workload-generations', object({ highest: count })],
  [TOKEN_FLOOR_KEY, object({ highest: count })],
  [
    STORE_GENERATION_KEY,
    object({ generation: count }, { loaded: object({ copied: text, at: text }, { found: flag }) }),
  ],
  ['bucket-births', object({ created: mapOf(text) })],
  [STORE_DISK_PREFIX, object({ path: text, totalBytes: number, freeBytes: number, at: number })],
];

const settingsShape = (key: string): Shape =>
  key === SETTINGS_KEY ? cluster : (settings.find(([prefix]) => key.startsWith(prefix))?.[1] ?? object({}));

const admissionShape = (key: string): Shape =>
  key === RESERVATIONS_KEY ? reservations : key === PERMITS_KEY ? permits : editPart;

const shapes: Record<BucketName, (key: string, schema: number) => Shape> = {
  nodes: () => node,
  incidents: (_key, schema) => (schema === POWER_RECORD_SCHEMA ? powerRecord : incident),
  jobs: () => job,
  workloads: () => workload,
  workers: () => worker,
  alarms: () => alarm,
  leases: () => lease,
  settings: settingsShape,
  secrets: () => secret,
  admission: admissionShape,
  tokens: () => token,
  idempotency: () => attempt,
};

/** What a value of the bucket must be like under this key, by its schema. */
export const shapeOf = (bucket: BucketName, key: string, schema: number): Shape => shapes[bucket](key, schema);

/** Options of a node's power devices, as a path of {@link sealable}. */
export const POWER_OPTIONS = 'powerLevels.*.*.options';

/**
 * Members of records in which what is secret is sealed where it stands, by bucket: paths, `*` for each item or member.
 * Whoever owns the records reads and writes them in clear: sealing and opening is at the edge of the store.
 */
export const sealable: Readonly<Partial<Record<BucketName, readonly string[]>>> = {
  nodes: [POWER_OPTIONS, 'vars'],
  workloads: ['recovery.spec'],
  // Extra vars are not among them: inventory has sealed them before they come into a job.
  jobs: ['recover.*.spec'],
  // A change of several nodes until it is carried out, and jobs until they have a record.
  admission: [
    ...['node', 'patch'].flatMap((as) => [`changes.*.${as}.${POWER_OPTIONS}`, `changes.*.${as}.vars`]),
    'pending.*.recover.*.spec',
  ],
};
