import type {
  AcceptDriftRequest,
  AckRequest,
  AgentEnrolRequest,
  AgentKeyRotateRequest,
  AgentKeyView,
  AgentToken,
  AgentTokenRequest,
  ClaimRecord,
  ClaimRequest,
  CordonRequest,
  FencingRequest,
  FencingSettings,
  IncidentRecord,
  JobRecord,
  NodeCreateRequest,
  NodeEvidence,
  NodeImportRequest,
  NodePatchRequest,
  NodeReplaceRequest,
  NodeView,
  OperationRequest,
  PowerActionRequest,
  ReasonRequest,
  ReleaseRequest,
  RevokeRequest,
  StormView,
  WaiveLifeSignRequest,
  TokenRequest,
  Verdict,
  WithRevision,
  WorkloadRecord,
  WorkloadStanding,
  WorkloadView,
  WorkloadRequest,
} from '#contracts';
import { alarmRemedy, clustermNode, defaultFencing, defaultSettings, incidentReport } from '#contracts';
import { fencingReport } from '#domain/incident/fencing-report.js';
import type { Answers } from './answers.js';

/** One small fleet for all examples: `rack1-a1` is in service, `rack2-b7` is being fenced. */

const at = 1_764_000_000_000;
const drift: AcceptDriftRequest = { reason: 'a trial of the new limit', until: at + 86_400_000, check: 'job-7f' };
const waiver: WaiveLifeSignRequest = { reason: 'behind a firewall that lets nothing but NATS through' };

const node: NodeView = {
  name: 'rack1-a1',
  label: 'rack1',
  serial: 'a1',
  hostGroup: 'service-worker',
  failureDomain: 'room-1',
  networks: { management: { address: '10.0.0.11' }, backend: { address: '10.1.0.11' } },
  powerLevels: [
    [{ id: 'bmc', driver: 'ipmitool', address: '10.9.0.11', username: 'muster', secret: 'power=rack1-a1=bmc' }],
  ],
  provisionDriver: 'ansible',
  vars: { rack: 'r1' },
  fencing: 'auto',
  enrolled: true,
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Discovered',
  bootId: '1f0e2d3c-4b5a-6978-8796-a5b4c3d2e1f0',
  createdAt: at,
  revision: 42,
  inService: true,
  reasons: [],
};

const job: WithRevision<JobRecord> = {
  id: 'job-mi3k2x1c-9f2c1a',
  kind: 'commission',
  nodes: ['rack1-a1'],
  status: 'Complete',
  desc: 'commissionEvent: nodes:[rack1-a1] extra-vars:{} host-group:service-worker',
  hostGroup: 'service-worker',
  extraVars: {},
  task: 'site.yml',
  error: '',
  createdAt: at,
  startedAt: at + 400,
  endedAt: at + 61_000,
  by: 'ann',
  worker: 'provisioner-1',
  generation: 1,
  results: { 'rack1-a1': { ok: true, step: 'site', changed: 12, checksum: '9c56cc51' } },
  settled: true,
  revision: 118,
};

const verdict: Verdict = {
  node: 'rack2-b7',
  verdict: 'DOWN',
  networks: ['management', 'backend'],
  epoch: 7,
  seq: 91,
  at,
  bootId: '0c9d1e2f-3a4b-5c6d-7e8f-90a1b2c3d4e5',
  reason: '3 of 3 observers report it down on every network',
  evidence: {
    observers: [{ observer: 'rack1-a1', network: 'management', misses: 6, reportAgeMs: 320, stance: 'accuses' }],
    assigned: 3,
    accusers: 3,
    members: 4,
    sightedReporters: 3,
    sighted: true,
    ownReportAgeMs: 3_400,
    ownProbe: {
      echo: [],
      ssh: 'silent',
      icmp: 'silent',
      port: 'silent',
      agentPort: 'silent',
      by: 'detector-control1',
      spoke: ['icmp', 'port', 'ssh'],
      ageMs: 120,
    },
  },
};

const { evidence, ...verdictAlone } = verdict;
const { observers: _rows, ...counts } = evidence;

