import type { NodeRecord } from '#contracts';

/*
 * Of which fleet a node is. Each question has a function of its own, as the answers differ: a cordoned node is no member
 * and is expected to report, and one that is off is no member and counts in its failure domain.
 */

type Standing = Pick<NodeRecord, 'enrolled' | 'cordon' | 'confirmedOff'>;

/**
 * A member: counted in M, by which quorum, brake and cap are reckoned, and a voter. Never a function of who is reachable,
 * of workers or of incidents.
 */
export const isMember = (n: Standing): boolean => n.enrolled && n.cordon === undefined && n.confirmedOff === undefined;

/**
 * It counts as off by its record, and has spoken in another boot than the one whose end was proven: its power is on, and
 * it counts again from then on, whatever is judged of it. To wait until it is judged UP would be a circle where the
 * monitor is blind for want of members. Where the boot that speaks is not known nothing is proven.
 * @param bootId that its own fresh report names
 */
export const isOnAgain = (n: Pick<Standing, 'confirmedOff'>, bootId: string | undefined): boolean =>
  n.confirmedOff !== undefined && bootId !== undefined && bootId !== n.confirmedOff.bootId;

/** Counted in the size of its failure domain, by which gate DOMAIN is reckoned: one that is off counts, too. */
export const isInFailureDomain = (n: Pick<Standing, 'enrolled' | 'cordon'>): boolean =>
  n.enrolled && n.cordon === undefined;

/**
 * Its agent should speak: that it is silent is news, and what it runs is known by its own word alone. An operator's
 * cordon changes nothing of that.
 */
export const shouldReport = (n: Pick<Standing, 'enrolled'> & { confirmedOff?: unknown }): boolean =>
  n.enrolled && n.confirmedOff === undefined;

/** It has a place in the configured cluster, heard or not: Ansible's inventory names it beside the targets of a job. */
export const isConfigured = (n: Pick<NodeRecord, 'status'>): boolean =>
  n.status === 'Allocated' || n.status === 'Maintenance';
