import type {
  AgentKeyView,
  AgentToken,
  AlarmView,
  ClusterSettings,
  ClustermConfig,
  ClustermNode,
  FencingSettings,
  IncidentReport,
  NodeEvidence,
  RpcAnswer,
  TokenRecord,
  WorkerRecord,
  PublicEvent,
} from '#contracts';
import type { FencingReport } from '#contracts/incident/fencing-report.js';

/**
 * What each route answers when it succeeds. `scripts/schemas.mjs` makes the schemas of the reference from it.
 * `string`: a text; `void`: no content.
 */
export interface Answers {
  'GET /v1/status': RpcAnswer<'inventory.status'>;
  'GET /v1/plan': RpcAnswer<'inventory.plan'>;
  'GET /v1/diagnosis': RpcAnswer<'inventory.diagnosis'>;
  'GET /v1/workers': { items: WorkerRecord[] };
  'GET /v1/drivers': {
    /** On offer. */
    items: { driver: string; service: string; workers: string[] }[];
    /** Needed by these nodes, and offered by nobody. */
    missing: { driver: string; nodes: string[] }[];
  };
  'GET /v1/nodes': RpcAnswer<'inventory.nodes.list'>;
  'POST /v1/nodes': RpcAnswer<'inventory.nodes.create'>;
  'GET /v1/nodes/{name}': RpcAnswer<'inventory.nodes.get'>;
  'PATCH /v1/nodes/{name}': RpcAnswer<'inventory.nodes.patch'>;
  'DELETE /v1/nodes/{name}': void;
  'PUT /v1/nodes/{name}/cordon': RpcAnswer<'inventory.nodes.cordon'>;
  'DELETE /v1/nodes/{name}/cordon': RpcAnswer<'inventory.nodes.uncordon'>;
  'PUT /v1/nodes/{name}/accepted-drift': RpcAnswer<'inventory.nodes.acceptDrift'>;
  'DELETE /v1/nodes/{name}/accepted-drift': RpcAnswer<'inventory.nodes.withdrawDrift'>;
  'PUT /v1/nodes/{name}/life-sign-waiver': RpcAnswer<'inventory.nodes.waiveLifeSign'>;
  'DELETE /v1/nodes/{name}/life-sign-waiver': RpcAnswer<'inventory.nodes.requireLifeSign'>;
  'POST /v1/nodes/{name}/fence': RpcAnswer<'inventory.nodes.fence'>;
  'GET /v1/nodes/{name}/power': RpcAnswer<'fencer.power.read'>;
  'POST /v1/nodes/{name}/power': RpcAnswer<'inventory.nodes.power'>;
  'POST /v1/nodes/{name}/drill': RpcAnswer<'inventory.nodes.drill'>;
  'POST /v1/nodes/{name}/replace': RpcAnswer<'inventory.nodes.replace'>;
  'POST /v1/nodes/{name}/identify': RpcAnswer<'inventory.nodes.identify'>;
  'POST /v1/nodes/{name}/power-devices/{device}/acknowledge': RpcAnswer<'inventory.nodes.acknowledge'>;
  'POST /v1/nodes/{name}/revoke': RpcAnswer<'inventory.nodes.revoke'>;
  'GET /v1/nodes/{name}/evidence': NodeEvidence;
  'GET /v1/nodes/{name}/history': { items: PublicEvent[]; next?: string };
  'POST /v1/nodes/import': RpcAnswer<'inventory.nodes.import'>;
  'GET /v1/nodes/export': string;
  'POST /v1/operations': RpcAnswer<'inventory.operations.submit'>;
  'GET /v1/jobs': RpcAnswer<'inventory.jobs.list'>;
  'GET /v1/jobs/{id}': RpcAnswer<'inventory.jobs.get'>;
  'GET /v1/jobs/{id}/log': string;
  'POST /v1/jobs/{id}/cancel': RpcAnswer<'inventory.jobs.cancel'>;
  'GET /v1/incidents': RpcAnswer<'inventory.incidents.list'>;
  'GET /v1/incidents/{node}': RpcAnswer<'inventory.incidents.get'>;
  'GET /v1/incidents/{node}/report': IncidentReport;
  'POST /v1/incidents/{node}/release': RpcAnswer<'inventory.incidents.release'>;
  'POST /v1/incidents/{node}/confirm': RpcAnswer<'inventory.incidents.confirm'>;
  'POST /v1/incidents/{node}/cancel': RpcAnswer<'inventory.incidents.cancel'>;
  'GET /v1/storms': RpcAnswer<'inventory.storms.list'>;
  'GET /v1/storms/{id}': RpcAnswer<'inventory.storms.get'>;
  'POST /v1/storms/{id}/release': RpcAnswer<'inventory.storms.release'>;
  'POST /v1/storms/{id}/confirm': RpcAnswer<'inventory.storms.confirm'>;
  'GET /v1/fencing': FencingSettings;
  'GET /v1/fencing/report': FencingReport;
  'PUT /v1/fencing': RpcAnswer<'inventory.fencing.put'>;
  'GET /v1/workloads': RpcAnswer<'inventory.workloads.list'>;
  'GET /v1/workloads/{name}': RpcAnswer<'inventory.workloads.get'>;
  'PUT /v1/workloads/{name}': RpcAnswer<'inventory.workloads.put'>;
  'DELETE /v1/workloads/{name}': void;
  'GET /v1/claims': RpcAnswer<'inventory.claims.list'>;
  'POST /v1/claims': RpcAnswer<'inventory.claims.create'>;
  'GET /v1/claims/{id}': RpcAnswer<'inventory.claims.get'>;
  'DELETE /v1/claims/{id}': void;
  'GET /v1/alarms': { items: (AlarmView & { id: string })[] };
  'POST /v1/alarms/{id}/ack': AlarmView & { id: string };
  'GET /v1/events': { items: PublicEvent[] };
  'GET /v1/settings': ClusterSettings & { revision: number };
  'PATCH /v1/settings': ClusterSettings & { revision: number };
  'GET /v1/records/unreadable': RpcAnswer<'inventory.records.list'>;
  'POST /v1/records/delete': void;
  'GET /v1/tokens': RpcAnswer<'inventory.tokens.list'>;
  /** `token` is shown here, once. */
  'POST /v1/tokens': TokenRecord & { id: string; token: string };
  'DELETE /v1/tokens/{id}': void;
  'GET /v1/agents/tokens': RpcAnswer<'inventory.agentTokens.list'>;
  /** `token` is shown here, once. */
  'POST /v1/agents/tokens': AgentToken & { token: string };
  'DELETE /v1/agents/tokens/{id}': void;
  'GET /v1/agents/key': AgentKeyView;
  'POST /v1/agents/key/rotate': AgentKeyView;
  'POST /v1/agents/enrol': RpcAnswer<'inventory.agents.admit'>;
  /** `store`: what keeps the store of NATS from its work. */
  'GET /healthz': { status: 'ok'; store?: string };
  'GET /readyz': { status: 'ok' };
  'GET /metrics': string;
  'GET /info/nodes': Record<string, ClustermNode>;
  'GET /info/node/{name}': ClustermNode;
  'GET /info/globals': { extra_vars: Record<string, unknown> };
  'GET /info/job/{label}': {
    desc: string;
    task: string;
    status: 'Queued' | 'Running' | 'Complete' | 'Errored';
    error: string;
    logs: string[];
    id: string;
    created_at: number;
    started_at?: number;
    ended_at?: number;
    results: RpcAnswer<'inventory.jobs.get'>['results'];
  };
  'GET /info/logs/{label}': string;
  'GET /config': ClustermConfig;
}