const nodeEvidence: NodeEvidence = {
  node: 'rack2-b7',
  source: 'now',
  asOf: at + 2_000,
  verdict: { ...verdictAlone, at: at + 2_000 },
  since: at,
  networks: ['management', 'backend'],
  observers: [
    {
      observer: 'rack1-a1',
      stance: 'accuses',
      reportAgeMs: 320,
      networks: {
        management: { health: 'silent', misses: 6, rttUs: 310 },
        backend: { health: 'silent', misses: 7, rttUs: 290, lostPermille: 58 },
      },
    },
    { observer: 'rack1-a2', stance: 'absent', wordless: 'never-heard', networks: {} },
  ],
  counts,
};

const incident: WithRevision<IncidentRecord> = {
  id: 'i-mi3k4c2a-1b2c3d',
  node: 'rack2-b7',
  phase: 'fencing',
  cause: 'auto',
  reason: verdict.reason,
  openedAt: at,
  updatedAt: at + 700,
  verdict,
  gates: [{ gate: 'BLIND', pass: true, detail: '3 of 4 members report' }],
  conductor: 12,
  epoch: 31,
  level: 0,
  attempt: 1,
  commands: [{ n: 1, epoch: 31, fencer: 'fencer-1', level: 0, device: 'bmc', verb: 'off', at: at + 700 }],
  recovery: [],
  steps: [{ phase: 'open', at, detail: verdict.reason }],
  revision: 203,
};

const workload: WithRevision<WorkloadRecord> = {
  name: 'mirror',
  desired: 'running',
  priority: 10,
  hostGroup: 'service-worker',
  weight: 1,
  recovery: { driver: 'ansible', spec: { exec: '/usr/bin/mirror --port 7380', user: 'mirror', restart: 'on-failure' } },
  assignment: { node: 'rack1-a1', generation: 3 },
  generation: 3,
  revision: 77,
};

const deadOnItsNode: WorkloadStanding = {
  state: 'dead',
  reportAgeMs: 41_000,
  why: 'rack2-b7 is DOWN and cordoned by ann (new memory): it is not fenced.',
  remedy: alarmRemedy({ code: 'dead-with-work', subject: 'rack2-b7' }),
};

const seenWorkload: WithRevision<WorkloadView> = {
  ...workload,
  actual: { state: 'running', seenOn: 'rack1-a1', reportAgeMs: 310 },
};

const claim: ClaimRecord = {
  id: 'claim-mi3k5d3b-4e5f6a',
  owner: 'batch',
  nodes: ['rack1-a1'],
  selector: 'vars.rack=r1',
  by: 'scheduler',
  at,
  expiresAt: at + 3_600_000,
};

const alarm: Answers['POST /v1/alarms/{id}/ack'] = {
  id: 'node-degraded=rack2-b7',
  code: 'node-degraded',
  subject: 'rack2-b7',
  severity: 'warning',
  message: 'rack2-b7 is silent on backend.',
  remedy: alarmRemedy({ code: 'node-degraded', subject: 'rack2-b7' }),
  since: at,
  count: 3,
  acknowledged: { by: 'ann', at: at + 60_000 },
};

const agentToken: AgentToken = {
  id: '9f86d081884c7d65',
  by: 'ann',
  createdAt: at,
  expiresAt: at + 3_600_000,
  uses: 10,
  usedBy: [],
};

const agentKey: AgentKeyView = {
  phase: 'spread',
  keys: ['1f3a9c2e', '77aa01bc'],
  by: 'ann',
  startedAt: at,
  changedAt: at,
  nodes: 12,
  waitsFor: [{ name: 'rack2-b7', keys: ['1f3a9c2e'], heard: false }],
};

const fencing: FencingSettings = { ...defaultFencing, mode: 'enforce' };
const settings = { ...defaultSettings('muster'), revision: 9 };
const events: Answers['GET /v1/events'] = {
  items: [
    {
      seq: 5120,
      id: 'job.job-mi3k2x1c-9f2c1a.accepted',
      kind: 'job',
      key: job.id,
      at,
      source: 'inventory-1',
      data: { job: job.id, kind: 'commission', status: 'Queued', nodes: job.nodes, task: 'commission', error: '' },
    },
  ],
};
const token = { name: 'ci', role: 'operator' as const, by: 'ann', createdAt: at, expiresAt: at + 86_400_000 };
const tokenId = '9f86d081884c7d65';

