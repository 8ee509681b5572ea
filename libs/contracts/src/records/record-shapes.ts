import { IncidentPhases } from '../incident/incident.js';
import { JobKinds, JobStatuses } from '../job/job.js';
import { STORE_GENERATION_KEY, TOKEN_FLOOR_KEY } from '../admission/token-floor.js';
import { STORE_DISK_PREFIX } from '../settings/store-disk.js';
import { PERMITS_KEY, RESERVATIONS_KEY } from '../admission/admission.js';
import { AGENT_REVOCATION_PREFIX, AGENT_TOKEN_PREFIX, AGENT_USER_PREFIX } from '../keys/agent-token.js';
import { NodeStatuses } from '../node/node.js';
import type { BucketName } from '../names/subjects.js';
import { SETTINGS_KEY } from '../settings/settings.js';
import { VerdictKinds } from '../verdict/verdict.js';
import { DATAGRAM_KEYS_KEY } from '../wire/datagram-key-set.js';
import { anything, count, flag, listOf, mapOf, number, object, oneOf, text, type Shape } from './shape.js';

// Required is what the programs follow without asking whether it is there; values of an enumeration where they decide by it.

const free = mapOf(anything);
const byAt = { by: text, at: number };

const powerDevice = object(
  { id: text, driver: text, address: text },
  { port: number, username: text, secret: text, options: mapOf(text) },
);

const finding = object({ service: text, result: text, why: text }, { digest: text });
const checkResult = object({ findings: listOf(finding), checksum: text }, { alone: listOf(text) });

