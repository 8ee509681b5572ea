import type { AlarmRecord } from '../alarms/alarm.js';
import type { Remedy } from '../remedies/remedy.js';
import type { CheckResult, JobKind, JobStatus, NodeResult } from '../job/job.js';
import type { GateCode, IncidentPhase } from '../incident/incident.js';
import type { NodeState, NodeStatus } from '../node/node.js';
import type { MonitorNode } from './requests.js';

/** Kind → payload of `muster.event.<kind>.<key>`. The key is the node unless said otherwise. */
export interface EventMap {
  'node-created': { node: string };
  'node-deleted': { node: string };
  /** By an operator: PATCH, import, replace. */
  'node-edited': { node: string; fields: string[] };
  /** Key `cluster`. */
  settings: { changed: string[] };
  /** Key = claim id. */
  claim: { claim: string; owner: string; nodes: string[]; change: 'taken' | 'released' | 'expired' };
  'node-status': { node: string; status: NodeStatus; prev: string; job?: string };
  'node-state': { node: string; state: NodeState; prev: NodeState; reason: string };
  /** Lists, one event per change of a batch; key `fleet`. */
  discovered: { nodes: string[] };
  disappeared: { nodes: string[] };
  /**
   * The word of an external monitor, accepted: of at most 1,000 nodes. They are applied in the order of their
   * sequences. Key `fleet`.
   */
  'monitor-event': { by: string; change: 'discovered' | 'disappeared'; nodes: MonitorNode[] };
  rebooted: { node: string; bootId: string; prevBootId?: string };
  degraded: { node: string; networks: string[] };
  'degraded-over': { node: string };
  incident: { node: string; incident: string; phase: IncidentPhase; detail: string; gate?: GateCode };
  check: { node: string; job: string; pass: boolean; result: CheckResult };
  resetup: { node: string; job: string; ok: boolean };
  /** The last workload of a node that is being drained has left it. */
  drained: { node: string };
  'in-service': { node: string };
  'out-of-service': { node: string; reasons: string[] };
  /** Key = job id. */
  job: { job: string; kind: JobKind; status: JobStatus; nodes: string[]; task: string; error: string };
  /** Key = job id. */
  'job-node': { job: string; node: string; result: NodeResult };
  /** Key = workload. */
  workload: {
    workload: string;
    node?: string;
    generation: number;
    /** `ended`: by itself; it is started again. */
    change: 'assigned' | 'running' | 'cleared' | 'held' | 'stopping' | 'stopped' | 'ended';
  };
  /** Key = `<code>`. */
  alarm: AlarmRecord & { remedy?: Remedy };
  /** Key = driver: one per transition. */
  driver: { driver: string; offered: boolean; nodesAffected: number };
  /** Key = durable consumer: a message that its handler refused again and again, and that is not offered any more. */
  'dead-letter': {
    consumer: string;
    subject: string;
    seq: number;
    deliveries: number;
    error: string;
    value: unknown;
  };
  /** Key = subject of the act: who did what. `from`: the address that asked, `unix` for the socket; absent: not by HTTP. */
  audit: {
    by: string;
    from?: string;
    action: string;
    subject: string;
    detail: string;
    outcome: 'accepted' | 'refused';
  };
}
export type EventKind = keyof EventMap;

/** As stored: `id` makes it unique (deduplicated by the stream), `at` is wall clock for people. */
export interface MusterEvent<K extends EventKind = EventKind> {
  id: string;
  kind: K;
  key: string;
  at: number;
  source: string;
  data: EventMap[K];
}

/** Which node an event is about, where it is about one. */
export const eventNode = (e: MusterEvent): string | undefined => (e.data as { node?: string }).node;