const storm: StormView = {
  id: 's-5d1c09aa',
  cause: 'brake',
  at,
  members: ['rack2-b5', 'rack2-b6', 'rack2-b7'],
  returned: ['rack2-b5'],
  rest: ['rack2-b6', 'rack2-b7'],
  released: [],
  limit: 2,
  standsForMs: 41_000,
  resumesAt: at + 120_000,
  detail:
    "Storm s-5d1c09aa of 3 node(s): more fell silent than may at once; 2 are not back, at most 2 may be. Fencing of its members resumes at 10:02:00 UTC, two minutes after the last one's first return.",
};

/** An example of every answer that is JSON. */
export const answerExamples: { [R in keyof Answers as Answers[R] extends string | void ? never : R]: Answers[R] } = {
  'GET /v1/status': {
    cluster: 'muster',
    fencing,
    leases: [{ name: 'conductor', holder: 'inventory-1', token: 12, ageMs: 310 }],
    detector: { instance: 'detector-1', epoch: 7, sighted: true, members: 4, reporters: 3, beaconAgeMs: 140 },
    brake: { candidates: 1, limit: 2 },
    fenceable: { proven: 2, unproven: 1, drilled: 0, mismatch: [] },
    nodes: {
      total: 4,
      inService: 3,
      out: [
        {
          node: 'rack2-b7',
          reasons: ['INCIDENT: incident i-mi3k4c2a-1b2c3d is fencing'],
          remedy: { text: 'See how far it is, and what it waits for.', command: 'muster incident get rack2-b7' },
          planned: false,
        },
      ],
      troubled: [{ node: 'rack2-b7', verdict: 'DOWN', networks: [] }],
    },
    incidents: [incident],
    jobs: { Queued: 0, Running: 1, Complete: 212, Errored: 3 },
    workloads: {
      total: 8,
      running: 7,
      wrong: 1,
      worst: [{ workload: 'mirror', node: 'rack2-b7', actual: deadOnItsNode }],
    },
    weaknesses: [],
    alarms: [],
    missingDrivers: [],
    workers: [],
  },
  'GET /v1/diagnosis': {
    version: '0.1.0',
    at,
    bus: {
      configured: 1,
      replicas: 1,
      servers: {
        items: [
          {
            name: 'muster-muster',
            version: '2.14.3',
            sync: 'always',
            storeBytes: 41_943_040,
            storeLimitBytes: 10_737_418_240,
          },
        ],
      },
      streams: { items: [{ name: 'KV_nodes', replicas: 1 }] },
      disks: [{ path: '/var/lib/muster/nats', totalBytes: 107_374_182_400, freeBytes: 64_424_509_440 }],
    },
    agents: [
      { node: 'rack1-a1', ageMs: 310, version: '0.1.0', clockOffMs: 4, misses: { backend: ['rack2-b7'] } },
      { node: 'rack2-b7' },
    ],
    members: 4,
    domains: { 'room-1': 2, 'room-2': 2 },
  },
  'GET /v1/workers': {
    items: [
      {
        service: 'fencer',
        id: 'fencer-1',
        drivers: ['ipmitool'],
        incarnation: '5d1c',
        host: 'control-1',
        startedAt: at,
        beat: 811,
      },
    ],
  },
  'GET /v1/drivers': {
    items: [{ driver: 'ansible', service: 'provisioner', workers: ['provisioner-1'] }],
    missing: [{ driver: 'ipmitool', nodes: ['rack2-b7'] }],
  },
  'GET /v1/nodes': { items: [node], next: 'rack1-a1' },
  'POST /v1/nodes': {
    ...node,
    status: 'Unallocated',
    prevStatus: 'Incomplete',
    state: 'Unknown',
    prevState: 'Unknown',
  },
  'GET /v1/nodes/{name}': node,
  'PATCH /v1/nodes/{name}': { ...node, vars: { rack: 'r2' }, revision: 43 },
  'PUT /v1/nodes/{name}/cordon': {
    ...node,
    cordon: { reason: 'new memory', by: 'ann', at, until: at + 7_200_000 },
    inService: false,
    reasons: [{ code: 'CORDONED', detail: 'new memory' }],
  },
  'DELETE /v1/nodes/{name}/cordon': node,
  'PUT /v1/nodes/{name}/accepted-drift': {
    ...node,
    acceptedDrift: {
      ...{ reason: drift.reason, by: 'ann', at, until: at + 86_400_000 },
      ...{ check: 'job-7f', checksum: 'b1946ac92492d234' },
      findings: [{ service: 'web', result: 'drift', why: '/etc/web.conf is not as it was installed', digest: '5f36' }],
    },
  },
  'DELETE /v1/nodes/{name}/accepted-drift': node,
  'PUT /v1/nodes/{name}/life-sign-waiver': { ...node, lifeSignWaived: { ...waiver, by: 'ann', at } },
  'DELETE /v1/nodes/{name}/life-sign-waiver': node,
  'POST /v1/nodes/{name}/fence': { incident: { ...incident, cause: 'manual', by: 'ann' }, gates: incident.gates },
  'GET /v1/nodes/{name}/power': { devices: [{ id: 'bmc', power: 'on' }] },
  'POST /v1/nodes/{name}/drill': { ...incident, phase: 'investigating', drill: { at } },
  'POST /v1/nodes/{name}/power': {
    node: 'rack1-a1',
    action: 'on',
    incident: incident.id,
    detail: 'Switched on unless it reads as on, and read back; the incident tells how it went.',
  },
  'POST /v1/nodes/{name}/replace': { ...node, name: 'rack1-a2', serial: 'a2', status: 'Unallocated' },
  'POST /v1/nodes/{name}/identify': {
    devices: [
      {
        id: 'bmc',
        standing: 'proven',
        identity: {
          result: 'proven',
          by: 'guid',
          at,
          seen: { guid: '4c4c4544003510468044b4c04f4b3132' },
          basis: '0'.repeat(32),
        },
      },
    ],
  },
  'POST /v1/nodes/{name}/power-devices/{device}/acknowledge': node,
  'POST /v1/nodes/{name}/revoke': { node: 'rack2-b7', users: 1 },
  'GET /v1/nodes/{name}/evidence': nodeEvidence,
  'GET /v1/nodes/{name}/history': events,
  'POST /v1/nodes/import': { dryRun: true, created: ['rack3-c1'], updated: ['rack1-a1'], unchanged: [] },
  'POST /v1/operations': { job: job.id },
  'GET /v1/jobs': { items: [job] },
  'GET /v1/jobs/{id}': job,
  'POST /v1/jobs/{id}/cancel': { ...job, status: 'Running', cancel: { by: 'ann', at: at + 5_000 } },
  'GET /v1/incidents': { items: [incident] },
  'GET /v1/incidents/{node}': incident,
  'GET /v1/incidents/{node}/report': incidentReport({ incident, events: [], cut: false, jobs: [] }),
  'GET /v1/fencing/report': fencingReport({
    ...{ since: at - 7 * 86_400_000, mode: 'observe', events: [], settings: [], now: at },
    ...{ members: 12, limits: fencing.storm },
  }),
  'GET /v1/plan': {
    at,
    conductor: 'inventory-1',
    token: 4,
    mode: 'enforce',
    items: [
      {
        about: 'incident',
        name: 'rack2-b7',
        nodes: ['rack2-b7'],
        does: 'waits',
        next: 'stays blocked by BRAKE',
        reason: '3 node(s) at once silent, not yet recovered, or fenced within 60 s; at most 2 of 10 members may be.',
        gate: 'BRAKE',
        figures: [{ of: 'unhealthy nodes', count: 3, limit: 2 }],
        again: { inMs: 500, when: 'fewer nodes are unhealthy and no storm holds it, or it is released' },
      },
    ],
  },
  'GET /v1/storms': { items: [storm] },
  'GET /v1/storms/{id}': storm,
  'POST /v1/storms/{id}/release': { nodes: [{ node: 'rack2-b7', ok: true }] },
  'POST /v1/storms/{id}/confirm': { nodes: [{ node: 'rack2-b7', ok: true }] },
  'POST /v1/incidents/{node}/release': {
    ...incident,
    phase: 'investigating',
    released: { by: 'ann', reason: 'I have looked', at, gates: ['BRAKE'], force: false },
  },
  'POST /v1/incidents/{node}/cancel': {
    ...incident,
    phase: 'cancelled',
    takenBack: { by: 'ann', reason: 'the wrong rack', at },
  },
  'POST /v1/incidents/{node}/confirm': {
    ...incident,
    phase: 'fenced',
    proof: { kind: 'manual', at, by: 'ann', reason: 'its cable is out' },
    doNotPowerOnBefore: at + 16_000,
  },
  'GET /v1/fencing': fencing,
  'PUT /v1/fencing': { ...fencing, paused: { until: at + 3_600_000, reason: 'switch is exchanged', by: 'ann' } },
  'GET /v1/workloads': { items: [seenWorkload] },
  'GET /v1/workloads/{name}': seenWorkload,
  'PUT /v1/workloads/{name}': workload,
  'GET /v1/claims': { items: [claim] },
  'POST /v1/claims': claim,
  'GET /v1/claims/{id}': claim,
  'GET /v1/alarms': { items: [alarm] },
  'POST /v1/alarms/{id}/ack': alarm,
  'GET /v1/events': events,
  'GET /v1/settings': settings,
  'PATCH /v1/settings': { ...settings, holdDown: 10_000, revision: 10 },
  'GET /v1/records/unreadable': {
    items: [{ bucket: 'nodes', key: 'zzz-1', revision: 812, why: 'it is not JSON' }],
  },
  'GET /v1/tokens': { items: [{ ...token, id: tokenId }] },
  'POST /v1/tokens': { ...token, id: tokenId, token: 'shown-once' },
  'GET /v1/agents/tokens': { items: [{ ...agentToken, usedBy: ['rack3-c1'] }] },
  'POST /v1/agents/tokens': { ...agentToken, token: 'shown-once' },
  'GET /v1/agents/key': agentKey,
  'POST /v1/agents/key/rotate': { ...agentKey, waitsFor: [] },
  'POST /v1/agents/enrol': {
    node: 'rack3-c1',
    cluster: 'muster',
    agentPort: 7946,
    credentials: { user: 'agent=rack3-c1', seed: 'shown-once', jwt: 'shown-once' },
    datagramKeys: ['shown-once'],
    networks: { management: { address: '10.0.0.31' } },
    nats: { management: ['nats://10.0.0.1:4222'] },
  },
  'GET /healthz': { status: 'ok' },
  'GET /readyz': { status: 'ok' },
  'GET /info/nodes': { [node.name]: clustermNode(node) },
  'GET /info/node/{name}': clustermNode(node),
  'GET /info/globals': { extra_vars: { ntp: '10.0.0.1' } },
  'GET /info/job/{label}': {
    desc: job.desc,
    task: job.task,
    status: job.status,
    error: '',
    logs: ['PLAY [all]', 'ok: [rack1-a1]'],
    id: job.id,
    created_at: job.createdAt,
    started_at: at + 400,
    ended_at: at + 61_000,
    results: job.results,
  },
  'GET /config': {
    serf: {},
    inventory: {},
    ansible: {
      configure_playbook: 'site.yml',
      cleanup_playbook: 'cleanup.yml',
      upgrade_playbook: 'rolling-upgrade.yml',
      playbook_location: '/opt/muster/playbooks',
      extra_variables: '{}',
      user: 'root',
      priv_key_file: '/etc/muster/id_ed25519',
    },
    manager: { addr: '127.0.0.1:9007' },
  },
};

