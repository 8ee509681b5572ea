import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { IncidentRecord, PowerCommand } from '#contracts';

/** Revisions of a node's incidents that the store keeps, see the buckets' options: with more, the first ones are gone. */
const STORED_REVISIONS = 64;

const keyOf = (c: PowerCommand): string => `${c.n} ${c.epoch} ${c.at}`;

/**
 * One record for each incident: as it was seen last, with every command that any revision had. What was kept before
 * comes first, so that the store's word is the last one.
 */
function keptOf(revisions: readonly IncidentRecord[]): IncidentRecord[] {
  const kept = new Map<string, { last: IncidentRecord; commands: Map<string, PowerCommand> }>();
  for (const i of revisions) {
    const commands = kept.get(i.id)?.commands ?? new Map<string, PowerCommand>();
    for (const c of i.commands) commands.set(keyOf(c), c);
    kept.set(i.id, { last: i, commands });
  }
  return [...kept.values()].map(({ last, commands }) => ({ ...last, commands: [...commands.values()] }));
}

/** What earlier audits of this lab have seen, and the store has now, oldest first; kept for the next audit. */
export function withKept(file: string, stored: readonly IncidentRecord[]): IncidentRecord[] {
  const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as IncidentRecord[]) : [];
  const aside = `${file}.${process.pid}`;
  writeFileSync(aside, JSON.stringify(keptOf([...before, ...stored])));
  renameSync(aside, file);
  // One that is replaced was closed before, also where that revision is gone.
  const there = new Set(stored.map((i) => i.id));
  return [...before.map((i): IncidentRecord => (there.has(i.id) ? i : { ...i, phase: 'closed' })), ...stored];
}

/** Node → wall clock, ms, of the oldest revision that the store still has, where it has lost earlier ones. */
export function cutBefore(stored: readonly IncidentRecord[]): Record<string, number> {
  const count = new Map<string, number>();
  const oldest = new Map<string, number>();
  for (const i of stored) {
    count.set(i.node, (count.get(i.node) ?? 0) + 1);
    if (!oldest.has(i.node)) oldest.set(i.node, i.updatedAt);
  }
  return Object.fromEntries([...oldest].filter(([node]) => (count.get(node) ?? 0) >= STORED_REVISIONS));
}