const node = object(
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
    awaited: flag,
    cordon: object({ reason: text, ...byAt }, { until: number, drain: flag, drained: number }),
    maintenance: object({ reason: text, at: number }, { incident: text }),
    confirmedOff: object({ at: number, incident: text }, { bootId: text }),
    pendingReturn: object(
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
    provisioned: object({ checksum: text, at: number, job: text }),
    findings: object({
      at: number,
      job: text,
      services: mapOf(object({ result: text, why: text, since: number }, { version: text, mode: text })),
    }),
    lastCheck: object(
      { at: number, job: text, ok: flag, step: text },
      { message: text, unreachable: flag, check: checkResult, failed: count },
    ),
    acceptedDrift: object(
      { reason: text, ...byAt, check: text, checksum: text, findings: listOf(finding) },
      { until: number, configuration: flag },
    ),
    bootId: text,
    verdict: object(
      { verdict: oneOf(...VerdictKinds), networks: listOf(text), epoch: number, seq: number, at: number },
      { bootId: text, reason: text },
    ),
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

const gate = object({ gate: text, pass: flag, detail: text });
const command = object(
  { n: count, epoch: count, fencer: text, level: count, device: text, verb: text, at: number },
  { attempt: count, endedAt: number, tookMs: number, result: object({ ok: flag }, { power: text, code: text }) },
);

const incident = object(
  {
    id: text,
    node: text,
    phase: oneOf(...IncidentPhases),
    cause: oneOf('auto', 'manual'),
    reason: text,
    openedAt: number,
    updatedAt: number,
    gates: listOf(gate),
    conductor: count,
    level: count,
    attempt: count,
    commands: listOf(command),
    recovery: listOf(object({ workload: text, from: text, state: text }, { to: text, generation: count, job: text })),
    steps: listOf(object({ phase: text, at: number, detail: text })),
  },
  {
    by: text,
    degraded: flag,
    verdict: object({ node: text, verdict: oneOf(...VerdictKinds), epoch: number, seq: number }, { reason: text }),
    bootId: text,
    gate: text,
    epoch: count,
    retryAt: number,
    proof: object({ kind: text, at: number }, { by: text, reason: text, level: count }),
    evidence: object({}, { power: text, refusedForMs: number }),
    powerOn: object({ wanted: flag, requestedAt: number }, { done: flag, ok: flag, detail: text }),
    order: object(
      { action: text, by: text, reason: text, at: number, after: count },
      { bootId: text, done: flag, ok: flag, detail: text },
    ),
    released: object({ by: text, reason: text, at: number, gates: listOf(text), force: flag }),
    // Only what stands in for a record that cannot be read has it, and that is never stored.
    unreadable: (_x, at) => `${at} is no member of a stored incident`,
  },
);

const recoverTask = object({ workload: text, generation: count, driver: text, spec: free }, { stop: flag });
const partDiff = object({ kind: text, name: text, lines: listOf(text) }, { note: text, cut: count });
const nodeResult = object(
  { ok: flag, step: text },
  {
    node: text,
    failedTask: text,
    message: text,
    changed: number,
    check: object(
      { findings: listOf(object({ service: text, result: text, why: text })), checksum: text },
      { alone: listOf(text) },
    ),
    diff: object(
      { services: listOf(object({ service: text, parts: listOf(partDiff) }, { unknown: text })) },
      { cut: count },
    ),
    verdict: object({ outcome: text, why: text }),
    declared: mapOf(object({ version: text, mode: text })),
    test: object({
      service: text,
      hostGroup: text,
      mode: text,
      steps: listOf(object({ step: text, ok: flag })),
      wrong: listOf(object({ file: text, what: text })),
    }),
    checksum: text,
    cleanupFailed: flag,
    unreachable: flag,
    hostKeys: listOf(text),
    workloads: mapOf(object({ started: flag, reason: text }, { stopped: flag, seen: count })),
  },
);

const job = object(
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
    progress: mapOf(object({ step: text, task: text, done: number, failed: flag })),
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

const owed = object({ cause: text, attempt: count }, { job: text, why: text });

const workload = object(
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
    assignment: object({ node: text, generation: count }, { followed: count }),
    held: text,
    start: owed,
    stop: owed,
    move: object({ cause: text, from: text, to: text }),
    boot: text,
    ended: object({ times: count, at: number }),
    failedOn: listOf(object({ node: text, at: number })),
  },
);

const worker = object({
  service: text,
  id: text,
  drivers: listOf(text),
  incarnation: text,
  host: text,
  startedAt: number,
  beat: number,
});

const alarm = object(
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
export const LONGEST_LEASE_MS = 60_000;

const lease = object({
  holder: text,
  token: count,
  nonce: text,
  ttlMs: (x, at) =>
    typeof x === 'number' && x > 0 && x <= LONGEST_LEASE_MS ? undefined : `${at} is not within ${LONGEST_LEASE_MS} ms`,
});

const cluster = object(
  {
    cluster: text,
    detection: object({
      interval: number,
      misses: number,
      suspectMisses: number,
      reportPeriod: number,
      freshness: number,
      loopGap: number,
    }),
    fencing: object(
      { mode: oneOf('observe', 'enforce') },
      {
        paused: object({ reason: text, by: text }, { until: number }),
        hung: oneOf('alarm', 'fence'),
        afterRecovery: oneOf('power-on', 'stay-off'),
        storm: mapOf(number),
      },
    ),
    hostGroups: listOf(object({ name: text, role: text }, { onReturn: text })),
  },
  {
    agentPort: number,
    globals: free,
    leaveGrace: number,
    holdDown: number,
    degraded: object({}, { policy: text, after: number }),
    check: object({}, { every: number }),
    witness: text,
    ansible: object({}, { extraVars: free }),
    webhooks: listOf(object({ name: text, url: text })),
    compat: object({}, { force: flag }),
  },
);

const hold = object({ generation: count, at: number }, { job: text, claim: text, edit: text });
const reservations = object(
  { held: mapOf(hold), pending: mapOf(job), generation: count },
  {
    claims: mapOf(
      object(
        { id: text, owner: text, nodes: listOf(text), by: text, at: number },
        { expiresAt: number, pending: flag },
      ),
    ),
    edits: mapOf(object({ nodes: listOf(text) })),
    nodesAt: count,
  },
);
const permits = object({ granted: listOf(object({ incident: text, node: text, at: number })) });
const editPart = object({
  edit: text,
  part: count,
  parts: count,
  changes: listOf(object({ kind: oneOf('create', 'edit', 'delete') }, { node, name: text, patch: free })),
  drops: listOf(text),
  fresh: listOf(text),
});

const secret = object({ iv: text, tag: text, data: text });
const token = object(
  { name: text, role: oneOf('viewer', 'operator', 'admin'), by: text, createdAt: number, sha256: text },
  { expiresAt: number },
);
const attempt = object({ fingerprint: text, instance: text, incarnation: text }, { answer: object({}) });

const settings: readonly [prefix: string, shape: Shape][] = [
  [DATAGRAM_KEYS_KEY, object({ version: number, phase: text, keys: listOf(text), by: text, startedAt: number })],
  [AGENT_REVOCATION_PREFIX, object({ node: text, reason: text, ...byAt })],
  [
    AGENT_TOKEN_PREFIX,
    object(
      { id: text, by: text, createdAt: number, expiresAt: number, usedBy: listOf(text), sha256: text },
      { uses: count },
    ),
  ],
  [AGENT_USER_PREFIX, object({ key: text, node: text, at: number }, { revoked: number })],
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

const shapes: Record<BucketName, (key: string) => Shape> = {
  nodes: () => node,
  incidents: () => incident,
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

/** What a value of the bucket must be like under this key. */
export const shapeOf = (bucket: BucketName, key: string): Shape => shapes[bucket](key);

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