const newAgentToken: AgentTokenRequest = { ttl: 3600, uses: 10 };
const newAgentKey: AgentKeyRotateRequest = { reason: 'the disk of rack2-b7 was stolen' };
const host: AgentEnrolRequest = {
  label: 'rack3',
  serial: 'c1',
  networks: { management: { address: '10.0.0.31' } },
  hostKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleOnly'],
  machine: '5d41402abc4b2a76b9719d911017c592',
  productSerial: 'c1',
};
const revocation: RevokeRequest = { reason: 'its disk was stolen' };
const create: NodeCreateRequest = {
  label: 'rack3',
  serial: 'c1',
  hostGroup: 'service-worker',
  failureDomain: 'room-2',
  networks: { management: { address: '10.0.0.31' }, backend: { address: '10.1.0.31' } },
  powerLevels: [
    [{ id: 'bmc', driver: 'ipmitool', address: '10.9.0.31', username: 'muster', password: 'never-shown-again' }],
  ],
  vars: { rack: 'r3' },
};
const operation: OperationRequest = {
  kind: 'commission',
  nodes: ['rack1-a1'],
  hostGroup: 'service-worker',
  extraVars: { release: '2.4' },
};
const patch: NodePatchRequest = { vars: { rack: 'r2' } };
const replacement: NodeReplaceRequest = { serial: 'a2' };
const file: NodeImportRequest = {
  format: 'csv',
  content: 'label,serial,networks.management\nrack3,c1,10.0.0.31\n',
  dryRun: true,
};
const claimed: ClaimRequest = { count: 1, owner: 'batch', selector: 'vars.rack=r1', ttl: 3600 };
const power: PowerActionRequest = { action: 'on', reason: 'back from repair' };
const newToken: TokenRequest = { name: 'ci', role: 'operator', ttl: 86_400 };
const cordon: CordonRequest = { reason: 'new memory', until: at + 7_200_000 };
const reason: ReasonRequest = { reason: 'its cable is out' };
const pastCap: ReleaseRequest = { ...reason, gate: 'CAP' };
const newWorkload: WorkloadRequest = {
  priority: 10,
  hostGroup: 'service-worker',
  recovery: { driver: 'ansible', spec: { unit: 'mirror.service' } },
};
const note: AckRequest = { note: 'somebody is on the way' };
const fencingOrder: FencingRequest = {
  mode: 'enforce',
  paused: { until: at + 3_600_000, reason: 'switch is exchanged' },
  except: ['rack2-b7'],
};

