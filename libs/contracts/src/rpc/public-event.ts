import type { Verdict } from '../verdict/verdict.js';
import type { EventKind, MusterEvent } from './events.js';
import { Subjects } from '../names/subjects.js';

/** An event as readers get it: a verdict stands among the others as kind `verdict`. */
export interface PublicEvent {
  /** Place in the stream: whoever reads on does so behind it. */
  seq: number;
  id: string;
  kind: EventKind | 'verdict';
  key: string;
  at: number;
  source: string;
  data: unknown;
}

/** Where events of a kind stand; of all keys with `*`, of all kinds but verdicts with kind `*`. */
export const eventSubject = (kind: string, key: string): string =>
  kind === 'verdict' ? Subjects.verdict(key) : Subjects.event(kind, key);

const isVerdict = (subject: string): boolean => subject.startsWith(Subjects.verdict(''));

export function toPublic(subject: string, value: unknown, seq: number): PublicEvent {
  if (!isVerdict(subject)) return { seq, ...(value as MusterEvent) };
  const v = value as Verdict;
  return { seq, id: `${v.epoch}.${v.seq}`, kind: 'verdict', key: v.node, at: v.at, source: 'detector', data: v };
}
