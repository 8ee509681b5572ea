import type { Remedy } from '../remedies/remedy.js';

export const AlarmCodes = [
  'agent-down',
  /** The kernel of a host answers, and nothing above it does. */
  'host-hung',
  /** No channel has ever shown that this host lives but its agent: it is not fenced when that falls silent. */
  'life-sign-weak',
  'partial-reachability',
  'network-down',
  'node-degraded',
  'blind',
  'detector-silent',
  'fencing-failed',
  'fencing-suppressed',
  /** A node is DOWN, and what its fencing waits for does not come. */
  'fencing-waits',
  'brake',
  'domain-down',
  'not-fenceable',
  /** A dead node that an operator has Muster leave alone, with work that should run. */
  'dead-with-work',
  'no-room',
  'workload-held',
  /** A workload ends by itself again and again on a node that is well, or is being started there and never runs. */
  'workload-ended',
  /** Work runs on a node without a start gate: a boot of it would start that a second time. */
  'workload-ungated',
  'power-on-withheld',
  /** A node that Muster has powered on was not heard in a new boot within its grace. */
  'boot-timeout',
  'drift',
  'resetup-failed',
  /** A node is back and heard, and its check does not get there by ssh: it stays out of service until one does. */
  'check-unreachable',
  /** A node is back, and its check cannot be carried out, or not for one of its services: it stays out of service. */
  'check-failed',
  'flapping',
  'conflict',
  'conflict-power',
  'conflict-workload',
  /** A power-off by a device that is not proven may have hit another node: its proof of off is held. */
  'collateral',
  'no-workers',
  /** A worker of an earlier version runs, which does not read what this one stores. */
  'worker-outdated',
  'peer-list',
  /** Power devices of two nodes are at one place: an off that is meant for one would reach the other. */
  'power-place',
  /** A power device says that it is another machine's. */
  'power-identity',
  /** A power device that was proven to be its node's own does not say who it is any more. */
  'power-identity-unread',
  'drain-stuck',
  'webhook-failing',
  /** Two nodes do not hear each other on a network, while others hear both. */
  'link-down',
  /** Some observers, not most, hear a node on no network. */
  'partly-heard',
  'link-quality',
  /** Somebody sends what does not bear the cluster's key, or speaks as a node that is not let in. */
  'auth-failure',
  /** A machine was refused that claims a node's name or address, which another one has, or that is another node itself. */
  'duplicate',
  /** An agent warns, or abstains for long. */
  'agent-health',
  /** A stored record that no program can read: it is left out until somebody deletes it. */
  'record-unreadable',
  /** A lease is held with a token below one in the records that it guards: its holder's writes are refused. */
  'token-behind',
  /** A task of the conductor fails again and again: what it drives stands still. */
  'task-failing',
  /** A bucket of Muster was not there, or is another one than before. */
  'bucket-anew',
  /** The store was loaded from a copy: what was written after it is not there. */
  'store-loaded',
  /** An inventory cannot keep what it has seen of the store. */
  'store-unwatched',
  /** The disk under NATS fills up. */
  'store-space',
  /** NATS is spoken to over a network without TLS. */
  'nats-plain',
  /** A certificate ends soon: who checks it refuses the connection then. */
  'certificate-expires',
  /** A certificate or key on disk cannot be used: the one before is still shown. */
  'certificate-broken',
] as const;
export type AlarmCode = (typeof AlarmCodes)[number];

/** Bucket `alarms`, key `<code>=<subject>`. */
export interface AlarmRecord {
  code: AlarmCode;
  /** Node, workload, network … that it is about. */
  subject: string;
  severity: 'info' | 'warning' | 'critical';
  /** The worst that it has been since it was raised, where that is more than `severity`. */
  worst?: 'info' | 'warning' | 'critical';
  message: string;
  since: number;
  count: number;
  cleared?: number;
  acknowledged?: { by: string; at: number; note?: string };
}
/** An alarm as it is shown: with the first thing to do about it. */
export interface AlarmView extends AlarmRecord {
  remedy: Remedy;
}
export const alarmKey = (code: AlarmCode, subject: string): string => `${code}=${subject}`;