/** An example of every body. */
export const requestExamples: Record<string, object> = {
  'POST /v1/nodes': create,
  'PATCH /v1/nodes/{name}': patch,
  'PUT /v1/nodes/{name}/cordon': cordon,
  'POST /v1/nodes/{name}/fence': { ...reason, dryRun: true },
  'POST /v1/nodes/{name}/power': power,
  'POST /v1/nodes/{name}/drill': { reason: 'whose is its BMC?', level: 1 },
  'POST /v1/nodes/{name}/replace': replacement,
  'POST /v1/nodes/import': file,
  'POST /v1/operations': operation,
  'POST /v1/incidents/{node}/release': pastCap,
  'POST /v1/incidents/{node}/confirm': reason,
  'POST /v1/incidents/{node}/cancel': reason,
  'POST /v1/storms/{id}/release': { reason: 'seen them dark in rack 2' },
  'POST /v1/storms/{id}/confirm': { reason: 'seen them dark in rack 2', nodes: ['rack2-b7'] },
  'PUT /v1/fencing': fencingOrder,
  'PUT /v1/workloads/{name}': newWorkload,
  'POST /v1/claims': claimed,
  'POST /v1/alarms/{id}/ack': note,
  'PATCH /v1/settings': { holdDown: 10_000 },
  'POST /v1/records/delete': { bucket: 'nodes', key: 'zzz-1', reason: 'written by a broken tool' },
  'POST /v1/tokens': newToken,
  'POST /v1/agents/tokens': newAgentToken,
  'POST /v1/agents/key/rotate': newAgentKey,
  'POST /v1/agents/enrol': host,
  'POST /v1/nodes/{name}/power-devices/{device}/acknowledge': { reason: 'its board came from another machine' },
  'POST /v1/nodes/{name}/revoke': revocation,
  'PUT /v1/nodes/{name}/accepted-drift': drift,
  'PUT /v1/nodes/{name}/life-sign-waiver': waiver,
  'POST /commission/nodes': { nodes: ['rack1-a1'], host_group: 'service-worker', extra_vars: '{"release":"2.4"}' },
  'POST /commission/node/{name}': { host_group: 'service-worker' },
  'POST /decommission/nodes': { nodes: ['rack1-a1'] },
  'POST /decommission/node/{name}': {},
  'POST /maintenance/nodes': { nodes: ['rack1-a1'], extra_vars: { release: '2.5' } },
  'POST /maintenance/node/{name}': {},
  'POST /update/nodes': { nodes: ['rack1-a1'] },
  'POST /update/node/{name}': {},
  'POST /discover/nodes': { addresses: ['10.0.0.41', '10.0.0.42'] },
  'POST /discover/node/{addr}': {},
  'POST /globals': { extra_vars: { ntp: '10.0.0.1' } },
  'POST /monitor/event': {
    monitor_event: { name: 'discovered', nodes: [{ label: 'rack3', serial: 'c1', addr: '10.0.0.31' }] },
  },
  'POST /config': { config: { ansible: { user: 'deploy' } } },
};
