/** Written by scripts/schemas.mjs from the types in answers.ts; not by hand. */
import type { Schema } from './schemas.js';

/** Route → what it answers. */
export const answerSchemas: Record<string, Schema> = {
  'GET /v1/status': { $ref: '#/components/schemas/StatusView' },
  'GET /v1/plan': { $ref: '#/components/schemas/PlanView' },
  'GET /v1/diagnosis': { $ref: '#/components/schemas/DiagnosisView' },
  'GET /v1/workers': {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/WorkerRecord' } } },
    required: ['items'],
  },
  'GET /v1/drivers': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            driver: { type: 'string' },
            service: { type: 'string' },
            workers: { type: 'array', items: { type: 'string' } },
          },
          required: ['driver', 'service', 'workers'],
        },
        description: 'On offer.',
      },
      missing: {
        type: 'array',
        items: {
          type: 'object',
          properties: { driver: { type: 'string' }, nodes: { type: 'array', items: { type: 'string' } } },
          required: ['driver', 'nodes'],
        },
        description: 'Needed by these nodes, and offered by nobody.',
      },
    },
    required: ['items', 'missing'],
  },
  'GET /v1/nodes': {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/components/schemas/NodeView' } },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'POST /v1/nodes': { $ref: '#/components/schemas/NodeView' },
  'GET /v1/nodes/{name}': { $ref: '#/components/schemas/NodeView' },
  'PATCH /v1/nodes/{name}': { $ref: '#/components/schemas/NodeView' },
  'PUT /v1/nodes/{name}/cordon': { $ref: '#/components/schemas/NodeView' },
  'DELETE /v1/nodes/{name}/cordon': { $ref: '#/components/schemas/NodeView' },
  'PUT /v1/nodes/{name}/accepted-drift': { $ref: '#/components/schemas/NodeView' },
  'DELETE /v1/nodes/{name}/accepted-drift': { $ref: '#/components/schemas/NodeView' },
  'PUT /v1/nodes/{name}/life-sign-waiver': { $ref: '#/components/schemas/NodeView' },
  'DELETE /v1/nodes/{name}/life-sign-waiver': { $ref: '#/components/schemas/NodeView' },
  'POST /v1/nodes/{name}/fence': {
    type: 'object',
    properties: {
      incident: {
        allOf: [
          { $ref: '#/components/schemas/IncidentRecord' },
          { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
        ],
      },
      gates: { type: 'array', items: { $ref: '#/components/schemas/GateResult' } },
    },
    required: ['gates'],
  },
  'GET /v1/nodes/{name}/power': {
    type: 'object',
    properties: {
      devices: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            power: { type: 'string', enum: ['off', 'on', 'unknown'] },
            code: { type: 'string' },
            detail: { type: 'string' },
          },
          required: ['id', 'power'],
        },
      },
    },
    required: ['devices'],
  },
  'POST /v1/nodes/{name}/power': {
    type: 'object',
    properties: {
      node: { type: 'string' },
      action: { type: 'string', enum: ['cycle', 'off', 'on', 'soft'] },
      incident: { type: 'string' },
      detail: { type: 'string' },
    },
    required: ['node', 'action', 'incident', 'detail'],
  },
  'POST /v1/nodes/{name}/drill': {
    allOf: [
      { $ref: '#/components/schemas/IncidentRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'POST /v1/nodes/{name}/replace': { $ref: '#/components/schemas/NodeView' },
  'POST /v1/nodes/{name}/identify': {
    type: 'object',
    properties: { devices: { type: 'array', items: { $ref: '#/components/schemas/IdentifiedDevice' } } },
    required: ['devices'],
  },
  'POST /v1/nodes/{name}/power-devices/{device}/acknowledge': { $ref: '#/components/schemas/NodeView' },
  'POST /v1/nodes/{name}/revoke': { $ref: '#/components/schemas/RevocationOutcome' },
  'GET /v1/nodes/{name}/evidence': { $ref: '#/components/schemas/NodeEvidence' },
  'GET /v1/nodes/{name}/history': {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/components/schemas/PublicEvent' } },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'POST /v1/nodes/import': { $ref: '#/components/schemas/ImportOutcome' },
  'POST /v1/operations': {
    type: 'object',
    properties: { job: { type: 'string' }, skipped: { type: 'object', additionalProperties: { type: 'string' } } },
    required: ['job'],
  },
  'GET /v1/jobs': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/JobRecord' },
            { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
          ],
        },
      },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'GET /v1/jobs/{id}': {
    allOf: [
      { $ref: '#/components/schemas/JobRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'POST /v1/jobs/{id}/cancel': {
    allOf: [
      { $ref: '#/components/schemas/JobRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'GET /v1/incidents': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/IncidentRecord' },
            { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
          ],
        },
      },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'GET /v1/incidents/{node}': {
    allOf: [
      { $ref: '#/components/schemas/IncidentRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
      { type: 'object', properties: { storms: { type: 'array', items: { $ref: '#/components/schemas/StormView' } } } },
    ],
  },
  'GET /v1/incidents/{node}/report': { $ref: '#/components/schemas/IncidentReport' },
  'POST /v1/incidents/{node}/release': {
    allOf: [
      { $ref: '#/components/schemas/IncidentRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'POST /v1/incidents/{node}/confirm': {
    allOf: [
      { $ref: '#/components/schemas/IncidentRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
      { type: 'object', properties: { doNotPowerOnBefore: { type: 'number' } } },
    ],
  },
  'POST /v1/incidents/{node}/cancel': {
    allOf: [
      { $ref: '#/components/schemas/IncidentRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'GET /v1/storms': {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/StormView' } } },
    required: ['items'],
  },
  'GET /v1/storms/{id}': { $ref: '#/components/schemas/StormView' },
  'POST /v1/storms/{id}/release': {
    type: 'object',
    properties: { nodes: { type: 'array', items: { $ref: '#/components/schemas/StormOutcome' } } },
    required: ['nodes'],
  },
  'POST /v1/storms/{id}/confirm': {
    type: 'object',
    properties: { nodes: { type: 'array', items: { $ref: '#/components/schemas/StormOutcome' } } },
    required: ['nodes'],
  },
  'GET /v1/fencing': { $ref: '#/components/schemas/FencingSettings' },
  'GET /v1/fencing/report': { $ref: '#/components/schemas/FencingReport' },
  'PUT /v1/fencing': {
    allOf: [
      { $ref: '#/components/schemas/FencingSettings' },
      { type: 'object', properties: { warnings: { type: 'array', items: { type: 'string' } } } },
    ],
  },
  'GET /v1/workloads': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/WorkloadView' },
            { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
          ],
        },
      },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'GET /v1/workloads/{name}': {
    allOf: [
      { $ref: '#/components/schemas/WorkloadView' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'PUT /v1/workloads/{name}': {
    allOf: [
      { $ref: '#/components/schemas/WorkloadRecord' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'GET /v1/claims': {
    type: 'object',
    properties: {
      items: { type: 'array', items: { $ref: '#/components/schemas/ClaimRecord' } },
      next: { type: 'string' },
    },
    required: ['items'],
  },
  'POST /v1/claims': { $ref: '#/components/schemas/ClaimRecord' },
  'GET /v1/claims/{id}': { $ref: '#/components/schemas/ClaimRecord' },
  'GET /v1/alarms': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/AlarmView' },
            { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
          ],
        },
      },
    },
    required: ['items'],
  },
  'POST /v1/alarms/{id}/ack': {
    allOf: [
      { $ref: '#/components/schemas/AlarmView' },
      { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    ],
  },
  'GET /v1/events': {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/PublicEvent' } } },
    required: ['items'],
  },
  'GET /v1/settings': {
    allOf: [
      { $ref: '#/components/schemas/ClusterSettings' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'PATCH /v1/settings': {
    allOf: [
      { $ref: '#/components/schemas/ClusterSettings' },
      { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
    ],
  },
  'GET /v1/records/unreadable': {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/UnreadableRecord' } } },
    required: ['items'],
  },
  'GET /v1/tokens': {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/TokenRecord' },
            { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
          ],
        },
      },
    },
    required: ['items'],
  },
  'POST /v1/tokens': {
    allOf: [
      { $ref: '#/components/schemas/TokenRecord' },
      { type: 'object', properties: { id: { type: 'string' }, token: { type: 'string' } }, required: ['id', 'token'] },
    ],
  },
  'GET /v1/agents/tokens': {
    type: 'object',
    properties: { items: { type: 'array', items: { $ref: '#/components/schemas/AgentToken' } } },
    required: ['items'],
  },
  'POST /v1/agents/tokens': {
    allOf: [
      { $ref: '#/components/schemas/AgentToken' },
      { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
    ],
  },
  'GET /v1/agents/key': { $ref: '#/components/schemas/AgentKeyView' },
  'POST /v1/agents/key/rotate': { $ref: '#/components/schemas/AgentKeyView' },
  'POST /v1/agents/enrol': { $ref: '#/components/schemas/AgentAdmission' },
  'GET /healthz': {
    type: 'object',
    properties: { status: { const: 'ok' }, store: { type: 'string' } },
    required: ['status'],
  },
  'GET /readyz': { type: 'object', properties: { status: { const: 'ok' } }, required: ['status'] },
  'GET /info/nodes': { type: 'object', additionalProperties: { $ref: '#/components/schemas/ClustermNode' } },
  'GET /info/node/{name}': { $ref: '#/components/schemas/ClustermNode' },
  'GET /info/globals': {
    type: 'object',
    properties: { extra_vars: { type: 'object', additionalProperties: {} } },
    required: ['extra_vars'],
  },
  'GET /info/job/{label}': {
    type: 'object',
    properties: {
      desc: { type: 'string' },
      task: { type: 'string' },
      status: { type: 'string', enum: ['Complete', 'Errored', 'Queued', 'Running'] },
      error: { type: 'string' },
      logs: { type: 'array', items: { type: 'string' } },
      id: { type: 'string' },
      created_at: { type: 'number' },
      started_at: { type: 'number' },
      ended_at: { type: 'number' },
      results: { type: 'object', additionalProperties: { $ref: '#/components/schemas/NodeResult' } },
    },
    required: ['desc', 'task', 'status', 'error', 'logs', 'id', 'created_at', 'results'],
  },
  'GET /config': { $ref: '#/components/schemas/ClustermConfig' },
};

/** Records and views by name. */
export const namedSchemas: Record<string, Schema> = {
  AcceptedDrift: {
    description:
      "An operator's word that a drift is wanted. It holds for exactly what a check had found, under exactly that effective configuration, until its end, or until the node is set up again.",
    type: 'object',
    properties: {
      reason: { type: 'string' },
      by: { type: 'string' },
      at: { type: 'number' },
      until: { type: 'number', description: 'Wall clock, ms.' },
      check: { type: 'string', description: 'The job of the check that found it.' },
      checksum: {
        type: 'string',
        description: 'Of the effective configuration that the check told: under another one nothing of this holds.',
      },
      findings: {
        type: 'array',
        items: { $ref: '#/components/schemas/Finding' },
        description: 'Each with result `drift`.',
      },
      configuration: {
        const: true,
        description: 'That configuration is another one than was provisioned last, and this is wanted, too.',
      },
    },
    required: ['reason', 'by', 'at', 'check', 'checksum', 'findings'],
  },
  AgentAdmission: {
    description: 'What a host is told that has enrolled itself. Secret, as AgentEnrolment is.',
    type: 'object',
    properties: {
      nats: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
        description: 'Where its agent reaches NATS, by network.',
      },
      node: { type: 'string' },
      cluster: { type: 'string' },
      agentPort: { type: 'number' },
      credentials: {
        type: 'object',
        properties: {
          user: { type: 'string' },
          seed: { type: 'string' },
          jwt: { type: 'string' },
          ca: { type: 'string' },
        },
        required: ['user', 'seed', 'jwt'],
        description: "NATS user of this node's agent; `ca`: PEM, by which it knows the servers, where NATS speaks TLS.",
      },
      datagramKeys: {
        type: 'array',
        items: { type: 'string' },
        description: "Keys of the agents' datagrams, hex, the first signs.",
      },
      networks: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { address: { type: 'string' } }, required: ['address'] },
        description: 'As on record: the agent listens on each.',
      },
    },
    required: ['nats', 'node', 'cluster', 'agentPort', 'credentials', 'datagramKeys', 'networks'],
  },
  AgentFacts: {
    description: 'An agent, by its reports to who answers.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      ageMs: {
        type: 'number',
        description: 'ms since its last report; absent: none was heard since who answers has started.',
      },
      version: { type: 'string', description: 'Absent: an agent of an earlier Muster.' },
      clockOffMs: {
        type: 'number',
        description:
          "Its wall clock less that of who answers, ms; the report's time on the way is in it. Absent: as above.",
      },
      misses: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string' } },
        description:
          'Network → peers whose echoes it misses: what it hears. What it is heard by stands with its peers. Absent: none.',
      },
    },
    required: ['node'],
  },
  AgentKeyView: {
    description: '`muster agent key status`.',
    type: 'object',
    properties: {
      phase: {
        type: 'string',
        enum: ['done', 'file', 'sign', 'spread'],
        description: '`file`: the keys are those of `keys.datagram`, and were never exchanged by Muster.',
      },
      keys: { type: 'array', items: { type: 'string' } },
      by: { type: 'string', description: 'The last exchange.' },
      startedAt: { type: 'number' },
      changedAt: { type: 'number' },
      without: { type: 'array', items: { type: 'string' } },
      nodes: { type: 'number', description: 'Nodes with an agent.' },
      waitsFor: {
        type: 'array',
        items: { $ref: '#/components/schemas/KeyLaggard' },
        description:
          'What the next step waits for; where none is under way, those that have other keys. By name, 500 at most.',
      },
    },
    required: ['phase', 'keys', 'nodes', 'waitsFor'],
  },
  AgentToken: {
    description: 'With it hosts enrol themselves; whoever has it may register nodes, and nothing else.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      by: { type: 'string' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
      uses: { type: 'number', description: 'Nodes that may be enrolled with it.' },
      usedBy: {
        type: 'array',
        items: { type: 'string' },
        description: 'Nodes that were. One that is enrolled again does not count again.',
      },
    },
    required: ['id', 'by', 'createdAt', 'expiresAt', 'uses', 'usedBy'],
  },
  AlarmView: {
    description: 'An alarm as it is shown: with the first thing to do about it.',
    type: 'object',
    properties: {
      remedy: { $ref: '#/components/schemas/Remedy' },
      code: {
        type: 'string',
        enum: [
          'agent-down',
          'agent-health',
          'auth-failure',
          'blind',
          'boot-timeout',
          'brake',
          'bucket-anew',
          'certificate-broken',
          'certificate-expires',
          'check-failed',
          'check-unreachable',
          'collateral',
          'conflict',
          'conflict-power',
          'conflict-workload',
          'dead-with-work',
          'detector-silent',
          'domain-down',
          'drain-stuck',
          'drift',
          'duplicate',
          'fencing-failed',
          'fencing-suppressed',
          'fencing-waits',
          'flapping',
          'host-hung',
          'life-sign-weak',
          'link-down',
          'link-quality',
          'nats-plain',
          'network-down',
          'no-room',
          'no-workers',
          'node-degraded',
          'not-fenceable',
          'partial-reachability',
          'partly-heard',
          'peer-list',
          'power-identity',
          'power-identity-unread',
          'power-on-withheld',
          'power-place',
          'record-unreadable',
          'resetup-failed',
          'store-loaded',
          'store-space',
          'store-unwatched',
          'task-failing',
          'token-behind',
          'webhook-failing',
          'worker-outdated',
          'workload-ended',
          'workload-held',
          'workload-ungated',
        ],
      },
      subject: { type: 'string', description: 'Node, workload, network … that it is about.' },
      severity: { type: 'string', enum: ['critical', 'info', 'warning'] },
      worst: {
        type: 'string',
        enum: ['critical', 'info', 'warning'],
        description: 'The worst that it has been since it was raised, where that is more than `severity`.',
      },
      message: { type: 'string' },
      since: { type: 'number' },
      count: { type: 'number' },
      cleared: { type: 'number' },
      acknowledged: {
        type: 'object',
        properties: { by: { type: 'string' }, at: { type: 'number' }, note: { type: 'string' } },
        required: ['by', 'at'],
      },
    },
    required: ['remedy', 'code', 'subject', 'severity', 'message', 'since', 'count'],
  },
  AnsibleSettings: {
    description:
      'The part of the Ansible configuration that may change at run time: on top of `ansible` in `muster.yaml`.',
    type: 'object',
    properties: {
      playbooks: { type: 'string', description: 'Folder of the playbooks.' },
      user: { type: 'string', description: 'ssh user on the nodes.' },
      privateKey: { type: 'string', description: "File of the ssh key, on the provisioners' machine." },
      extraVars: {
        type: 'object',
        additionalProperties: {},
        description: 'Replace those of the same name in `muster.yaml`; `null`: that one is not given. No templates.',
      },
      sitePlaybook: { type: 'string', description: 'What sets a node up: its name in the folder.' },
      cleanupPlaybook: { type: 'string', description: 'What takes away all that was set up.' },
      upgradePlaybook: {
        type: 'string',
        description:
          'Run by nobody: an update is cleanup, then site. Known to clients of the contiv cluster manager, and kept for them.',
      },
    },
  },
  Assignment: {
    type: 'object',
    properties: {
      node: { type: 'string' },
      generation: { type: 'number', description: 'Grows with every assignment: starts and gates refuse an older one.' },
      followed: {
        type: 'number',
        description:
          'Generation of the run that the registry has followed to this node: the unit that was made for it asks the start gate with that number when it starts again by itself. Gone with the next order.',
      },
    },
    required: ['node', 'generation'],
  },
  BusFacts: {
    description: 'What is asked of the bus; `failed` says in one sentence why it could not be.',
    type: 'object',
    properties: {
      configured: { type: 'number', description: 'Addresses of servers that services are configured with.' },
      replicas: { type: 'number', description: 'Copies of each stream, as configured.' },
      servers: {
        anyOf: [
          { type: 'object', properties: { failed: { type: 'string' } }, required: ['failed'] },
          {
            type: 'object',
            properties: { items: { type: 'array', items: { $ref: '#/components/schemas/NatsServerFacts' } } },
            required: ['items'],
          },
        ],
      },
      streams: {
        anyOf: [
          { type: 'object', properties: { failed: { type: 'string' } }, required: ['failed'] },
          {
            type: 'object',
            properties: { items: { type: 'array', items: { $ref: '#/components/schemas/StreamFacts' } } },
            required: ['items'],
          },
        ],
      },
      ownAccounts: { type: 'boolean', description: 'Services have NATS accounts of their own; absent: not known.' },
      disks: {
        type: 'array',
        items: { $ref: '#/components/schemas/StoreDisk' },
        description:
          'Below the stores, as far as an inventory on their machines sees them. Absent: an inventory of an earlier Muster.',
      },
    },
    required: ['configured', 'replicas', 'servers', 'streams'],
  },
  CheckDiff: {
    description:
      'What differs on one node: between what was set up last and what would be set up now, and between that and what stands there. Secrets are masked in it, and it is bounded.',
    type: 'object',
    properties: {
      services: {
        type: 'array',
        items: { $ref: '#/components/schemas/ServiceDiff' },
        description: 'Each that was looked at, also where nothing of it differs.',
      },
      cut: { type: 'number', description: 'Lines and parts that are left out, since a record holds no more.' },
    },
    required: ['services'],
  },
  CheckResult: {
    description:
      'What a check says of one node: findings per service, and the checksum of the effective configuration.',
    type: 'object',
    properties: {
      findings: { type: 'array', items: { $ref: '#/components/schemas/Finding' } },
      checksum: { type: 'string' },
      alone: {
        type: 'array',
        items: { type: 'string' },
        description: "Services that may be set up again while the node's others go on.",
      },
    },
    required: ['findings', 'checksum'],
  },
  CheckSettings: {
    description: 'Checks of nodes that are in service and well.',
    type: 'object',
    properties: {
      every: {
        type: 'number',
        description:
          'Each node in service is checked once in so long: 0 for never, else a minute to thirty days. Unit: ms.',
      },
    },
    required: ['every'],
  },
  ClaimRecord: {
    description: 'Serviceable nodes, held for a scheduler outside until it gives them back or `expiresAt` has passed.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      owner: { type: 'string' },
      nodes: { type: 'array', items: { type: 'string' } },
      hostGroup: { type: 'string' },
      selector: { type: 'string' },
      by: { type: 'string' },
      at: { type: 'number' },
      expiresAt: { type: 'number', description: 'Wall clock, ms. Absent: until it is deleted.' },
      pending: {
        const: true,
        description:
          'Its nodes were not looked at again yet: who asked was not told of it. Given up after half a minute.',
      },
    },
    required: ['id', 'owner', 'nodes', 'by', 'at'],
  },
  ClusterSettings: {
    description: 'Key `cluster` of bucket `settings`: one value, validated as one set.',
    type: 'object',
    properties: {
      cluster: { type: 'string', description: 'Its name; not to be changed.' },
      agentPort: { type: 'number', description: 'UDP port of the agents. Unit: port.' },
      detection: { $ref: '#/components/schemas/DetectionSettings' },
      fencing: { $ref: '#/components/schemas/FencingSettings' },
      hostGroups: {
        type: 'array',
        items: { $ref: '#/components/schemas/HostGroup' },
        description:
          'Groups that nodes are commissioned to: `{name, role: master | worker | none, onReturn: resetup | ask | check-only}`.',
      },
      globals: {
        type: 'object',
        additionalProperties: {},
        description: 'Extra vars for every run; precedence configuration < globals < request.',
      },
      leaveGrace: {
        type: 'number',
        description:
          'How long a node may be silent after a planned reboot (`LEFT`), after a power-on by Muster (boot grace), and before its first report. Unit: ms.',
      },
      holdDown: {
        type: 'number',
        description:
          'A management network that was silent for longer counts as a return when it is back: the node is checked. Unit: ms.',
      },
      degraded: { $ref: '#/components/schemas/DegradedSettings', description: 'What follows from DEGRADED.' },
      check: { $ref: '#/components/schemas/CheckSettings', description: 'Checks of nodes in service.' },
      witness: {
        type: 'string',
        description:
          "`host:port` of something that is no node, e.g. the router: with two members the monitor must reach it before it calls the other one's silence a death.",
      },
      ansible: {
        $ref: '#/components/schemas/AnsibleSettings',
        description: 'Replaces `ansible` of `muster.yaml`, key by key.',
      },
      webhooks: {
        type: 'array',
        items: { $ref: '#/components/schemas/Webhook' },
        description: 'Where alarms are POSTed as they are raised, change and end.',
      },
      compat: {
        type: 'object',
        properties: { force: { type: 'boolean' } },
        required: ['force'],
        description:
          'Habits of the contiv cluster manager on its surface. `force`: a decommission or an update moves workloads first.',
      },
    },
    required: [
      'cluster',
      'agentPort',
      'detection',
      'fencing',
      'hostGroups',
      'globals',
      'leaveGrace',
      'holdDown',
      'degraded',
      'check',
      'ansible',
      'webhooks',
      'compat',
    ],
  },
  ClustermConfig: {
    description: '`config` of the operations contract: what clients of the contiv cluster manager read and post.',
    type: 'object',
    properties: {
      serf: { type: 'object', additionalProperties: {} },
      inventory: { type: 'object', additionalProperties: {} },
      ansible: {
        type: 'object',
        properties: {
          configure_playbook: { type: 'string' },
          cleanup_playbook: { type: 'string' },
          upgrade_playbook: { type: 'string' },
          playbook_location: { type: 'string' },
          extra_variables: { type: 'string' },
          user: { type: 'string' },
          priv_key_file: { type: 'string' },
        },
        required: [
          'configure_playbook',
          'cleanup_playbook',
          'upgrade_playbook',
          'playbook_location',
          'extra_variables',
          'user',
          'priv_key_file',
        ],
      },
      manager: { type: 'object', properties: { addr: { type: 'string' } }, required: ['addr'] },
    },
    required: ['serf', 'inventory', 'ansible', 'manager'],
  },
  ClustermNode: {
    description:
      'A node as clients of the contiv cluster manager know it; the HTTP surface answers it and the CLI prints it.',
    type: 'object',
    properties: {
      monitoring_state: {
        type: 'object',
        properties: {
          label: { type: 'string' },
          serial_number: { type: 'string' },
          management_address: { type: 'string' },
        },
        required: ['label', 'serial_number', 'management_address'],
      },
      inventory_state: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          status: { type: 'string' },
          prev_status: { type: 'string' },
          state: { type: 'string' },
          prev_state: { type: 'string' },
        },
        required: ['name', 'status', 'prev_status', 'state', 'prev_state'],
      },
      configuration_state: {
        type: 'object',
        properties: {
          inventory_name: { type: 'string' },
          host_group: { type: 'string' },
          ssh_address: { type: 'string' },
          inventory_vars: {
            type: 'object',
            properties: { node_addr: { type: 'string' }, node_name: { type: 'string' } },
            required: ['node_addr', 'node_name'],
          },
        },
        required: ['inventory_name', 'host_group', 'ssh_address', 'inventory_vars'],
      },
    },
    required: ['monitoring_state', 'inventory_state', 'configuration_state'],
  },
  ConfirmedOff: {
    description:
      'Power was proven off (or confirmed by hand), and nobody has switched the node on or heard a new boot since.',
    type: 'object',
    properties: {
      at: { type: 'number' },
      incident: { type: 'string' },
      bootId: { type: 'string', description: 'The boot that was ended: a life sign of another boot id clears this.' },
    },
    required: ['at', 'incident'],
  },
  Cordon: {
    description: 'By an operator, with a reason; never cleared by the system before the end that the operator gave.',
    type: 'object',
    properties: {
      reason: { type: 'string' },
      by: { type: 'string' },
      at: { type: 'number' },
      until: { type: 'number', description: 'Wall clock, ms. Absent: until uncordoned.' },
      drain: { type: 'boolean', description: 'Its workloads are moved away, one by one, and none comes.' },
      drained: {
        type: 'number',
        description: 'Wall clock: when the last of its workloads had left, and its agent agreed.',
      },
    },
    required: ['reason', 'by', 'at'],
  },
  DeclaredService: {
    description: 'What a service is on one node, by its `service.yml`.',
    type: 'object',
    properties: { version: { type: 'string' }, mode: { type: 'string', description: "Of the node's host group." } },
    required: ['version', 'mode'],
  },
  DegradedSettings: {
    description: 'What follows when a network of a node has been silent for `after` ms.',
    type: 'object',
    properties: {
      policy: {
        type: 'string',
        enum: ['alarm', 'down', 'drain'],
        description:
          '`alarm`: nothing but that. `drain`: its workloads are moved by stop and start while it can still be reached. `down`: an incident is opened as for DOWN; whoever still echoes is held by gate LIFE_SIGN until an operator releases it, for nobody is powered off on the word of one network.',
      },
      after: {
        type: 'number',
        description:
          'So long a network of a node is silent before that: a switch that restarts is no reason. Unit: ms.',
      },
    },
    required: ['policy', 'after'],
  },
  DetectionSettings: {
    description:
      'Numbers of detection. All ms. `interval` × `misses` is the silence timeout: after it an observer reports a node down.',
    type: 'object',
    properties: {
      profile: {
        type: 'string',
        enum: ['fast', 'lan', 'wan'],
        description:
          'Brings numbers of its own for all below: `lan`, `fast` (dead within 2 s), or `wan` (a network that delays and loses).',
      },
      interval: {
        type: 'number',
        description:
          'Between two probes of one peer on one network. Shorter finds a death earlier, and costs datagrams. Unit: ms.',
      },
      misses: {
        type: 'number',
        description:
          'Consecutive misses after which an observer reports a node down: times `interval` it is the silence timeout. Fewer find a death earlier, and take a loss of datagrams for one. Unit: probes.',
      },
      suspectMisses: {
        type: 'number',
        description:
          'Consecutive misses for SUSPECT, with which poll, own probe and the read of the BMC begin. Unit: probes.',
      },
      reportPeriod: {
        type: 'number',
        description:
          'Between two reports of an agent. At most a third of the silence timeout: a lost report is none yet. Unit: ms.',
      },
      freshness: {
        type: 'number',
        description:
          'A report older than this is no evidence. At most the silence timeout less `interval`: else a stale one could pass for a fresh one. Unit: ms.',
      },
      loopGap: {
        type: 'number',
        description:
          'An agent that stood still for longer voids its outstanding probes and abstains: it would report all others down for what it missed itself. Unit: ms.',
      },
    },
    required: ['profile', 'interval', 'misses', 'suspectMisses', 'reportPeriod', 'freshness', 'loopGap'],
  },
  DeviceDenial: {
    description: "A device's own word that it is another machine's.",
    type: 'object',
    properties: {
      basis: { type: 'string', description: '`identityBasis` of the device that said so.' },
      seen: { $ref: '#/components/schemas/DeviceFacts', description: 'What it said.' },
      at: { type: 'number', description: 'Wall clock, ms: when it was put on record.' },
    },
    required: ['basis', 'seen', 'at'],
  },
  DeviceFacts: {
    description:
      "What tells one machine's power device from another's. Of each kind at most one; fillers, zeros and FF are none.",
    type: 'object',
    properties: {
      guid: {
        type: 'string',
        description: 'Of the BMC, 32 hexadecimal digits in the order in which the device sends the bytes.',
      },
      boardSerial: { type: 'string' },
      chassisSerial: { type: 'string' },
    },
  },
  DiagnosisView: {
    description: 'What `muster doctor` cannot learn from elsewhere.',
    type: 'object',
    properties: {
      version: { type: 'string', description: 'Version of who answers.' },
      at: { type: 'number', description: 'Wall clock of who answers, ms.' },
      bus: { $ref: '#/components/schemas/BusFacts' },
      agents: {
        type: 'array',
        items: { $ref: '#/components/schemas/AgentFacts' },
        description: 'Of every enrolled node, by name.',
      },
      members: { type: 'number', description: 'Members of the fleet: what the shares of the storm limits are of.' },
      domains: { type: 'object', additionalProperties: { type: 'number' }, description: 'Members by failure domain.' },
    },
    required: ['version', 'at', 'bus', 'agents', 'members', 'domains'],
  },
  Ended: {
    type: 'object',
    properties: {
      times: { type: 'number' },
      at: { type: 'number', description: 'Wall clock of the last time, for people.' },
    },
    required: ['times', 'at'],
  },
  EvidenceCell: {
    description: 'What one observer says of a node on one network.',
    type: 'object',
    properties: {
      health: { type: 'string', enum: ['abstains', 'heard', 'missing', 'mute', 'silent', 'stale', 'unknown'] },
      misses: {
        type: 'number',
        description: 'Consecutive probes that were due while the observer ran and were not answered.',
      },
      rttUs: { type: 'number' },
      lostPermille: { type: 'number', description: "In a thousand of about the last minute's probes; absent: none." },
    },
    required: ['health', 'misses'],
  },
  EvidenceRow: {
    description: 'What one observer says of a node.',
    type: 'object',
    properties: {
      observer: { type: 'string' },
      stance: {
        type: 'string',
        enum: ['absent', 'accuses', 'hears'],
        description: 'How it counted: see {@link ObserverEvidence }.',
      },
      polled: { const: true, description: 'It was asked by the monitor, and is not assigned to the node.' },
      wordless: {
        type: 'string',
        enum: ['never-heard', 'no-answer', 'no-word'],
        description: 'Why it says nothing of the node: then it has no cell in any network.',
      },
      reportAgeMs: {
        type: 'number',
        description:
          'Age of its report when the verdict was given, ms: its stance is as old as that. Absent: none was ever heard.',
      },
      networks: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/EvidenceCell' },
        description: 'By network; one that they do not share is left out.',
      },
    },
    required: ['observer', 'stance', 'networks'],
  },
  FailedOn: {
    type: 'object',
    properties: { node: { type: 'string' }, at: { type: 'number', description: 'Wall clock.' } },
    required: ['node', 'at'],
  },
  FenceableView: {
    type: 'object',
    properties: {
      proven: { type: 'number' },
      unproven: { type: 'number', description: 'Fenced all the same, by devices that nothing speaks against.' },
      drilled: { type: 'number', description: 'Of the proven: by a drill.' },
      mismatch: {
        type: 'array',
        items: { type: 'string' },
        description: "Not fenced: a device is another machine's, or at the place of another node's.",
      },
    },
    required: ['proven', 'unproven', 'drilled', 'mismatch'],
  },
  FencingPause: {
    type: 'object',
    properties: {
      until: {
        type: 'number',
        description: 'When it ends by itself, by the wall clock. Absent: until a person ends it. Unit: ms since 1970.',
      },
      reason: { type: 'string', description: 'Why, for people.' },
      by: { type: 'string', description: 'Who paused it.' },
    },
    required: ['reason', 'by'],
  },
  FencingReport: {
    description: 'What was decided about dead nodes in a period, by the events that are kept.',
    type: 'object',
    properties: {
      since: { type: 'number', description: 'Wall clock, ms.' },
      keptSince: { type: 'number', description: 'Nothing from before this is kept; absent: all of the period is.' },
      mode: { type: 'string', enum: ['enforce', 'observe'], description: 'As of now.' },
      observing: { $ref: '#/components/schemas/Observing', description: 'Absent: the mode is `enforce`.' },
      fenced: { type: 'array', items: { $ref: '#/components/schemas/FencingReportLine' }, description: 'Proven off.' },
      wouldHaveFenced: {
        type: 'array',
        items: { $ref: '#/components/schemas/FencingReportLine' },
        description:
          'Mode `observe` alone stood in the way: gates CAP and FLAPPING would have let it pass, with what would have been fenced before it counted as such.',
      },
      wouldHaveStopped: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/FencingReportLine' },
            {
              type: 'object',
              properties: {
                gate: {
                  type: 'string',
                  enum: [
                    'ALREADY_OPEN',
                    'BLIND',
                    'BRAKE',
                    'CAP',
                    'DOMAIN',
                    'FLAPPING',
                    'LIFE_SIGN',
                    'NOT_FENCEABLE',
                    'OBSERVE',
                    'PAUSED',
                    'QUORUM',
                  ],
                },
              },
              required: ['gate'],
            },
          ],
        },
        description:
          'Mode `observe` stood in the way, and else CAP or FLAPPING would have for as long as it did: too many others, or the node itself too often, would have been fenced within the ten minutes before.',
      },
      stopped: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/FencingReportLine' },
            {
              type: 'object',
              properties: {
                gate: {
                  type: 'string',
                  enum: [
                    'ALREADY_OPEN',
                    'BLIND',
                    'BRAKE',
                    'CAP',
                    'DOMAIN',
                    'FLAPPING',
                    'LIFE_SIGN',
                    'NOT_FENCEABLE',
                    'OBSERVE',
                    'PAUSED',
                    'QUORUM',
                  ],
                },
              },
              required: ['gate'],
            },
          ],
        },
        description: 'Stopped by a gate, the last one that did, and not over.',
      },
      failed: {
        type: 'array',
        items: { $ref: '#/components/schemas/FencingReportLine' },
        description: 'Could not be proven off.',
      },
      over: {
        type: 'array',
        items: { $ref: '#/components/schemas/FencingReportOver' },
        description: 'Over without a proof of off.',
      },
      underWay: {
        type: 'array',
        items: { $ref: '#/components/schemas/FencingReportLine' },
        description: 'Not decided yet.',
      },
    },
    required: [
      'since',
      'mode',
      'fenced',
      'wouldHaveFenced',
      'wouldHaveStopped',
      'stopped',
      'failed',
      'over',
      'underWay',
    ],
  },
  FencingReportLine: {
    description: 'One incident of the period.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      incident: { type: 'string' },
      at: { type: 'number', description: 'Of the first that is kept of it: wall clock, ms.' },
    },
    required: ['node', 'incident', 'at'],
  },
  FencingReportOver: {
    description: 'One that is over, and was not fenced.',
    type: 'object',
    properties: {
      end: {
        type: 'string',
        enum: ['by-verdict', 'survived', 'taken-back'],
        description:
          '`survived`: it was ordered off and lived on. `taken-back`: cancelled by an operator, before its first command. `by-verdict`: by itself, its node was heard again for the most part.',
      },
      by: { type: 'string', description: 'Who cancelled it.' },
      gate: {
        type: 'string',
        enum: [
          'ALREADY_OPEN',
          'BLIND',
          'BRAKE',
          'CAP',
          'DOMAIN',
          'FLAPPING',
          'LIFE_SIGN',
          'NOT_FENCEABLE',
          'OBSERVE',
          'PAUSED',
          'QUORUM',
        ],
        description: 'The last gate that had stopped it; absent: none had.',
      },
      node: { type: 'string' },
      incident: { type: 'string' },
      at: { type: 'number', description: 'Of the first that is kept of it: wall clock, ms.' },
    },
    required: ['end', 'node', 'incident', 'at'],
  },
  FencingSettings: {
    type: 'object',
    properties: {
      mode: {
        type: 'string',
        enum: ['enforce', 'observe'],
        description:
          '`observe`: everything is decided and recorded, and no power device is written to. `enforce`: dead nodes are powered off.',
      },
      paused: {
        $ref: '#/components/schemas/FencingPause',
        description: 'Nothing is powered off, with the reason. Ended by itself, or by `muster fencing set`.',
      },
      hung: {
        type: 'string',
        enum: ['alarm', 'fence'],
        description:
          'What follows when for 10 s only the kernel of a host has answered: it serves nobody. `fence` as for DOWN; `alarm` leaves it to an operator.',
      },
      afterRecovery: {
        type: 'string',
        enum: ['power-on', 'stay-off'],
        description: 'What becomes of a node that was powered off, when its work runs elsewhere.',
      },
      storm: {
        $ref: '#/components/schemas/StormLimits',
        description: 'How much may be fenced at once: gates BRAKE, CAP and FLAPPING.',
      },
    },
    required: ['mode', 'hung', 'afterRecovery', 'storm'],
  },
  Finding: {
    type: 'object',
    properties: {
      service: { type: 'string' },
      result: {
        type: 'string',
        enum: ['broken', 'drift', 'ok', 'unknown'],
        description: '`unknown`: it could not be looked at.',
      },
      why: { type: 'string', description: 'Why, in a few words; empty when ok.' },
      digest: {
        type: 'string',
        description:
          'SHA-256 over what was found in place of what should be: the same words about another content are another finding.',
      },
    },
    required: ['service', 'result', 'why'],
  },
  GateResult: {
    type: 'object',
    properties: {
      gate: {
        type: 'string',
        enum: [
          'ALREADY_OPEN',
          'BLIND',
          'BRAKE',
          'CAP',
          'DOMAIN',
          'FLAPPING',
          'LIFE_SIGN',
          'NOT_FENCEABLE',
          'OBSERVE',
          'PAUSED',
          'QUORUM',
        ],
      },
      pass: { type: 'boolean' },
      detail: { type: 'string', description: 'One sentence with the figures that decided.' },
    },
    required: ['gate', 'pass', 'detail'],
  },
  HardwareFacts: {
    description: 'What a machine says of itself from within, by discovery and by the check job.',
    type: 'object',
    properties: {
      systemUuid: {
        type: 'string',
        description: 'UUID of the system by DMI, 32 hexadecimal digits in the order in which it is written.',
      },
      bmcGuid: {
        type: 'string',
        description: 'GUID of its BMC, read in band, as {@link DeviceFacts.guid}: by /dev/ipmi, where there is one.',
      },
      boardSerial: { type: 'string' },
      chassisSerial: { type: 'string' },
      at: { type: 'number', description: 'Wall clock, ms.' },
    },
    required: ['at'],
  },
  HostGroup: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      role: { type: 'string', enum: ['master', 'none', 'worker'] },
      onReturn: {
        type: 'string',
        enum: ['ask', 'check-only', 'resetup'],
        description: "What happens when a returned node's check finds drift.",
      },
      lifeSign: {
        type: 'string',
        enum: ['none'],
        description:
          '`none`: its nodes may be powered off although no channel could show that the host lives; with the reason.',
      },
      lifeSignReason: { type: 'string' },
    },
    required: ['name', 'role'],
  },
  IdentifiedDevice: {
    description: 'A power device of a node, and whether it is its own.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      standing: { type: 'string', enum: ['acknowledged', 'mismatch', 'proven', 'unproven'] },
      identity: {
        $ref: '#/components/schemas/PowerIdentity',
        description: 'What was found last; absent: it was never read in this place with these credentials.',
      },
      unread: { type: 'string', description: 'It could not be read now: why. What was found before stands.' },
      neighbours: {
        type: 'array',
        items: {
          type: 'object',
          properties: { node: { type: 'string' }, device: { type: 'string' } },
          required: ['node', 'device'],
        },
        description: 'Devices at the same address, under another port, driver or outlet.',
      },
    },
    required: ['id', 'standing'],
  },
  ImportOutcome: {
    description: 'What an import did, or with `dryRun` would do.',
    type: 'object',
    properties: {
      dryRun: { type: 'boolean' },
      created: { type: 'array', items: { type: 'string' } },
      updated: { type: 'array', items: { type: 'string' } },
      unchanged: { type: 'array', items: { type: 'string' } },
    },
    required: ['dryRun', 'created', 'updated', 'unchanged'],
  },
  IncidentRecord: {
    description:
      'Bucket `incidents`, key = node: the whole truth about its last fencing, beside the log of its BMC and an order to its power. At most one is open per node.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      node: { type: 'string' },
      phase: {
        type: 'string',
        enum: [
          'cancelled',
          'closed',
          'failed',
          'fenced',
          'fencing',
          'investigating',
          'open',
          'recovered',
          'recovering',
          'suppressed',
          'survived',
        ],
      },
      cause: {
        type: 'string',
        enum: ['auto', 'manual'],
        description: "`auto`: by a verdict; `manual`: by an operator's order.",
      },
      by: { type: 'string' },
      orderedAt: {
        type: 'number',
        description:
          "It was opened by a verdict, and a person has ordered it too, wall clock: from then on it is an order by hand, with that person's reason. The verdict's own stands in its steps.",
      },
      degraded: {
        const: true,
        description: 'Opened by the policy that treats a node as DOWN that stays DEGRADED: it stands while that is so.',
      },
      reason: { type: 'string' },
      openedAt: { type: 'number' },
      updatedAt: { type: 'number' },
      verdict: { $ref: '#/components/schemas/Verdict', description: 'The verdict that it rests on.' },
      bootId: {
        type: 'string',
        description: 'Boot that is to be ended. From its recovery on: the one that was, which may have begun since.',
      },
      gates: { type: 'array', items: { $ref: '#/components/schemas/GateResult' } },
      gate: {
        type: 'string',
        enum: [
          'ALREADY_OPEN',
          'BLIND',
          'BRAKE',
          'CAP',
          'DOMAIN',
          'FLAPPING',
          'LIFE_SIGN',
          'NOT_FENCEABLE',
          'OBSERVE',
          'PAUSED',
          'QUORUM',
        ],
        description: '`suppressed`: the gate that stopped it.',
      },
      conductor: {
        type: 'number',
        description: 'Token of the conductor that decided last; workers refuse lower ones.',
      },
      epoch: { type: 'number', description: 'Token of the fencing leader that owns the commands.' },
      level: { type: 'number' },
      attempt: { type: 'number' },
      retryAt: { type: 'number', description: 'Wall clock: not to be tried again before (backoff after `failed`).' },
      lacking: {
        type: 'array',
        items: { type: 'string' },
        description:
          '`failed`: drivers that could not be used by any fencer then. With one of them back it is tried again at once.',
      },
      commands: { type: 'array', items: { $ref: '#/components/schemas/PowerCommand' } },
      devices: {
        type: 'string',
        description:
          'The power devices that the order to fence names, see `devicesMark`: with others nothing is given or proven.',
      },
      devicesAfter: {
        type: 'number',
        description:
          'Commands up to this number went to devices as they were before an edit: of those of now they say nothing.',
      },
      onBefore: {
        type: 'object',
        properties: { incident: { type: 'string' }, n: { type: 'number' } },
        required: ['incident', 'n'],
        description:
          'An `on` of the record that this one took the place of, which nobody has read back: it may still be carried out, so for the time of the power quarantine no read as off proves anything.',
      },
      denied: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/DeviceDenial' },
        description:
          "Power devices that said they are another machine's, by their id: such a one is given nothing, whatever it refuses to say since, until it has said to the fencing leader that it is the node's.",
      },
      proof: { $ref: '#/components/schemas/OffProof' },
      recovery: { type: 'array', items: { $ref: '#/components/schemas/RecoveryAssignment' } },
      drill: {
        type: 'object',
        properties: {
          at: { type: 'number' },
          level: { type: 'number' },
          result: {
            type: 'object',
            properties: { ok: { type: 'boolean' }, at: { type: 'number' }, detail: { type: 'string' } },
            required: ['ok', 'at', 'detail'],
          },
        },
        required: ['at'],
        description:
          'A drill: it powers a serving node off and on to learn whose its power devices are. `level`: the fencing level that it begins with, and the only one that it proves, from 0; the first when absent. `result`: what it has shown.',
      },
      silentBefore: {
        type: 'array',
        items: { type: 'string' },
        description: 'Nodes that were not heard when its power-off was ordered: the off has not silenced them.',
      },
      collateral: {
        type: 'object',
        properties: {
          at: { type: 'number' },
          nodes: {
            type: 'array',
            items: {
              type: 'object',
              properties: { node: { type: 'string' }, bootId: { type: 'string' } },
              required: ['node'],
            },
          },
        },
        required: ['at', 'nodes'],
        description:
          'Other nodes that fell silent after an `off` by a device that is not proven: the proof is held until each has spoken in this boot or a person confirms. Once the device is proven the proof is void, and the node powered off anew.',
      },
      contradiction: {
        type: 'object',
        properties: {
          at: { type: 'number' },
          proof: { $ref: '#/components/schemas/OffProof' },
          devices: {
            type: 'string',
            description:
              'The power devices then, see `devicesMark`: while they are the same and not proven since, nothing is tried anew.',
          },
          recovery: {
            type: 'array',
            items: { $ref: '#/components/schemas/RecoveryAssignment' },
            description: 'What had been taken from the node, as it stood then.',
          },
        },
        required: ['at', 'devices', 'recovery'],
        description: 'This proof of off was found to prove nothing, by its doubt: the last one.',
      },
      evidence: {
        type: 'object',
        properties: { power: { type: 'string', enum: ['off', 'on', 'unknown'] }, hungForMs: { type: 'number' } },
        description:
          "What the order to fence rests on and no other process has seen: the power devices' answer at suspicion, and for how long (ms, on the conductor's own clock) the host had been hung.",
      },
      powerOn: {
        type: 'object',
        properties: {
          wanted: { type: 'boolean' },
          requestedAt: { type: 'number' },
          done: { type: 'boolean', description: 'The fencing leader has dealt with it.' },
          ok: {
            type: 'boolean',
            description: 'With `done`: the power was read back as on; false: given up, `detail` says why.',
          },
          detail: { type: 'string' },
        },
        required: ['wanted', 'requestedAt'],
        description:
          'Power-on after recovery: wanted by the conductor, carried out by the fencing leader after the power quarantine.',
      },
      order: {
        $ref: '#/components/schemas/PowerOrder',
        description: 'By hand, outside of fencing. Of a node without an incident it is shown in one that is closed.',
      },
      released: {
        type: 'object',
        properties: {
          by: { type: 'string' },
          reason: { type: 'string' },
          at: { type: 'number' },
          gates: {
            type: 'array',
            items: {
              type: 'string',
              enum: [
                'ALREADY_OPEN',
                'BLIND',
                'BRAKE',
                'CAP',
                'DOMAIN',
                'FLAPPING',
                'LIFE_SIGN',
                'NOT_FENCEABLE',
                'OBSERVE',
                'PAUSED',
                'QUORUM',
              ],
            },
          },
          force: { type: 'boolean' },
        },
        required: ['by', 'reason', 'at', 'gates', 'force'],
        description:
          'An operator released a suppressed incident past these gates, and no others. `force`: knowing that the node still shows signs of life, or that the detector cannot see: then a life sign no longer ends it before the first command.',
      },
      wantedAt: {
        type: 'string',
        enum: ['DEGRADED', 'DOWN', 'LEFT', 'SUSPECT', 'UNKNOWN', 'UP'],
        description:
          'The verdict when a person wanted it last (ordered it, ordered it too, released it); UNKNOWN where no detector answered. Was the node not heard then, and is heard now, what it was wanted for is over.',
      },
      takenBack: {
        type: 'object',
        properties: {
          by: { type: 'string' },
          reason: { type: 'string' },
          at: { type: 'number' },
          over: { const: true },
        },
        required: ['by', 'reason', 'at'],
        description:
          'An operator cancelled it before the first command: none is opened by itself for as long as the node is not heard again. `over`: it was.',
      },
      steps: { type: 'array', items: { $ref: '#/components/schemas/IncidentStep' } },
      unreadable: {
        type: 'string',
        description:
          'Why the stored record cannot be read: this one stands in for it, and all that it says is that one is open.',
      },
    },
    required: [
      'id',
      'node',
      'phase',
      'cause',
      'reason',
      'openedAt',
      'updatedAt',
      'gates',
      'conductor',
      'level',
      'attempt',
      'commands',
      'recovery',
      'steps',
    ],
  },
  IncidentReport: {
    description:
      'One incident for those who want to learn from it: made of what is stored, without a word that nobody said.',
    type: 'object',
    properties: {
      incident: { type: 'string' },
      node: { type: 'string' },
      phase: {
        type: 'string',
        enum: [
          'cancelled',
          'closed',
          'failed',
          'fenced',
          'fencing',
          'investigating',
          'open',
          'recovered',
          'recovering',
          'suppressed',
          'survived',
        ],
      },
      gate: {
        type: 'string',
        enum: [
          'ALREADY_OPEN',
          'BLIND',
          'BRAKE',
          'CAP',
          'DOMAIN',
          'FLAPPING',
          'LIFE_SIGN',
          'NOT_FENCEABLE',
          'OBSERVE',
          'PAUSED',
          'QUORUM',
        ],
        description: '`suppressed`: the gate that stopped it.',
      },
      cause: { type: 'string', enum: ['auto', 'manual'] },
      openedAt: { type: 'number' },
      updatedAt: { type: 'number', description: 'Of the last change of the record.' },
      summary: { type: 'array', items: { type: 'string' }, description: 'What happened, in a few sentences.' },
      evidence: { type: 'array', items: { type: 'string' }, description: 'What the decision rested on.' },
      gates: {
        type: 'array',
        items: { $ref: '#/components/schemas/GateResult' },
        description: 'Gates as they were asked last, those that stopped it first.',
      },
      decisions: {
        type: 'array',
        items: { $ref: '#/components/schemas/ReportMoment' },
        description: 'How it went on from phase to phase.',
      },
      commands: { type: 'array', items: { $ref: '#/components/schemas/PowerCommand' } },
      proof: { $ref: '#/components/schemas/OffProof' },
      moved: { type: 'array', items: { $ref: '#/components/schemas/ReportMove' } },
      people: {
        type: 'array',
        items: { $ref: '#/components/schemas/ReportMoment' },
        description: 'What people ordered, and what was refused to them.',
      },
      jobs: { type: 'array', items: { $ref: '#/components/schemas/ReportJob' } },
      open: {
        type: 'array',
        items: { type: 'string' },
        description: 'What somebody still has to look at; empty: nothing.',
      },
      timeline: {
        type: 'array',
        items: { $ref: '#/components/schemas/ReportMoment' },
        description: 'All of it in the order of time.',
      },
      gaps: { type: 'array', items: { type: 'string' }, description: 'What this report cannot tell.' },
    },
    required: [
      'incident',
      'node',
      'phase',
      'cause',
      'openedAt',
      'updatedAt',
      'summary',
      'evidence',
      'gates',
      'decisions',
      'commands',
      'moved',
      'people',
      'jobs',
      'open',
      'timeline',
      'gaps',
    ],
  },
  IncidentStep: {
    description: 'One step of the story, for people and for the timeline.',
    type: 'object',
    properties: {
      phase: {
        type: 'string',
        enum: [
          'cancelled',
          'closed',
          'failed',
          'fenced',
          'fencing',
          'investigating',
          'open',
          'recovered',
          'recovering',
          'suppressed',
          'survived',
        ],
      },
      at: { type: 'number' },
      detail: { type: 'string' },
    },
    required: ['phase', 'at', 'detail'],
  },
  JobRecord: {
    description:
      'Bucket `jobs`. The provisioner writes progress and results; inventory rolls node statuses forward from them.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      kind: {
        type: 'string',
        enum: ['check', 'commission', 'decommission', 'discover', 'maintenance', 'recover', 'resetup', 'service-test'],
      },
      nodes: { type: 'array', items: { type: 'string' } },
      status: { type: 'string', enum: ['Complete', 'Errored', 'Queued', 'Running'] },
      desc: {
        type: 'string',
        description:
          'Text of the operations contract: `commissionEvent: nodes:[…] extra-vars:{…} host-group:…`, without secrets.',
      },
      hostGroup: { type: 'string' },
      extraVars: { type: 'object', additionalProperties: {} },
      addresses: { type: 'array', items: { type: 'string' }, description: 'discover: addresses to go to.' },
      skipped: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'discover: addresses that were left out, and the node that each is already.',
      },
      services: {
        type: 'array',
        items: { type: 'string' },
        description:
          'resetup: the only services that it touches; absent: all of the node. service-test: the one that is tested.',
      },
      diff: { type: 'boolean', description: 'check: its results say what differs, line by line.' },
      recover: {
        type: 'array',
        items: { $ref: '#/components/schemas/RecoverTask' },
        description: 'recover: what to start, or to stop, on the one node of the job.',
      },
      progress: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/NodeProgress' },
        description: 'Of a running job; written at most once a second.',
      },
      timeoutMs: {
        type: 'number',
        description:
          'Longest run time, ms, from its start; then it ends as after a cancel. Absent: only the limits of its steps.',
      },
      moving: {
        type: 'array',
        items: { type: 'string' },
        description:
          "Workloads that still have to leave the job's nodes (`force`): while there are any, no worker takes the job.",
      },
      task: { type: 'string', description: 'The playbook that runs now, or ran last.' },
      error: { type: 'string' },
      createdAt: { type: 'number' },
      startedAt: { type: 'number' },
      endedAt: { type: 'number' },
      by: { type: 'string' },
      fingerprint: {
        type: 'string',
        description:
          'SHA-256 over the request, where it came with a key: the same key with another request is refused. Not shown.',
      },
      cause: {
        type: 'string',
        description: 'Why the system started it itself: `return`, `periodic`, `incident:<id>`, …',
      },
      conductor: {
        type: 'number',
        description: 'Token of the conductor behind a job that the system started: workers refuse lower ones.',
      },
      outranked: {
        type: 'number',
        description: 'Refused for that token: the highest one that its worker knows of. Conductors take one above it.',
      },
      worker: { type: 'string' },
      generation: {
        type: 'number',
        description: 'Grows with each worker that takes the job: a late write of an earlier one is refused.',
      },
      cancel: {
        type: 'object',
        properties: { by: { type: 'string' }, at: { type: 'number' } },
        required: ['by', 'at'],
        description: 'Set by a cancel; the worker ends Ansible and its children.',
      },
      results: { type: 'object', additionalProperties: { $ref: '#/components/schemas/NodeResult' } },
      settled: {
        type: 'boolean',
        description: 'Inventory has carried the results into the node records and freed the reservation.',
      },
    },
    required: [
      'id',
      'kind',
      'nodes',
      'status',
      'desc',
      'extraVars',
      'task',
      'error',
      'createdAt',
      'by',
      'generation',
      'results',
      'settled',
    ],
  },
  KeyLaggard: {
    description: 'How far one that proves its datagrams has come; absent `keys`: it has not said.',
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Node, or `detector`.' },
      keys: { type: 'array', items: { type: 'string' } },
      heard: {
        type: 'boolean',
        description:
          'It reports, or the monitor does not call it dead. Such a one is waited for, whatever the operator says.',
      },
    },
    required: ['name', 'heard'],
  },
  LastCheck: {
    description: 'What the last check of a node has told, whoever asked for it. Gone when the node is set up again.',
    type: 'object',
    properties: {
      at: { type: 'number', description: 'Wall clock, ms: when it was carried into the record.' },
      job: { type: 'string' },
      failed: { type: 'number', description: 'Checks in a row, this one counted, that could not be carried out.' },
      unreachable: {
        const: true,
        description: 'ssh did not get there, or was not let in: nothing is known of the node.',
      },
      check: { $ref: '#/components/schemas/CheckResult' },
      ok: { type: 'boolean' },
      step: {
        type: 'string',
        description: 'Playbook that ended it: `site`, `cleanup`, `check`, `recover`, `discover`, `install`.',
      },
      message: { type: 'string' },
    },
    required: ['at', 'job', 'ok', 'step'],
  },
  LeaseView: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      holder: { type: 'string' },
      token: { type: 'number' },
      ageMs: {
        type: 'number',
        description: "ms since its last renewal was seen, on the answering process's monotonic clock.",
      },
    },
    required: ['name', 'token', 'ageMs'],
  },
  LifeObservation: {
    description: 'What one observer found when it looked for life in a host whose agent is silent.',
    type: 'object',
    properties: {
      by: { type: 'string', description: 'Instance of the detector, or name of the node.' },
      spoke: {
        type: 'array',
        items: { type: 'string', enum: ['icmp', 'port', 'ssh'] },
        description:
          'The channels that this observer has seen to speak while the node lived: of others, silence says nothing.',
      },
      ssh: { type: 'string', enum: ['accepted', 'banner', 'not-tried', 'refused', 'silent'] },
      icmp: { type: 'string', enum: ['cannot', 'not-tried', 'reply', 'silent'] },
      port: {
        type: 'string',
        enum: ['cannot', 'not-tried', 'silent', 'unreachable'],
        description: 'A UDP port on which nobody listens: UNUSED_PORT.',
      },
      agentPort: {
        type: 'string',
        enum: ['cannot', 'not-tried', 'silent', 'unreachable'],
        description: 'The UDP port of its agent.',
      },
    },
    required: ['by', 'spoke', 'ssh', 'icmp', 'port', 'agentPort'],
  },
  LifeSeen: {
    description: 'Which channels an observer last saw to speak while the node lived; of another place it says nothing.',
    type: 'object',
    properties: {
      place: { type: 'string', description: 'Address and ssh port of the node at that time, see `lifePlace`.' },
      channels: { type: 'array', items: { type: 'string', enum: ['icmp', 'port', 'ssh'] } },
      at: { type: 'number', description: 'Wall clock, ms: for people.' },
    },
    required: ['place', 'channels', 'at'],
  },
  LifeSignWaived: {
    description: 'By an admin: this node may be powered off although no channel could show that its host lives.',
    type: 'object',
    properties: { reason: { type: 'string' }, by: { type: 'string' }, at: { type: 'number' } },
    required: ['reason', 'by', 'at'],
  },
  Maintenance: {
    description: "By the system after fencing or a failed re-setup: cleared when the node's check has passed.",
    type: 'object',
    properties: { reason: { type: 'string' }, at: { type: 'number' }, incident: { type: 'string' } },
    required: ['reason', 'at'],
  },
  Move: {
    type: 'object',
    properties: {
      cause: {
        type: 'string',
        description:
          '`drain`, `degraded` by the policy for such nodes, `job:<id>` of an operation that was ordered with `force`, or `start-failed` where `from` did not get it started.',
      },
      from: { type: 'string' },
      to: {
        type: 'string',
        description: 'Where there was room when the move began; that room is kept until it has left `from`.',
      },
    },
    required: ['cause', 'from', 'to'],
  },
  NatsServerFacts: {
    description: 'A server of NATS, as it tells of itself.',
    type: 'object',
    properties: {
      name: { type: 'string' },
      version: { type: 'string' },
      cluster: { type: 'string', description: 'Name of its cluster; absent: it stands alone.' },
      sync: {
        anyOf: [{ type: 'number' }, { type: 'string', enum: ['always'] }],
        description:
          'When an acknowledged write is on its disk: `always`, or after so many ms at most. Absent: it does not tell.',
      },
      storeBytes: {
        type: 'number',
        description: 'Bytes that its streams take, and may take. Absent: it does not tell.',
      },
      storeLimitBytes: { type: 'number' },
    },
    required: ['name', 'version'],
  },
  NodeEvidence: {
    description: 'Why a verdict was given: `GET /v1/nodes/{name}/evidence`.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      source: {
        type: 'string',
        enum: ['now', 'stored'],
        description: '`now`: asked of the active detector for this answer. `stored`: as it was published, at `asOf`.',
      },
      asOf: {
        type: 'number',
        description: 'Wall clock, ms: when the detector looked. Absent: no verdict was ever given.',
      },
      verdict: {
        anyOf: [
          { type: 'null' },
          {
            type: 'object',
            properties: {
              node: { type: 'string' },
              verdict: { type: 'string', enum: ['DEGRADED', 'DOWN', 'LEFT', 'SUSPECT', 'UNKNOWN', 'UP'] },
              networks: { type: 'array', items: { type: 'string' }, description: 'DEGRADED: the silent networks.' },
              epoch: { type: 'number', description: "Token of the detector's lease." },
              seq: { type: 'number', description: 'Grows with every verdict of this epoch, over all nodes.' },
              at: { type: 'number', description: 'Wall clock, ms: for people, never for decisions.' },
              bootId: { type: 'string', description: "The boot that the node's own reports last named." },
              agentEpoch: {
                type: 'number',
                description:
                  'The process of its agent that last reported: a new one is news, also of a node that is UP all the time.',
              },
              poweredOn: {
                const: true,
                description:
                  'Its own report of a moment ago is of another boot than the one whose end was proven: its power is on, and it is a member again, also where the verdict is UNKNOWN. Absent: it does not count as powered off, or has not spoken since.',
              },
              reason: { type: 'string', description: 'One sentence.' },
            },
            required: ['node', 'verdict', 'networks', 'epoch', 'seq', 'at', 'reason'],
          },
        ],
        description: '`null`: none was ever given.',
      },
      since: {
        type: 'number',
        description:
          'Wall clock, ms: when this verdict, with these networks, was first published; absent where it is not kept.',
      },
      networks: { type: 'array', items: { type: 'string' }, description: 'Columns of the matrix.' },
      observers: {
        type: 'array',
        items: { $ref: '#/components/schemas/EvidenceRow' },
        description: 'Rows of the matrix.',
      },
      counts: {
        type: 'object',
        properties: {
          assigned: {
            type: 'number',
            description: 'Observers whose majority must report it down: the assigned ones, or those that were polled.',
          },
          accusers: { type: 'number' },
          networksOut: {
            type: 'array',
            items: { type: 'string' },
            description:
              'Networks of the node on which most members that report cannot send to anybody: it was judged by the others, and by the fewer. Absent: none.',
          },
          members: { type: 'number', description: 'Enrolled nodes minus cordoned minus confirmed off.' },
          sightedReporters: {
            type: 'number',
            description: 'Members other than the target that report freshly and do not abstain.',
          },
          sighted: {
            type: 'boolean',
            description:
              "Enough of them to call the target's silence a death. Absent: said by a detector that did not say it.",
          },
          ownReportAgeMs: {
            type: 'number',
            description: "ms since the target's own last report; absent: none was seen by this detector.",
          },
          ownProbe: { $ref: '#/components/schemas/OwnProbe' },
          lifeLooks: {
            type: 'array',
            items: { $ref: '#/components/schemas/LifeObservation' },
            description: 'What observers saw that were asked to look beside the monitor. Absent: nobody was asked.',
          },
          left: {
            type: 'string',
            enum: ['poweroff', 'reboot', 'stop'],
            description: "Its agent's last word was that it goes, and why. Absent: it fell silent without a word.",
          },
        },
        required: ['assigned', 'accusers', 'members', 'sightedReporters'],
        description:
          'What was counted, and what the monitor saw itself; absent where only the registry knows the verdict.',
      },
    },
    required: ['node', 'source', 'verdict', 'networks', 'observers'],
  },
  NodeFindings: {
    description: 'Findings of the last check, or site run, of a node that could be carried out.',
    type: 'object',
    properties: {
      at: { type: 'number' },
      job: { type: 'string' },
      services: { type: 'object', additionalProperties: { $ref: '#/components/schemas/ServiceFinding' } },
    },
    required: ['at', 'job', 'services'],
  },
  NodeProgress: {
    description: 'How far a running job is on one node.',
    type: 'object',
    properties: {
      step: { type: 'string', description: '`site`, `cleanup`, …' },
      task: { type: 'string', description: 'Task that runs, or ran last.' },
      done: { type: 'number', description: 'Tasks that have ended.' },
      failed: { type: 'boolean' },
    },
    required: ['step', 'task', 'done', 'failed'],
  },
  NodeResult: {
    type: 'object',
    properties: {
      ok: { type: 'boolean' },
      step: {
        type: 'string',
        description: 'Playbook that ended it: `site`, `cleanup`, `check`, `recover`, `discover`, `install`.',
      },
      node: { type: 'string', description: 'discover: the node that the address has become, or has been.' },
      failedTask: { type: 'string' },
      message: { type: 'string' },
      unreachable: {
        const: true,
        description: 'ssh did not get there, or was not let in: nothing is known of the node.',
      },
      changed: { type: 'number', description: 'Tasks that changed something on the node.' },
      check: { $ref: '#/components/schemas/CheckResult' },
      diff: { $ref: '#/components/schemas/CheckDiff' },
      verdict: {
        type: 'object',
        properties: { outcome: { type: 'string', enum: ['drift', 'pass', 'unknown'] }, why: { type: 'string' } },
        required: ['outcome', 'why'],
        description: 'check: what it says of the node, once its findings were held against what was provisioned.',
      },
      declared: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/DeclaredService' },
        description: 'Of the services that were looked at, those that have a folder of their own.',
      },
      test: { $ref: '#/components/schemas/ServiceTestResult' },
      checksum: { type: 'string', description: 'Effective configuration after a successful site run.' },
      services: {
        type: 'array',
        items: { type: 'string' },
        description: 'Services that a site run told of, by name; absent: of none.',
      },
      cleanupFailed: {
        type: 'boolean',
        description: 'decommission: the cleanup did not work, the node is Decommissioned all the same.',
      },
      hostKeys: {
        type: 'array',
        items: { type: 'string' },
        description: 'Public keys that its sshd showed, where it had none pinned.',
      },
      hardware: {
        type: 'object',
        properties: {
          systemUuid: {
            type: 'string',
            description: 'UUID of the system by DMI, 32 hexadecimal digits in the order in which it is written.',
          },
          bmcGuid: {
            type: 'string',
            description:
              'GUID of its BMC, read in band, as {@link DeviceFacts.guid}: by /dev/ipmi, where there is one.',
          },
          boardSerial: { type: 'string' },
          chassisSerial: { type: 'string' },
        },
        description: 'What the machine said of itself.',
      },
      workloads: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/WorkloadOutcome' },
        description:
          'recover: for each workload of the job, whether its start (or its stop) succeeded on this node, and why not.',
      },
    },
    required: ['ok', 'step'],
  },
  NodeView: {
    description: 'A node as answered to readers: the record plus what is computed.',
    type: 'object',
    properties: {
      revision: { type: 'number' },
      inService: { type: 'boolean' },
      reasons: { type: 'array', items: { $ref: '#/components/schemas/OutReason' } },
      job: { type: 'string' },
      claim: { type: 'string', description: 'The claim that holds it.' },
      remaining: {
        type: 'array',
        items: { type: 'string' },
        description: 'Of a node that is being drained: the workloads that are still assigned to it.',
      },
      name: { type: 'string' },
      label: { type: 'string' },
      serial: { type: 'string' },
      hostGroup: { type: 'string' },
      failureDomain: { type: 'string' },
      networks: {
        type: 'object',
        additionalProperties: { type: 'object', properties: { address: { type: 'string' } }, required: ['address'] },
      },
      powerLevels: {
        type: 'array',
        items: { type: 'array', items: { $ref: '#/components/schemas/PowerDevice' } },
        description: 'Fencing levels in order; every device of a level must be off.',
      },
      powerIdentity: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/PowerIdentity' },
        description:
          'Whether its devices are its own, by their id; read by `knownIdentity` only. Absent: nothing is known.',
      },
      hardware: {
        $ref: '#/components/schemas/HardwareFacts',
        description: 'What the machine last said of itself from within.',
      },
      provisionDriver: { type: 'string' },
      vars: { type: 'object', additionalProperties: {} },
      fencing: { type: 'string', enum: ['auto', 'manual'] },
      enrolled: {
        type: 'boolean',
        description:
          'Runs a Muster agent: a member of M, watched, may be judged. Others are known by what external monitors say.',
      },
      awaited: {
        const: true,
        description:
          'An agent was issued for it, and has not been there yet: it is enrolled when that asks for its peers.',
      },
      status: {
        type: 'string',
        enum: ['Allocated', 'Cancelled', 'Decommissioned', 'Maintenance', 'Provisioning', 'Unallocated'],
      },
      prevStatus: {
        type: 'string',
        enum: ['Allocated', 'Cancelled', 'Decommissioned', 'Incomplete', 'Maintenance', 'Provisioning', 'Unallocated'],
      },
      state: { type: 'string', enum: ['Disappeared', 'Discovered', 'Unknown'] },
      prevState: { type: 'string', enum: ['Disappeared', 'Discovered', 'Unknown'] },
      cordon: { $ref: '#/components/schemas/Cordon' },
      maintenance: { $ref: '#/components/schemas/Maintenance' },
      confirmedOff: { $ref: '#/components/schemas/ConfirmedOff' },
      pendingReturn: { $ref: '#/components/schemas/PendingReturn' },
      provisioned: { $ref: '#/components/schemas/Provisioned' },
      findings: {
        $ref: '#/components/schemas/NodeFindings',
        description: 'Gone with what was set up; each `unknown` after a job that failed halfway.',
      },
      lastCheck: { $ref: '#/components/schemas/LastCheck' },
      acceptedDrift: { $ref: '#/components/schemas/AcceptedDrift' },
      bootId: { type: 'string', description: "Boot id that was last accepted as this node's running system." },
      verdict: {
        type: 'object',
        properties: {
          verdict: { type: 'string', enum: ['DEGRADED', 'DOWN', 'LEFT', 'SUSPECT', 'UNKNOWN', 'UP'] },
          networks: { type: 'array', items: { type: 'string' } },
          epoch: { type: 'number' },
          seq: { type: 'number' },
          at: { type: 'number' },
          bootId: { type: 'string' },
          reason: { type: 'string', description: 'One sentence of the detector.' },
          left: {
            type: 'string',
            enum: ['poweroff', 'reboot', 'stop'],
            description: "Its agent's last word was that it goes, and why.",
          },
        },
        required: ['verdict', 'networks', 'epoch', 'seq', 'at'],
        description: 'The verdict last applied to this record, in (epoch, seq) order.',
      },
      lifeSeen: {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/LifeSeen' },
        description:
          'By observer (instance of a detector, or node): the channels by which this host has shown that it lives.',
      },
      lifeSignWaived: {
        $ref: '#/components/schemas/LifeSignWaived',
        description: 'It may be powered off although no channel could show that its host lives.',
      },
      ungated: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Workloads that a boot of it may start without asking, sorted; the first hundred: they ran here, and its agent did not vouch for a start gate. One leaves when it runs here with a gate, when Muster has stopped it here, or with the workload itself; never since it is not reported any more. Absent: none. The system does not power it on while there are any: a boot would start them a second time.',
      },
      poweredOnAt: {
        type: 'array',
        items: { type: 'number' },
        description: "Wall-clock times of the system's own power-ons: one in 24 h, then the node stays off.",
      },
      external: {
        type: 'object',
        properties: {
          event: { type: 'string', enum: ['disappeared', 'discovered'] },
          address: { type: 'string' },
          at: { type: 'number' },
        },
        required: ['event', 'address', 'at'],
        description: 'What an external monitor said last of a node that runs an agent: shown, never judged by.',
      },
      sshHostKeys: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Public keys of its sshd, as in known_hosts without the name: pinned at first contact, cleared by an operator only.',
      },
      machine: {
        type: 'string',
        description: 'Tells its installation from another with the same name: see `machineOf`.',
      },
      productSerial: {
        type: 'string',
        description: 'Serial number that its mainboard has shown, as in a name; `serial` may have been typed in.',
      },
      agentKeys: {
        type: 'array',
        items: { type: 'string' },
        description: 'Public keys of the NATS users of its agent, the latest last: others than these are refused.',
      },
      revoked: {
        type: 'object',
        properties: { by: { type: 'string' }, at: { type: 'number' }, reason: { type: 'string' } },
        required: ['by', 'at', 'reason'],
        description: 'Its agent was shut out: it is no member, and comes back only by being enrolled again.',
      },
      hostGroupWas: {
        type: 'string',
        description:
          "While a job changes the host group: the one before, '' for none. A job that never began leaves the node there.",
      },
      lastJob: {
        type: 'string',
        description: 'Status whose job results were rolled into this record last; makes the roll-forward idempotent.',
      },
      createdAt: { type: 'number' },
    },
    required: [
      'revision',
      'inService',
      'reasons',
      'name',
      'label',
      'serial',
      'failureDomain',
      'networks',
      'powerLevels',
      'provisionDriver',
      'vars',
      'fencing',
      'enrolled',
      'status',
      'prevStatus',
      'state',
      'prevState',
      'createdAt',
    ],
  },
  ObserverEvidence: {
    description: 'What one observer says of the target on one network.',
    type: 'object',
    properties: {
      observer: { type: 'string' },
      network: { type: 'string' },
      misses: {
        type: 'number',
        description: 'Consecutive probes that were due while the observer ran and were not answered.',
      },
      rttUs: { type: 'number' },
      reportAgeMs: {
        type: 'number',
        description: "Age of the observer's report at the time of the verdict, ms, on the detector's monotonic clock.",
      },
      stance: {
        type: 'string',
        enum: ['absent', 'accuses', 'hears'],
        description:
          'How this observer counted: reports it down (`accuses`), hears it, or does not count (stale, abstaining).',
      },
      abstains: { const: true, description: 'Its report says that its own silence means nothing now.' },
      mute: {
        const: true,
        description: 'It cannot send on this network itself: that it hears nothing there says nothing of the target.',
      },
      polled: { const: true, description: 'It was asked by the monitor, and is not assigned to the target.' },
      lostPermille: { type: 'number', description: "In a thousand of about the last minute's probes; absent: none." },
    },
    required: ['observer', 'network', 'misses', 'reportAgeMs', 'stance'],
  },
  Observing: {
    description:
      'What mode `observe` has kept from being done. It counts incidents: a node that died twice counts twice.',
    type: 'object',
    properties: {
      since: {
        type: 'number',
        description: 'Wall clock, ms: so far back both is known that the mode stands, and is kept what was decided.',
      },
      atLeast: { const: true, description: 'The mode stood before that already; absent: it was set then.' },
      wouldHaveFenced: { type: 'number', description: 'Incidents since then that would have been fenced.' },
      wouldHaveStopped: {
        type: 'number',
        description: 'Incidents since then that gate CAP or FLAPPING would have stopped.',
      },
    },
    required: ['since', 'wouldHaveFenced', 'wouldHaveStopped'],
  },
  OffProof: {
    description: 'Proof of off.',
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['already-off', 'manual', 'read-back'] },
      at: { type: 'number' },
      by: { type: 'string', description: '`manual`: who said so, and why.' },
      reason: { type: 'string' },
      level: { type: 'number' },
      doubt: {
        $ref: '#/components/schemas/ProofDoubt',
        description: 'It goes with the proof, or once the node has spoken in another boot.',
      },
    },
    required: ['kind', 'at'],
  },
  OutNode: {
    description: 'A node that is out of service.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      reasons: { type: 'array', items: { type: 'string' } },
      remedy: { $ref: '#/components/schemas/Remedy', description: 'For the first reason, which is the worst.' },
      planned: {
        type: 'boolean',
        description: "It is so by somebody's will: cordoned, held, or not commissioned; and no work is assigned to it.",
      },
    },
    required: ['node', 'reasons', 'remedy', 'planned'],
  },
  OutReason: {
    description: 'Why a node is out of service; computed at every read, never stored.',
    type: 'object',
    properties: {
      code: {
        type: 'string',
        enum: [
          'CORDONED',
          'DEGRADED',
          'INCIDENT',
          'MAINTENANCE',
          'NO_POWER_WORKER',
          'NO_PROVISION_WORKER',
          'PENDING_RETURN',
          'RESERVED',
          'SHUTS_DOWN',
          'STATE',
          'STATUS',
          'VIEW_STALE',
        ],
      },
      detail: { type: 'string' },
      remedy: {
        $ref: '#/components/schemas/Remedy',
        description: 'What brings it back; in the answer for one node, not in lists.',
      },
    },
    required: ['code', 'detail'],
  },
  OwnProbe: {
    description: "The monitor's own look at the target, taken at SUSPECT and renewed while it lasts.",
    type: 'object',
    properties: {
      echo: {
        type: 'array',
        items: { type: 'string' },
        description: "Networks on which the target's agent echoed to the monitor.",
      },
      ssh: { type: 'string', enum: ['accepted', 'banner', 'not-tried', 'refused', 'silent'] },
      ageMs: { type: 'number', description: 'ms before the verdict, monotonic.' },
      by: { type: 'string', description: 'Instance of the detector, or name of the node.' },
      spoke: {
        type: 'array',
        items: { type: 'string', enum: ['icmp', 'port', 'ssh'] },
        description:
          'The channels that this observer has seen to speak while the node lived: of others, silence says nothing.',
      },
      icmp: { type: 'string', enum: ['cannot', 'not-tried', 'reply', 'silent'] },
      port: {
        type: 'string',
        enum: ['cannot', 'not-tried', 'silent', 'unreachable'],
        description: 'A UDP port on which nobody listens: UNUSED_PORT.',
      },
      agentPort: {
        type: 'string',
        enum: ['cannot', 'not-tried', 'silent', 'unreachable'],
        description: 'The UDP port of its agent.',
      },
    },
    required: ['echo', 'ssh', 'ageMs'],
  },
  PartDiff: {
    type: 'object',
    properties: {
      kind: { type: 'string', enum: ['file', 'setting', 'standing', 'template', 'variable'] },
      name: { type: 'string' },
      lines: {
        type: 'array',
        items: { type: 'string' },
        description: 'As in a unified diff, without the two names: `@@ -1,3 +1,3',
      },
      note: { type: 'string', description: 'What the lines do not say: `missing`, `differs in what is hidden`, …' },
      cut: { type: 'number', description: 'Lines that are left out.' },
    },
    required: ['kind', 'name', 'lines'],
  },
  PendingReturn: {
    description: 'A return that waits for its check: kept until a check (or the re-setup after it) has passed.',
    type: 'object',
    properties: {
      reason: { type: 'string', enum: ['degraded', 'disappeared', 'first-seen', 'rebooted'] },
      at: { type: 'number' },
      job: { type: 'string', description: 'The job that deals with it now, if any.' },
      next: {
        type: 'string',
        enum: ['resetup'],
        description: 'The check has found something to repair: the next job is the re-setup.',
      },
      failedTries: {
        type: 'number',
        description:
          'Checks that could not be carried out, one after the other, other than for ssh: tried again for ever.',
      },
      failedWhy: { type: 'string', description: 'Why the last of them could not.' },
      unreached: {
        type: 'object',
        properties: { tries: { type: 'number' }, why: { type: 'string' } },
        required: ['tries', 'why'],
        description:
          'Tries of its check with which ssh did not get to the node, one after the other: tried again for ever.',
      },
      found: { type: 'string', description: 'What the check has found, for as long as its re-setup is due.' },
      only: {
        type: 'array',
        items: { type: 'string' },
        description: 'Services that this re-setup is for, where they may be set up by themselves.',
      },
      held: { type: 'string', description: 'Stopped: waits for an operator (`drift`, `flapping`, `ask`).' },
      heldBy: {
        type: 'string',
        enum: ['work'],
        description:
          'Held for what runs there: once nothing does any more, the node is checked anew, without an operator.',
      },
    },
    required: ['reason', 'at'],
  },
  PlanAgain: {
    description: 'When an item is looked at again. One of both is there; with both, whichever comes first.',
    type: 'object',
    properties: {
      inMs: { type: 'number', description: 'At the latest after this, ms.' },
      when: { type: 'string', description: 'When this has changed, in words.' },
    },
  },
  PlanFigure: {
    description: 'A number that a decision rests on, and how much of it there may be.',
    type: 'object',
    properties: {
      of: { type: 'string', description: 'What is counted: `unhealthy nodes`, `ms held as hung`.' },
      count: { type: 'number' },
      limit: { type: 'number' },
    },
    required: ['of', 'count', 'limit'],
  },
  PlanItem: {
    description: 'One thing that the conductor does next, or waits for.',
    type: 'object',
    properties: {
      about: {
        type: 'string',
        enum: ['check', 'cordon', 'drain', 'incident', 'job', 'power', 'return', 'storm', 'workload'],
      },
      name: { type: 'string', description: 'Name of the node or workload, id of the job or storm.' },
      nodes: { type: 'array', items: { type: 'string' }, description: 'The nodes that it concerns.' },
      does: {
        type: 'string',
        enum: ['acts', 'waits', 'would'],
        description: '`acts`: with its next look. `waits`: for what `again` names. `would`: if the mode were enforce.',
      },
      next: { type: 'string', description: 'The next step, in one sentence.' },
      reason: { type: 'string', description: 'Why, in one sentence or more.' },
      gate: {
        type: 'string',
        enum: [
          'ALREADY_OPEN',
          'BLIND',
          'BRAKE',
          'CAP',
          'DOMAIN',
          'FLAPPING',
          'LIFE_SIGN',
          'NOT_FENCEABLE',
          'OBSERVE',
          'PAUSED',
          'QUORUM',
        ],
        description: 'The gate that stops it.',
      },
      figures: {
        type: 'array',
        items: { $ref: '#/components/schemas/PlanFigure' },
        description: 'Of the gate or the wait; absent: it rests on none.',
      },
      again: { $ref: '#/components/schemas/PlanAgain' },
    },
    required: ['about', 'name', 'nodes', 'does', 'next', 'reason', 'again'],
  },
  PlanView: {
    description: 'What the conductor would do next and what it waits for, as of one moment.',
    type: 'object',
    properties: {
      at: { type: 'number', description: 'Wall clock, ms.' },
      conductor: { type: 'string', description: 'The process that holds the lease `conductor`, and its token.' },
      token: { type: 'number' },
      mode: { type: 'string', enum: ['enforce', 'observe'] },
      stale: {
        type: 'string',
        description: 'One line: why records may have changed since they were last seen; absent: they have not.',
      },
      items: {
        type: 'array',
        items: { $ref: '#/components/schemas/PlanItem' },
        description: 'Empty: there is nothing to do, and nothing is waited for.',
      },
    },
    required: ['at', 'conductor', 'token', 'mode', 'items'],
  },
  PowerCommand: {
    description:
      'One BMC command. `off`, `on` and `soft` are written, by compare-and-set on the revision that was decided on, *before* they are given: such an entry without `endedAt` may have been carried out, or may yet be (see POWER_QUARANTINE_MS). Reads change nothing and are written with their result, together with what follows from them.',
    type: 'object',
    properties: {
      n: { type: 'number' },
      epoch: {
        type: 'number',
        description: 'Fencing token of the leader (or of the fencer it handed the command to).',
      },
      fencer: { type: 'string' },
      attempt: {
        type: 'number',
        description: "The incident's attempt that it belongs to: offs of an earlier one do not count against the next.",
      },
      level: { type: 'number' },
      device: { type: 'string' },
      verb: { type: 'string', enum: ['off', 'on', 'soft', 'status'] },
      at: { type: 'number' },
      endedAt: { type: 'number' },
      tookMs: { type: 'number', description: 'ms from start to end, monotonic.' },
      result: {
        type: 'object',
        properties: {
          ok: { type: 'boolean' },
          power: { type: 'string', enum: ['off', 'on', 'unknown'] },
          code: { type: 'string' },
          detail: { type: 'string' },
        },
        required: ['ok'],
      },
    },
    required: ['n', 'epoch', 'fencer', 'level', 'device', 'verb', 'at'],
  },
  PowerDevice: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'Unique within the node, e.g. `bmc`.' },
      driver: { type: 'string', description: 'One of PowerDrivers.' },
      address: { type: 'string' },
      port: { type: 'number' },
      username: { type: 'string' },
      secret: { type: 'string', description: 'Key in bucket `secrets`; the password itself is never in a record.' },
      options: { type: 'object', additionalProperties: { type: 'string' } },
      shared: {
        type: 'boolean',
        description:
          "Another node's device may be at the same place, and says so too: one outlet feeds both. An off reaches both.",
      },
    },
    required: ['id', 'driver', 'address'],
  },
  PowerIdentity: {
    description:
      "Whether a power device is its node's own, by the last comparison. It holds for one place and one set of credentials: see `identityBasis`.",
    type: 'object',
    properties: {
      result: { type: 'string', enum: ['mismatch', 'proven', 'unproven'] },
      by: { type: 'string', enum: ['drill', 'guid', 'serial'], description: 'With `proven`.' },
      at: { type: 'number', description: 'Wall clock, ms: when it was compared or drilled.' },
      why: { type: 'string', description: '`unproven`, `mismatch`: in one sentence.' },
      seen: { $ref: '#/components/schemas/DeviceFacts', description: 'What the device said then.' },
      acknowledged: {
        type: 'object',
        properties: { by: { type: 'string' }, why: { type: 'string' }, at: { type: 'number' } },
        required: ['by', 'why', 'at'],
        description: 'Of a mismatch: an administrator says that it is its own all the same. It stays unproven.',
      },
      unread: {
        type: 'object',
        properties: { at: { type: 'number' }, why: { type: 'string' } },
        required: ['at', 'why'],
        description:
          'Of one that was proven: it does not say who it is any more, since then (wall clock, ms), and why.',
      },
      basis: { type: 'string', description: '`identityBasis` of the device that it was found for.' },
    },
    required: ['result', 'at', 'basis'],
  },
  PowerOrder: {
    description:
      "An operator's order to the power devices outside of fencing. The fencing leader carries it out under its lease, with each command written into the same value before it is given. It waits until the node's incident is recovered or over; an incident that is opened anew replaces it. Off is never ordered so: that is a fencing.",
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['on', 'soft'] },
      by: { type: 'string' },
      reason: { type: 'string' },
      at: { type: 'number' },
      after: { type: 'number', description: 'Highest number of a command before it: those above belong to it.' },
      bootId: {
        type: 'string',
        description:
          'The boot that the node ran, by its record, when it was ordered: `soft` means that one, `on` awaits another.',
      },
      done: { type: 'boolean', description: 'It was dealt with.' },
      ok: {
        type: 'boolean',
        description:
          'With `done`. `on`: the power was read back as on. `soft`: the device took the command, which says no more.',
      },
      detail: { type: 'string' },
    },
    required: ['action', 'by', 'reason', 'at', 'after'],
  },
  ProofDoubt: {
    description:
      'What speaks against a proof of off. While it stands, nothing that was taken from the node is started anywhere, whoever conducts: the machine may be on. A new proof has none.',
    type: 'object',
    properties: {
      at: { type: 'number' },
      bootId: { type: 'string', description: 'The node has spoken in this boot, which was to have ended.' },
      device: {
        type: 'string',
        description: "This device, by whose word the node is off, was found to be another machine's.",
      },
    },
    required: ['at'],
  },
  Provisioned: {
    description: 'What the last successful provisioning put on the node.',
    type: 'object',
    properties: {
      checksum: {
        type: 'string',
        description: 'Checksum over the effective configuration: rendered templates, merged vars, host group.',
      },
      at: { type: 'number' },
      job: { type: 'string' },
      services: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Services that it told of: a check must tell of each of them. Absent: it was recorded by a Muster that did not.',
      },
    },
    required: ['checksum', 'at', 'job'],
  },
  PublicEvent: {
    description: 'An event as readers get it: a verdict stands among the others as kind `verdict`.',
    type: 'object',
    properties: {
      seq: { type: 'number', description: 'Place in the stream: whoever reads on does so behind it.' },
      id: { type: 'string' },
      kind: {
        type: 'string',
        enum: [
          'alarm',
          'audit',
          'check',
          'claim',
          'dead-letter',
          'degraded',
          'degraded-over',
          'disappeared',
          'discovered',
          'drained',
          'driver',
          'in-service',
          'incident',
          'job',
          'job-node',
          'monitor-event',
          'node-created',
          'node-deleted',
          'node-edited',
          'node-state',
          'node-status',
          'out-of-service',
          'rebooted',
          'resetup',
          'settings',
          'verdict',
          'workload',
        ],
      },
      key: { type: 'string' },
      at: { type: 'number' },
      source: { type: 'string' },
      data: {},
    },
    required: ['seq', 'id', 'kind', 'key', 'at', 'source', 'data'],
  },
  RecoverTask: {
    type: 'object',
    properties: {
      workload: { type: 'string' },
      generation: { type: 'number' },
      driver: { type: 'string' },
      spec: { type: 'object', additionalProperties: {} },
      stop: {
        type: 'boolean',
        description: 'To be stopped rather than started: done when the node has read back that nothing of it runs.',
      },
    },
    required: ['workload', 'generation', 'driver', 'spec'],
  },
  RecoveryAssignment: {
    description:
      "What has become of a workload of a node that was proven off, by the workload's own record. `to`: where it is assigned since; the node itself where that has come back, and has kept it.",
    type: 'object',
    properties: {
      workload: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      generation: { type: 'number' },
      job: { type: 'string' },
      state: { type: 'string', enum: ['held', 'no-room', 'running', 'skipped', 'starting', 'waiting'] },
      detail: { type: 'string' },
    },
    required: ['workload', 'from', 'state'],
  },
  Remedy: {
    description: 'The first thing that a person does about an alarm, a gate, or something that is not in service.',
    type: 'object',
    properties: {
      text: { type: 'string', description: 'One or two sentences.' },
      command: {
        type: 'string',
        description: 'A whole command line of `muster`. What stands in capitals, or as `…`, is to be filled in.',
      },
    },
    required: ['text', 'command'],
  },
  ReportJob: {
    description: 'A job that the incident ordered, or that ran on its node meanwhile.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      kind: {
        type: 'string',
        enum: ['check', 'commission', 'decommission', 'discover', 'maintenance', 'recover', 'resetup', 'service-test'],
      },
      status: { type: 'string', enum: ['Complete', 'Errored', 'Queued', 'Running'] },
      nodes: { type: 'array', items: { type: 'string' } },
      by: { type: 'string' },
      createdAt: { type: 'number' },
      endedAt: { type: 'number' },
      error: { type: 'string' },
    },
    required: ['id', 'kind', 'status', 'nodes', 'by', 'createdAt', 'error'],
  },
  ReportMoment: {
    description: 'Something that happened at a moment.',
    type: 'object',
    properties: {
      at: { type: 'number', description: 'Wall clock, ms, of the process that saw it.' },
      kind: { type: 'string', description: 'Of the event, or `step` of the incident, or `command`.' },
      what: { type: 'string', description: 'One sentence.' },
    },
    required: ['at', 'kind', 'what'],
  },
  ReportMove: {
    description: 'What became of one workload of the node.',
    type: 'object',
    properties: {
      workload: { type: 'string' },
      from: { type: 'string' },
      to: { type: 'string' },
      state: { type: 'string', enum: ['held', 'no-room', 'running', 'skipped', 'starting', 'waiting'] },
      startedAt: { type: 'number', description: 'Its start was confirmed, ms of wall clock.' },
      detail: { type: 'string' },
    },
    required: ['workload', 'from', 'state'],
  },
  RevocationOutcome: {
    description: 'Of a revocation.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      users: { type: 'number', description: 'Users of its agent that NATS lets in no more.' },
      pending: {
        type: 'string',
        description:
          'Why NATS still lets its agent connect, which then hears nothing and is not believed. Absent: it does not.',
      },
      unregistered: {
        const: true,
        description:
          'No node of this name is on record. What was issued for it until now and is not connected is not known either: NATS refuses it within a minute after it has connected; until then it hears nothing and is not believed while no node of this name is enrolled.',
      },
    },
    required: ['node', 'users'],
  },
  ServiceDiff: {
    type: 'object',
    properties: {
      service: { type: 'string' },
      unknown: {
        type: 'string',
        description:
          'Why nobody can say what was set up last, where it is so: its parts are those that stand on the node only.',
      },
      parts: { type: 'array', items: { $ref: '#/components/schemas/PartDiff' }, description: 'Those that differ.' },
    },
    required: ['service', 'parts'],
  },
  ServiceFinding: {
    description: 'What the last check or set-up has found of a service of the node.',
    type: 'object',
    properties: {
      result: { type: 'string', enum: ['broken', 'drift', 'ok', 'unknown'] },
      why: { type: 'string', description: 'Empty when ok.' },
      since: { type: 'number', description: 'Since when each of them has found the same result: wall clock, ms.' },
      version: { type: 'string' },
      mode: { type: 'string', description: "Of the node's host group." },
    },
    required: ['result', 'why', 'since'],
  },
  ServiceTestResult: {
    description:
      'What a run of `tasks/site.yml`, `tasks/check.yml` and `tasks/cleanup.yml` of one service has shown of them.',
    type: 'object',
    properties: {
      service: { type: 'string' },
      hostGroup: { type: 'string' },
      mode: { type: 'string' },
      steps: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            step: { type: 'string', enum: ['again', 'begin', 'check', 'edit', 'end', 'recheck', 'resetup', 'site'] },
            ok: { type: 'boolean' },
          },
          required: ['step', 'ok'],
        },
        description: 'In the order in which they were run; one that is not here was not come to.',
      },
      wrong: {
        type: 'array',
        items: {
          type: 'object',
          properties: { file: { type: 'string' }, what: { type: 'string' } },
          required: ['file', 'what'],
        },
        description:
          'What is to be mended, by the file of the service and, where it is known, its line (`tasks/site.yml:12`).',
      },
    },
    required: ['service', 'hostGroup', 'mode', 'steps', 'wrong'],
  },
  StartOwed: {
    type: 'object',
    properties: {
      cause: {
        type: 'string',
        description: '`incident:<id>`, `reboot:<bootId>`, `ended`, `put`, `run-again`, `unassigned`, `move:<cause>`.',
      },
      job: {
        type: 'string',
        description: "The recover job that carries it out now. Written before the job's own record.",
      },
      attempt: { type: 'number', description: 'Failed tries so far.' },
    },
    required: ['cause', 'attempt'],
  },
  StatusView: {
    type: 'object',
    properties: {
      cluster: { type: 'string' },
      store: {
        type: 'string',
        description:
          'One line: what keeps the store of NATS from its work, as the gateway itself sees it; absent: nothing.',
      },
      stale: {
        type: 'string',
        description:
          'One line: why records may have changed since they were last seen, as they are told here; absent: they have not.',
      },
      compat: {
        type: 'object',
        properties: { allowFrom: { type: 'array', items: { type: 'string' } } },
        required: ['allowFrom'],
        description:
          'Networks from which the clusterm surface of the gateway that answers needs no token; absent: none.',
      },
      fencing: { $ref: '#/components/schemas/FencingSettings' },
      leases: { type: 'array', items: { $ref: '#/components/schemas/LeaseView' } },
      detector: {
        type: 'object',
        properties: {
          instance: { type: 'string' },
          epoch: { type: 'number' },
          sighted: { type: 'boolean' },
          members: { type: 'number' },
          reporters: { type: 'number' },
          beaconAgeMs: { type: 'number' },
        },
        required: ['sighted', 'members', 'reporters'],
      },
      brake: {
        type: 'object',
        properties: { candidates: { type: 'number' }, limit: { type: 'number' } },
        required: ['candidates', 'limit'],
      },
      storms: {
        type: 'array',
        items: { $ref: '#/components/schemas/StormView' },
        description: 'Storms that stand; absent: none.',
      },
      nodes: {
        type: 'object',
        properties: {
          total: { type: 'number' },
          inService: { type: 'number' },
          out: {
            type: 'array',
            items: { $ref: '#/components/schemas/OutNode' },
            description:
              'The worst first: incidents and the silent before what only waits, and what an operator wants so last.',
          },
          troubled: {
            type: 'array',
            items: { $ref: '#/components/schemas/UnhealthyNode' },
            description:
              'At once, whether or not an alarm or an incident has followed; also of those that are in service.',
          },
          accepted: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                node: { type: 'string' },
                services: { type: 'array', items: { type: 'string' } },
                by: { type: 'string' },
                reason: { type: 'string' },
                until: { type: 'number' },
              },
              required: ['node', 'services', 'by', 'reason'],
            },
            description: 'Drifts that operators want, as long as their word holds; absent: none.',
          },
        },
        required: ['total', 'inService', 'out', 'troubled'],
      },
      fenceable: {
        $ref: '#/components/schemas/FenceableView',
        description:
          'Nodes that may be fenced, by whether their power devices are known to be their own: a node counts by its worst.',
      },
      incidents: {
        type: 'array',
        items: {
          allOf: [
            { $ref: '#/components/schemas/IncidentRecord' },
            { type: 'object', properties: { revision: { type: 'number' } }, required: ['revision'] },
          ],
        },
      },
      jobs: {
        type: 'object',
        properties: {
          Queued: { type: 'number' },
          Running: { type: 'number' },
          Complete: { type: 'number' },
          Errored: { type: 'number' },
        },
        required: ['Queued', 'Running', 'Complete', 'Errored'],
        description: 'Jobs that are kept, by their status.',
      },
      workloads: { $ref: '#/components/schemas/WorkloadSummary' },
      weaknesses: { type: 'array', items: { $ref: '#/components/schemas/Weakness' } },
      alarms: { type: 'array', items: { $ref: '#/components/schemas/AlarmView' } },
      missingDrivers: {
        type: 'array',
        items: {
          type: 'object',
          properties: { driver: { type: 'string' }, nodes: { type: 'array', items: { type: 'string' } } },
          required: ['driver', 'nodes'],
        },
      },
      workers: { type: 'array', items: { $ref: '#/components/schemas/WorkerRecord' } },
      tasks: {
        type: 'array',
        items: { $ref: '#/components/schemas/TaskView' },
        description:
          'What the conductor drives, in the order in which a change wakes it; absent: no conductor answers.',
      },
    },
    required: [
      'cluster',
      'fencing',
      'leases',
      'detector',
      'brake',
      'nodes',
      'fenceable',
      'incidents',
      'jobs',
      'workloads',
      'weaknesses',
      'alarms',
      'missingDrivers',
      'workers',
    ],
  },
  StopOwed: {
    type: 'object',
    properties: {
      cause: {
        type: 'string',
        description:
          "`put`: an operator's order. `seen`: it ran although it shall not. `move:<cause>`: it is to run elsewhere.",
      },
      job: {
        type: 'string',
        description: "The recover job that carries it out now. Written before the job's own record.",
      },
      attempt: { type: 'number', description: 'Failed tries so far.' },
      why: { type: 'string', description: 'Why the last try failed.' },
    },
    required: ['cause', 'attempt'],
  },
  StoreDisk: {
    description: 'A disk below the store of a NATS server.',
    type: 'object',
    properties: {
      host: { type: 'string', description: 'Control host that it is of; absent: there is one.' },
      path: { type: 'string' },
      totalBytes: { type: 'number' },
      freeBytes: { type: 'number' },
      ageMs: {
        type: 'number',
        description: 'ms since the inventory of that host has told of it; absent: who answers has looked now.',
      },
    },
    required: ['path', 'totalBytes', 'freeBytes'],
  },
  StormLimits: {
    description:
      'When so many nodes fall that the cause is rather ours, a switch or a room, than the nodes: limits of the gates BRAKE, CAP and FLAPPING. Of each `…AtLeast` and `…Share` the larger counts; M is the number of members.',
    type: 'object',
    properties: {
      brakeAtLeast: {
        type: 'number',
        description:
          'Nodes that may be silent or in an incident at once, however small the fleet: more are rather a switch or a room, and an operator is asked. Unit: nodes.',
      },
      brakeShare: {
        type: 'number',
        description: 'The same as a share of the members; the larger of both counts. Unit: share, 0 to 0.5.',
      },
      capAtLeast: {
        type: 'number',
        description:
          'Fencings within 10 min, however small the fleet: whatever is wrong, it goes no faster. Unit: nodes.',
      },
      capShare: {
        type: 'number',
        description: 'The same as a share of the members; the larger of both counts. Unit: share, 0 to 1.',
      },
      flaps: {
        type: 'number',
        description:
          'Fencings of one node within 10 min, and returns of one, before an operator is asked: one that comes and goes has a cause that no power-off mends. Unit: times.',
      },
    },
    required: ['brakeAtLeast', 'brakeShare', 'capAtLeast', 'capShare', 'flaps'],
  },
  StormOutcome: {
    description: 'What became of one member that an operator named.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      ok: { type: 'boolean' },
      detail: { type: 'string', description: 'Why not; or a note.' },
    },
    required: ['node', 'ok'],
  },
  StormView: {
    description: 'A storm as it is shown.',
    type: 'object',
    properties: {
      id: { type: 'string' },
      cause: { type: 'string', enum: ['blindness', 'brake', 'domain'] },
      domain: { type: 'string' },
      at: { type: 'number' },
      members: { type: 'array', items: { type: 'string' }, description: 'All, by name.' },
      returned: { type: 'array', items: { type: 'string' }, description: 'Heard again since, at least once.' },
      rest: {
        type: 'array',
        items: { type: 'string' },
        description: 'Neither heard as UP now, nor cordoned, confirmed down, deleted, fenced or released.',
      },
      released: { type: 'array', items: { type: 'string' } },
      limit: {
        type: 'number',
        description:
          'Of the rest, at most so many may be for it to end by itself: of what `restDomain` counts, where that is there.',
      },
      restDomain: {
        type: 'object',
        properties: { name: { type: 'string' }, rest: { type: 'number' }, nodes: { type: 'number' } },
        required: ['name', 'rest', 'nodes'],
        description:
          'The failure domain that `limit` is of: `rest` of its `nodes` are not back. Absent: it is of the fleet, and all that are not back count.',
      },
      standsForMs: {
        type: 'number',
        description:
          "ms for which it has stood, on the answering process's monotonic clock; at most 10 s less than it is.",
      },
      resumesAt: {
        type: 'number',
        description:
          'Wall clock, ms: it ends by itself then, if nobody else returns first. Absent: an operator ends it.',
      },
      detail: { type: 'string', description: 'One sentence.' },
    },
    required: ['id', 'cause', 'at', 'members', 'returned', 'rest', 'released', 'limit', 'standsForMs', 'detail'],
  },
  StreamFacts: {
    description: 'A stream or bucket, and where its copies are.',
    type: 'object',
    properties: {
      name: { type: 'string' },
      replicas: { type: 'number' },
      behind: {
        type: 'array',
        items: { type: 'string' },
        description: 'Servers whose copy is not current. Absent: one copy, or nobody leads it.',
      },
      leaderless: { const: true, description: 'Nobody leads it: it takes no write.' },
    },
    required: ['name', 'replicas'],
  },
  TaskView: {
    description: 'Something that the conductor drives, and how its runs have gone in the present term.',
    type: 'object',
    properties: {
      name: { type: 'string' },
      watches: {
        type: 'array',
        items: { type: 'string' },
        description: 'Buckets of records, and other sources, of which each change wakes it.',
      },
      periodMs: { type: 'number', description: 'Where nothing wakes it, it runs this often, ms.' },
      severity: {
        type: 'string',
        enum: ['critical', 'info', 'warning'],
        description: 'Of its alarm, where it fails again and again.',
      },
      lastRun: {
        type: 'number',
        description: 'Wall clock, ms, of the beginning of its last run; absent: it has not run yet.',
      },
      lastMs: { type: 'number', description: 'How long the last run that ended took, ms; absent: none has ended yet.' },
      runningMs: { type: 'number', description: 'How long the run in progress has taken, ms; absent: there is none.' },
      errors: {
        type: 'number',
        description:
          'How often in a row it has failed, or that part of it that has failed for longest; 0: nothing of it fails.',
      },
      errorsForMs: { type: 'number', description: 'Since the first of these, ms.' },
      lastError: {
        type: 'object',
        properties: {
          at: { type: 'number' },
          code: { type: 'string' },
          message: { type: 'string' },
          about: { type: 'string' },
        },
        required: ['at', 'code', 'message'],
        description:
          'The last of these, or the last that there was; absent: none. `about` names the part of it that failed.',
      },
    },
    required: ['name', 'watches', 'periodMs', 'severity', 'errors', 'errorsForMs'],
  },
  TokenRecord: {
    description: 'An API token, as everybody may see it.',
    type: 'object',
    properties: {
      name: { type: 'string' },
      role: { type: 'string', enum: ['admin', 'operator', 'viewer'] },
      by: { type: 'string' },
      createdAt: { type: 'number' },
      expiresAt: { type: 'number' },
    },
    required: ['name', 'role', 'by', 'createdAt'],
  },
  UnhealthyNode: {
    description: 'A member of the fleet that is not all well by the last word on it.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      verdict: {
        type: 'string',
        enum: ['DEGRADED', 'DOWN', 'SUSPECT'],
        description: '`SUSPECT`: it is being looked at, and either lives or is dead within seconds.',
      },
      networks: { type: 'array', items: { type: 'string' }, description: 'DEGRADED: the silent networks.' },
    },
    required: ['node', 'verdict', 'networks'],
  },
  UnreadableRecord: {
    description: 'A value of a bucket that no program follows.',
    type: 'object',
    properties: {
      bucket: {
        type: 'string',
        enum: [
          'admission',
          'alarms',
          'idempotency',
          'incidents',
          'jobs',
          'leases',
          'nodes',
          'secrets',
          'settings',
          'tokens',
          'workers',
          'workloads',
        ],
      },
      key: {
        type: 'string',
        description: 'As it stands in the bucket; of no record that this program would write where `foreign` is set.',
      },
      revision: { type: 'number' },
      why: { type: 'string', description: 'One phrase.' },
      sealed: { const: true, description: 'It is sealed, and the key of this process does not open it: it is whole.' },
      foreign: { const: true, description: 'No program writes such a key.' },
    },
    required: ['bucket', 'key', 'revision', 'why'],
  },
  Verdict: {
    description: 'Published on `muster.verdict.<node>`; ordered by (epoch, seq), lower ones are refused.',
    type: 'object',
    properties: {
      node: { type: 'string' },
      verdict: { type: 'string', enum: ['DEGRADED', 'DOWN', 'LEFT', 'SUSPECT', 'UNKNOWN', 'UP'] },
      networks: { type: 'array', items: { type: 'string' }, description: 'DEGRADED: the silent networks.' },
      epoch: { type: 'number', description: "Token of the detector's lease." },
      seq: { type: 'number', description: 'Grows with every verdict of this epoch, over all nodes.' },
      at: { type: 'number', description: 'Wall clock, ms: for people, never for decisions.' },
      bootId: { type: 'string', description: "The boot that the node's own reports last named." },
      agentEpoch: {
        type: 'number',
        description:
          'The process of its agent that last reported: a new one is news, also of a node that is UP all the time.',
      },
      poweredOn: {
        const: true,
        description:
          'Its own report of a moment ago is of another boot than the one whose end was proven: its power is on, and it is a member again, also where the verdict is UNKNOWN. Absent: it does not count as powered off, or has not spoken since.',
      },
      reason: { type: 'string', description: 'One sentence.' },
      evidence: { $ref: '#/components/schemas/VerdictEvidence' },
    },
    required: ['node', 'verdict', 'networks', 'epoch', 'seq', 'at', 'reason', 'evidence'],
  },
  VerdictEvidence: {
    type: 'object',
    properties: {
      observers: { type: 'array', items: { $ref: '#/components/schemas/ObserverEvidence' } },
      wordless: {
        type: 'array',
        items: { $ref: '#/components/schemas/WordlessObserver' },
        description: 'The others that were to speak: with `observers` these are all. Absent: there are none.',
      },
      assigned: {
        type: 'number',
        description: 'Observers whose majority must report it down: the assigned ones, or those that were polled.',
      },
      accusers: { type: 'number' },
      networksOut: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Networks of the node on which most members that report cannot send to anybody: it was judged by the others, and by the fewer. Absent: none.',
      },
      members: { type: 'number', description: 'Enrolled nodes minus cordoned minus confirmed off.' },
      sightedReporters: {
        type: 'number',
        description: 'Members other than the target that report freshly and do not abstain.',
      },
      sighted: {
        type: 'boolean',
        description:
          "Enough of them to call the target's silence a death. Absent: said by a detector that did not say it.",
      },
      ownReportAgeMs: {
        type: 'number',
        description: "ms since the target's own last report; absent: none was seen by this detector.",
      },
      ownProbe: { $ref: '#/components/schemas/OwnProbe' },
      lifeLooks: {
        type: 'array',
        items: { $ref: '#/components/schemas/LifeObservation' },
        description: 'What observers saw that were asked to look beside the monitor. Absent: nobody was asked.',
      },
      left: {
        type: 'string',
        enum: ['poweroff', 'reboot', 'stop'],
        description: "Its agent's last word was that it goes, and why. Absent: it fell silent without a word.",
      },
    },
    required: ['observers', 'assigned', 'accusers', 'members', 'sightedReporters'],
  },
  Weakness: {
    description: 'Something that will stand in the way some day, though nothing is wrong now.',
    type: 'object',
    properties: { text: { type: 'string' }, remedy: { $ref: '#/components/schemas/Remedy' } },
    required: ['text', 'remedy'],
  },
  Webhook: {
    description: 'Where alarms are sent as they are raised and cleared: POST of the alarm event as JSON.',
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Unique; alarm `webhook-failing` names it.' },
      url: { type: 'string', description: '`http(s)://…`; no link-local address, and no metadata of a cloud.' },
      secret: {
        type: 'string',
        description: 'Key of an HMAC-SHA256 over the body, sent as `x-muster-signature: sha256=<hex>`; never shown.',
      },
      severity: { type: 'string', enum: ['critical', 'info', 'warning'], description: 'Alarms below it are not sent.' },
    },
    required: ['name', 'url'],
  },
  WordlessObserver: {
    description:
      'An observer that counts among those whose majority must report it down, and has nothing to show for or against.',
    type: 'object',
    properties: {
      observer: { type: 'string' },
      why: { type: 'string', enum: ['never-heard', 'no-answer', 'no-word'] },
      reportAgeMs: { type: 'number', description: 'Of its last report, ms; absent: never heard.' },
      polled: { const: true },
    },
    required: ['observer', 'why'],
  },
  WorkerRecord: {
    description: "Bucket `workers`, key `<service>=<id>`; heartbeat every 2 s, dead after 6 s by the receiver's clock.",
    type: 'object',
    properties: {
      service: { type: 'string', enum: ['fencer', 'provisioner'] },
      id: { type: 'string' },
      drivers: { type: 'array', items: { type: 'string' }, description: 'Self-tested drivers only.' },
      failing: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Of these, what could not be started when it was last tried. It is still on offer: three failed tests in a row take it off. Fencers step back for one that has none of them failing.',
      },
      reads: {
        type: 'number',
        description:
          'What it reads of what is stored: 2 what is sealed, 3 power records as well. Absent: a version of before, which takes what is sealed in a record for the secret itself.',
      },
      incarnation: {
        type: 'string',
        description: 'Random per process: a second process with the same id is told by it.',
      },
      host: { type: 'string' },
      addresses: {
        type: 'array',
        items: { type: 'string' },
        description:
          'Of that host’s interfaces, without loopback, as of this beat. Absent: a version of before, or nobody asks for them.',
      },
      startedAt: { type: 'number' },
      beat: { type: 'number' },
    },
    required: ['service', 'id', 'drivers', 'incarnation', 'host', 'startedAt', 'beat'],
  },
  WorkloadOutcome: {
    description: 'What became of the order to start or to stop one workload on a node.',
    type: 'object',
    properties: {
      started: { type: 'boolean' },
      stopped: { type: 'boolean' },
      reason: { type: 'string' },
      seen: {
        type: 'number',
        description:
          'It was refused as an older order than the last one there: generation of that. The next one must be above it.',
      },
    },
    required: ['started', 'reason'],
  },
  WorkloadRecord: {
    description: 'Bucket `workloads`.',
    type: 'object',
    properties: {
      name: { type: 'string' },
      desired: { type: 'string', enum: ['running', 'stopped'] },
      priority: { type: 'number', description: 'Higher goes first.' },
      hostGroup: { type: 'string', description: 'Only nodes of this host group; absent: any.' },
      weight: { type: 'number', description: "Against the node's capacity." },
      recovery: {
        type: 'object',
        properties: { driver: { type: 'string' }, spec: { type: 'object', additionalProperties: {} } },
        required: ['driver', 'spec'],
        description:
          'How it is started and stopped: driver one of RecoveryDrivers, spec a RecoverySpecRequest when it was put.',
      },
      assignment: { $ref: '#/components/schemas/Assignment' },
      generation: {
        type: 'number',
        description: 'Highest generation ever given, also after the assignment was cleared.',
      },
      held: {
        type: 'string',
        description: 'Why it does not run although it should. While it is set the start gates refuse.',
      },
      start: {
        $ref: '#/components/schemas/StartOwed',
        description:
          'A start that is owed on the assigned node: set together with the assignment, taken away when the start has succeeded or a report shows the workload there. Survives every crash, so no accepted recovery is lost.',
      },
      stop: {
        $ref: '#/components/schemas/StopOwed',
        description:
          'A stop that is owed on the assigned node: set together with `desired: stopped` or with `move`, taken away when the node has read back that nothing of it runs. `desired: stopped` without it is read back as stopped. While it is set the start gates refuse. Survives every crash.',
      },
      move: {
        $ref: '#/components/schemas/Move',
        description:
          'On its way from one living node to another: stopped there, then, once that was read back, assigned elsewhere and started. Taken away when it runs again, or when something else (an incident, an operator) decides about it.',
      },
      boot: {
        type: 'string',
        description:
          'Boot of the assigned node under which it was last seen running: another boot means that it was lost.',
      },
      ended: {
        $ref: '#/components/schemas/Ended',
        description:
          'It has ended by itself so often in a row on the node that it is assigned to, without an order, an incident or a reboot. Taken away when it has run on for ten minutes, or leaves that node.',
      },
      failedOn: {
        type: 'array',
        items: { $ref: '#/components/schemas/FailedOn' },
        description:
          'Nodes that did not get it started and that it was taken from for that: for a while others are preferred.',
      },
    },
    required: ['name', 'desired', 'priority', 'weight', 'recovery', 'generation'],
  },
  WorkloadStanding: {
    description: 'Computed at every read, never stored: beside `desired`, what is.',
    type: 'object',
    properties: {
      state: {
        type: 'string',
        enum: [
          'dead',
          'elsewhere',
          'failing',
          'held',
          'missing',
          'no-room',
          'running',
          'starting',
          'still-running',
          'stopped',
          'stopping',
          'unknown',
          'waiting',
        ],
      },
      seenOn: { type: 'string', description: 'Where it is seen.' },
      reportAgeMs: {
        type: 'number',
        description:
          'ms since the report of its node that this rests on; absent: its node was never heard by who answers.',
      },
      why: { type: 'string', description: 'Why it is not as it should be, in one sentence.' },
      remedy: { $ref: '#/components/schemas/Remedy', description: 'What to do about it.' },
    },
    required: ['state'],
  },
  WorkloadSummary: {
    type: 'object',
    properties: {
      total: { type: 'number' },
      running: { type: 'number', description: 'Of those that should run.' },
      wrong: {
        type: 'number',
        description: 'Not as they should be: should run and do not, run and should not, or nobody can say.',
      },
      worst: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            workload: { type: 'string' },
            node: { type: 'string' },
            actual: { $ref: '#/components/schemas/WorkloadStanding' },
          },
          required: ['workload', 'actual'],
        },
        description: 'The worst of them: highest priority first, MOST_WRONG_WORKLOADS at most.',
      },
    },
    required: ['total', 'running', 'wrong', 'worst'],
  },
  WorkloadView: {
    description: 'A workload as answered to readers: the record, and what is computed.',
    type: 'object',
    properties: {
      actual: { $ref: '#/components/schemas/WorkloadStanding' },
      name: { type: 'string' },
      desired: { type: 'string', enum: ['running', 'stopped'] },
      priority: { type: 'number', description: 'Higher goes first.' },
      hostGroup: { type: 'string', description: 'Only nodes of this host group; absent: any.' },
      weight: { type: 'number', description: "Against the node's capacity." },
      recovery: {
        type: 'object',
        properties: { driver: { type: 'string' }, spec: { type: 'object', additionalProperties: {} } },
        required: ['driver', 'spec'],
        description:
          'How it is started and stopped: driver one of RecoveryDrivers, spec a RecoverySpecRequest when it was put.',
      },
      assignment: { $ref: '#/components/schemas/Assignment' },
      generation: {
        type: 'number',
        description: 'Highest generation ever given, also after the assignment was cleared.',
      },
      held: {
        type: 'string',
        description: 'Why it does not run although it should. While it is set the start gates refuse.',
      },
      start: {
        $ref: '#/components/schemas/StartOwed',
        description:
          'A start that is owed on the assigned node: set together with the assignment, taken away when the start has succeeded or a report shows the workload there. Survives every crash, so no accepted recovery is lost.',
      },
      stop: {
        $ref: '#/components/schemas/StopOwed',
        description:
          'A stop that is owed on the assigned node: set together with `desired: stopped` or with `move`, taken away when the node has read back that nothing of it runs. `desired: stopped` without it is read back as stopped. While it is set the start gates refuse. Survives every crash.',
      },
      move: {
        $ref: '#/components/schemas/Move',
        description:
          'On its way from one living node to another: stopped there, then, once that was read back, assigned elsewhere and started. Taken away when it runs again, or when something else (an incident, an operator) decides about it.',
      },
      boot: {
        type: 'string',
        description:
          'Boot of the assigned node under which it was last seen running: another boot means that it was lost.',
      },
      ended: {
        $ref: '#/components/schemas/Ended',
        description:
          'It has ended by itself so often in a row on the node that it is assigned to, without an order, an incident or a reboot. Taken away when it has run on for ten minutes, or leaves that node.',
      },
      failedOn: {
        type: 'array',
        items: { $ref: '#/components/schemas/FailedOn' },
        description:
          'Nodes that did not get it started and that it was taken from for that: for a while others are preferred.',
      },
    },
    required: ['actual', 'name', 'desired', 'priority', 'weight', 'recovery', 'generation'],
  },
};
