import { type EventKind, eventNode, type MusterEvent, MusterError, Subjects, type Verdict } from '#contracts';
import type { EventQuery } from '../v1/queries.js';

/** An event as readers get it: a verdict stands among the others as kind `verdict`. */
export interface PublicEvent {
  /** Place in the stream: `Last-Event-ID` resumes behind it. */
  seq: number;
  id: string;
  kind: EventKind | 'verdict';
  key: string;
  at: number;
  source: string;
  data: unknown;
}

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
    ...(query.since !== undefined && { since: toDate(query.since) }),
  };
}

function toDate(text: string): Date {
  const date = new Date(/^\d+$/.test(text) ? Number(text) : text);
  if (Number.isNaN(date.getTime())) throw new MusterError('BAD_REQUEST', `since: "${text}" is neither ms nor ISO 8601`);
  return date;
}

/** Subjects that hold all of a selection; with `keyed` only what is stored under the node's own key. */
export function subjectsOf(selection: EventSelection, keyed = false): string[] {
  const key = keyed && selection.node !== undefined ? selection.node : '*';
  return (selection.kinds ?? ['verdict', '*']).map((kind) =>
    kind === 'verdict' ? Subjects.verdict(key) : Subjects.event(kind, key),
  );
}

const isVerdict = (subject: string): boolean => subject.startsWith(Subjects.verdict(''));

export function toPublic(subject: string, value: unknown, seq: number): PublicEvent {
  if (!isVerdict(subject)) return { seq, ...(value as MusterEvent) };
  const v = value as Verdict;
  return { seq, id: `${v.epoch}.${v.seq}`, kind: 'verdict', key: v.node, at: v.at, source: 'detector', data: v };
}

/** Is it about the node, whatever it is stored under? Lists of nodes, jobs and alarms count too. */
export function isAbout(event: PublicEvent, node: string | undefined): boolean {
  if (node === undefined || event.key === node) return true;
  if (event.kind !== 'verdict' && eventNode(event as MusterEvent) === node) return true;
  const { nodes, subject } = event.data as { nodes?: unknown; subject?: unknown };
  if (event.kind === 'alarm' && subject === node) return true;
  return Array.isArray(nodes) && nodes.includes(node);
}
