import type { AgentRevocation, Hold, NodeRecord, Reservations } from '#contracts';
import type { RecordPatch } from './edit-node.js';

/** One node's part of a change of several nodes at once. Passwords stand in bucket `secrets` already. */
export type PreparedChange =
  | { kind: 'create'; node: NodeRecord }
  | { kind: 'edit'; name: string; patch: RecordPatch; fields: string[] }
  /**
   * With what shuts its agent out; absent in what an earlier Muster has left half written. `unlessServing`: a node that
   * has come back since it was decided stays; where another one has taken its place already it goes all the same.
   */
  | { kind: 'delete'; name: string; shutsOut?: AgentRevocation; unlessServing?: true };

export const nameOf = (c: PreparedChange): string => (c.kind === 'create' ? c.node.name : c.name);

/** A change of several nodes at once, all or none, as it is prepared. */
export interface PreparedEdit {
  changes: PreparedChange[];
  /** New passwords by their keys of bucket `secrets`. Never stored with the edit. */
  secrets: Record<string, string>;
  /** Stored passwords that are needed under a new key as well. */
  copies: Map<string, string>;
  /** Keys of passwords that no record refers to once all is written. */
  drops: string[];
}

/** Bucket `admission`, key `<edit>=<part>`: written before the decision, so that any replica can carry it out. */
export interface EditPart {
  edit: string;
  part: number;
  parts: number;
  changes: PreparedChange[];
  drops: string[];
  /** Keys of the passwords that were written for it. */
  fresh: string[];
}

/** Changes of one part: a part stays far below what one message may hold. */
const PART_CHARS = 200_000;

export function partsOf(edit: string, e: PreparedEdit): EditPart[] {
  const groups: PreparedChange[][] = [[]];
  let chars = 0;
  for (const change of e.changes) {
    const length = JSON.stringify(change).length;
    if (chars > 0 && chars + length > PART_CHARS) {
      groups.push([]);
      chars = 0;
    }
    groups.at(-1)?.push(change);
    chars += length;
  }
  const fresh = [...Object.keys(e.secrets), ...e.copies.values()];
  return groups.map((changes, part) => ({
    edit,
    part,
    parts: groups.length,
    changes,
    ...(part === 0 ? { drops: e.drops, fresh } : { drops: [], fresh: [] }),
  }));
}

/** The edit is decided: from here on it is carried out, by whomever. Who calls has made sure that no job holds a node. */
export function decideEdit(r: Reservations, edit: string, nodes: readonly string[], at: number): Reservations {
  const generation = r.generation + 1;
  const held = { ...r.held };
  for (const node of nodes) held[node] = { ...(held[node] ?? { generation, at }), edit };
  return { ...r, generation, held, edits: { ...r.edits, [edit]: { nodes: [...nodes] } } };
}

/**
 * All of it is written; undefined: that is known already. What a claim holds it holds still.
 * @param nodesAt the highest revision of its nodes
 */
export function finishEdit(r: Reservations, edit: string, nodesAt: number): Reservations | undefined {
  const done = r.edits?.[edit];
  if (!done) return undefined;
  const { [edit]: _done, ...edits } = r.edits ?? {};
  const held = { ...r.held };
  for (const node of done.nodes) {
    const hold = held[node];
    if (hold?.edit !== edit) continue;
    const { edit: _free, ...rest } = hold;
    if (rest.claim === undefined && rest.job === undefined) delete held[node];
    else held[node] = rest;
  }
  // Whoever has prepared an edit since must look again: what was being written then is there now.
  return { ...r, generation: r.generation + 1, held, edits, nodesAt: Math.max(r.nodesAt ?? 0, nodesAt) };
}

/** Who keeps a node from being edited together with others; undefined: nobody. A claim does not. */
export const editHolder = (hold: Hold | undefined): string | undefined => hold?.job ?? hold?.edit;
