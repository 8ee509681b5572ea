import { eventNode, eventSubject, type MusterEvent, MusterError, type PublicEvent } from '#contracts';
import type { EventQuery } from '../queries/queries.js';

export interface EventSelection {
  /** Absent: all. */
  kinds?: string[];
  node?: string;
  since?: Date;
}

/** @throws MusterError BAD_REQUEST */
export function toSelection(query: EventQuery): EventSelection {
  return {
    ...(query.kind !== undefined && { kinds: query.kind.split(',') }),
    ...(query.node !== undefined && { node: query.node }),
    ...(query.since !== undefined && { since: toDate('since', query.since) }),
  };
}

/** @throws MusterError BAD_REQUEST that names the member */
export function toDate(member: string, text: string): Date {
  const date = new Date(/^\d+$/.test(text) ? Number(text) : text);
  if (Number.isNaN(date.getTime()))
    throw new MusterError('BAD_REQUEST', `${member}: "${text}" is neither ms nor ISO 8601`);
  return date;
}

/** Kinds that are not stored under the node's own key and may name it all the same. */
const FOREIGN = ['discovered', 'disappeared', 'job', 'job-node', 'workload', 'claim', 'alarm'];

/** Subjects that hold all of a selection; of a node's, other events too: `isAbout` tells. */
export function subjectsOf({ kinds, node }: EventSelection): string[] {
  if (node === undefined) return (kinds ?? ['verdict', '*']).map((kind) => eventSubject(kind, '*'));
  return (kinds ?? ['verdict', '*', ...FOREIGN]).map((kind) => eventSubject(kind, FOREIGN.includes(kind) ? '*' : node));
}

/** Is it about the node, whatever it is stored under? Lists of nodes, jobs and alarms count too. */
export function isAbout(event: PublicEvent, node: string | undefined): boolean {
  if (node === undefined || event.key === node) return true;
  if (event.kind !== 'verdict' && eventNode(event as MusterEvent) === node) return true;
  const { nodes, subject } = event.data as { nodes?: unknown; subject?: unknown };
  if (event.kind === 'alarm' && subject === node) return true;
  return Array.isArray(nodes) && nodes.includes(node);
}
