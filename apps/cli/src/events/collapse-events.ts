import type { Verdict } from '#contracts';
import type { StreamedEvent } from '../server/event-stream.js';

/** Verdicts of one kind that came within this of the first of them are one line, ms. */
const WITHIN_MS = 10_000;
/** Fewer than so many are told one by one. */
const FEWEST = 4;
/** Names on such a line. */
const NAMED = 5;

/** An event, or so many verdicts of one kind in its place. */
export type EventRow = { event: StreamedEvent } | { at: number; text: string };

/**
 * On a machine that is short of breath, or where a switch fails, hundreds of nodes change their verdicts within minutes:
 * verdicts of one kind that came together are told in one line. Nothing else is left out, and the order stays.
 */
export function collapseEvents(events: readonly StreamedEvent[]): EventRow[] {
  const groups = new Map<string, { first: number; members: StreamedEvent[] }>();
  const groupOf: ({ first: number; members: StreamedEvent[] } | undefined)[] = [];
  for (const event of events) {
    if (event.kind !== 'verdict') {
      groupOf.push(undefined);
      continue;
    }
    const { verdict } = event.data as Verdict;
    let group = groups.get(verdict);
    if (group === undefined || event.at - group.first > WITHIN_MS) {
      group = { first: event.at, members: [] };
      groups.set(verdict, group);
    }
    group.members.push(event);
    groupOf.push(group);
  }
  return events.flatMap((event, i): EventRow[] => {
    const group = groupOf[i];
    if (group === undefined || group.members.length < FEWEST) return [{ event }];
    return group.members[0] === event ? [{ at: event.at, text: sentence(group.members) }] : [];
  });
}

function sentence(members: readonly StreamedEvent[]): string {
  const names = [...new Set(members.map((e) => e.key))].sort();
  const { verdict } = (members[0] as StreamedEvent).data as Verdict;
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const often = members.length > names.length ? `, ${members.length} times` : '';
  return `${names.length} nodes ${verdict}${often}: ${names.slice(0, NAMED).join(', ')}${more} (--all tells each)`;
}
