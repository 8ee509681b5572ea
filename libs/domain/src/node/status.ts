import type { JobKind, NodeStatus } from '#contracts';

/** Kinds of jobs that change the status of their nodes. */
export type StatusJob = Extract<JobKind, 'commission' | 'decommission' | 'maintenance'>;

/** A change of a node's status that may be. */
export interface StatusChange {
  from: NodeStatus;
  to: NodeStatus;
  by: StatusJob;
  /** `unbegun`: it was cancelled, or refused, before any worker began it, and so has done nothing to its nodes. */
  when: 'begins' | 'succeeds' | 'fails' | 'unbegun';
}

/**
 * All changes of a node's status, and the job behind each. `Provisioning`, `Cancelled` and `Maintenance` are left by the
 * end of their job only. Of two that fit, the one to the status before the job counts, else the first.
 */
export const statusChanges: readonly StatusChange[] = [
  { from: 'Unallocated', to: 'Provisioning', by: 'commission', when: 'begins' },
  { from: 'Decommissioned', to: 'Provisioning', by: 'commission', when: 'begins' },
  { from: 'Provisioning', to: 'Allocated', by: 'commission', when: 'succeeds' },
  { from: 'Provisioning', to: 'Unallocated', by: 'commission', when: 'fails' },
  { from: 'Provisioning', to: 'Unallocated', by: 'commission', when: 'unbegun' },
  { from: 'Provisioning', to: 'Decommissioned', by: 'commission', when: 'unbegun' },

  { from: 'Allocated', to: 'Cancelled', by: 'decommission', when: 'begins' },
  { from: 'Cancelled', to: 'Decommissioned', by: 'decommission', when: 'succeeds' },
  { from: 'Cancelled', to: 'Decommissioned', by: 'decommission', when: 'fails' },
  { from: 'Cancelled', to: 'Allocated', by: 'decommission', when: 'unbegun' },

  { from: 'Allocated', to: 'Maintenance', by: 'maintenance', when: 'begins' },
  { from: 'Maintenance', to: 'Allocated', by: 'maintenance', when: 'succeeds' },
  { from: 'Maintenance', to: 'Unallocated', by: 'maintenance', when: 'fails' },
  { from: 'Maintenance', to: 'Allocated', by: 'maintenance', when: 'unbegun' },
];
