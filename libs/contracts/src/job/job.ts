import type { HardwareFacts } from '../hardware/power-identity.js';
import type { DeclaredService, ServiceTestResult } from '../services/service-test.js';
import type { CheckDiff } from './check-diff.js';

export const JobKinds = [
  'commission',
  'decommission',
  'maintenance',
  'check',
  'resetup',
  'recover',
  'discover',
  'service-test',
] as const;
export type JobKind = (typeof JobKinds)[number];

export const JobStatuses = ['Queued', 'Running', 'Complete', 'Errored'] as const;
export type JobStatus = (typeof JobStatuses)[number];

export interface Finding {
  service: string;
  /** `unknown`: it could not be looked at. */
  result: 'ok' | 'drift' | 'broken' | 'unknown';
  /** Why, in a few words; empty when ok. */
  why: string;
  /** SHA-256 over what was found in place of what should be: the same words about another content are another finding. */
  digest?: string;
}

/** What a check says of one node: findings per service, and the checksum of the effective configuration. */
export interface CheckResult {
  findings: Finding[];
  checksum: string;
  /** Services that may be set up again while the node's others go on. @default none */
  alone?: string[];
}

export interface NodeResult {
  ok: boolean;
  /** Playbook that ended it: `site`, `cleanup`, `check`, `recover`, `discover`, `install`. */
  step: string;
  /** discover: the node that the address has become, or has been. */
  node?: string;
  failedTask?: string;
  message?: string;
  /** ssh did not get there, or was not let in: nothing is known of the node. */
  unreachable?: true;
  /** Tasks that changed something on the node. */
  changed?: number;
  check?: CheckResult;
  diff?: CheckDiff;
  /** check: what it says of the node, once its findings were held against what was provisioned. */
  verdict?: { outcome: 'pass' | 'drift' | 'unknown'; why: string };
  /** Of the services that were looked at, those that have a folder of their own. */
  declared?: Record<string, DeclaredService>;
  test?: ServiceTestResult;
  /** Effective configuration after a successful site run. */
  checksum?: string;
  /** Services that a site run told of, by name; absent: of none. */
  services?: string[];
  /** decommission: the cleanup did not work, the node is Decommissioned all the same. */
  cleanupFailed?: boolean;
  /** Public keys that its sshd showed, where it had none pinned. */
  hostKeys?: string[];
  /** What the machine said of itself. */
  hardware?: Omit<HardwareFacts, 'at'>;
  /** recover: for each workload of the job, whether its start (or its stop) succeeded on this node, and why not. */
  workloads?: Record<string, WorkloadOutcome>;
}

/** What became of the order to start or to stop one workload on a node. */
export interface WorkloadOutcome {
  started: boolean;
  stopped?: boolean;
  reason: string;
  /** It was refused as an older order than the last one there: generation of that. The next one must be above it. */
  seen?: number;
}

/** How far a running job is on one node. */
export interface NodeProgress {
  /** `site`, `cleanup`, … */
  step: string;
  /** Task that runs, or ran last. */
  task: string;
  /** Tasks that have ended. */
  done: number;
  failed: boolean;
}

export interface RecoverTask {
  workload: string;
  generation: number;
  driver: string;
  spec: Record<string, unknown>;
  /** To be stopped rather than started: done when the node has read back that nothing of it runs. */
  stop?: boolean;
}

/** Bucket `jobs`. The provisioner writes progress and results; inventory rolls node statuses forward from them. */
export interface JobRecord {
  id: string;
  kind: JobKind;
  nodes: string[];
  status: JobStatus;
  /** Text of the operations contract: `commissionEvent: nodes:[…] extra-vars:{…} host-group:…`, without secrets. */
  desc: string;
  hostGroup?: string;
  extraVars: Record<string, unknown>;
  /** discover: addresses to go to. */
  addresses?: string[];
  /** discover: addresses that were left out, and the node that each is already. */
  skipped?: Record<string, string>;
  /** resetup: the only services that it touches; absent: all of the node. service-test: the one that is tested. */
  services?: string[];
  /** check: its results say what differs, line by line. */
  diff?: boolean;
  /** recover: what to start, or to stop, on the one node of the job. */
  recover?: RecoverTask[];
  /** Of a running job; written at most once a second. */
  progress?: Record<string, NodeProgress>;
  /** Longest run time, ms, from its start; then it ends as after a cancel. Absent: only the limits of its steps. */
  timeoutMs?: number;
  /**
   * Workloads that still have to leave the job's nodes (`force`): while there are any, no worker takes the job.
   */
  moving?: string[];
  /** The playbook that runs now, or ran last. */
  task: string;
  error: string;
  createdAt: number;
  startedAt?: number;
  endedAt?: number;
  by: string;
  /** SHA-256 over the request, where it came with a key: the same key with another request is refused. Not shown. */
  fingerprint?: string;
  /** Why the system started it itself: `return`, `periodic`, `incident:<id>`, … */
  cause?: string;
  /** Token of the conductor behind a job that the system started: workers refuse lower ones. */
  conductor?: number;
  /** Refused for that token: the highest one that its worker knows of. Conductors take one above it. */
  outranked?: number;
  worker?: string;
  /** Grows with each worker that takes the job: a late write of an earlier one is refused. */
  generation: number;
  /** Set by a cancel; the worker ends Ansible and its children. */
  cancel?: { by: string; at: number };
  results: Record<string, NodeResult>;
  /** Inventory has carried the results into the node records and freed the reservation. */
  settled: boolean;
}
export const isEndedJob = (j: { status: JobStatus }): boolean => j.status === 'Complete' || j.status === 'Errored';
/** Cause of the checks that the conductor starts by itself on nodes in service, once per `check.every`. */
export const PERIODIC = 'periodic';

/** It has ended, and its nodes are what it made of them: what rests on it may be asked for. */
export const isSettledJob = (j: Pick<JobRecord, 'status' | 'settled'>): boolean => isEndedJob(j) && j.settled;
/** Its nodes are reserved, and workloads have still to leave them: no worker takes it, and nothing was done to them. */
export const waitsForMoves = (j: Pick<JobRecord, 'status' | 'moving' | 'cancel'>): boolean =>
  j.status === 'Queued' && j.cancel === undefined && (j.moving?.length ?? 0) > 0;
