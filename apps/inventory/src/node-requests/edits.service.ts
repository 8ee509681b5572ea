import { Injectable } from '@nestjs/common';
import { isInDoubt, MusterError, RESERVATIONS_KEY, type NodeRecord, type Reservations } from '#contracts';
import type { Entry, KvBucket } from '#bus';
import { isServing } from '#domain/node/roles.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import { editOf, partKey } from '../operations/edit-key.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { timedId } from '../store/timed-id.js';
import { patched, patchOf } from './edit-node.js';
import {
  decideEdit,
  editHolder,
  finishEdit,
  nameOf,
  partsOf,
  type EditPart,
  type PreparedChange,
  type PreparedEdit,
} from './edits.js';
import { PowerSecrets, secretsOf } from './power-secrets.js';

/** So often an edit is prepared anew because something was reserved meanwhile. */
const MOST_TRIES = 20;
/** Changes that are written together, between two looks whether the edit still stands. */
const BATCH = 100;

/** What carrying out comes to beside the records. */
interface Done {
  /** Passwords that nobody needs any more. */
  drops: Set<string>;
  /** Nodes that were to be deleted, and have come back meanwhile. */
  kept: Set<string>;
}

const noReservations: Reservations = { held: {}, pending: {}, generation: 0 };

/**
 * Changes several nodes, all or none. Passwords and the changes themselves are written first, where nobody looks; then
 * one compare-and-set on the reservations is the decision. From there on it is rolled forward, here or by whoever sees
 * that it was left half done.
 */
@Injectable()
export class EditsService {
  private readonly parts: KvBucket<EditPart>;

  constructor(
    private readonly store: InventoryStore,
    private readonly secrets: PowerSecrets,
    private readonly users: AgentUsers,
  ) {
    this.parts = store.bus.bucket<EditPart>('admission');
  }

  /**
   * `prepare` gets the reservations as they are and reads everything else after that; it may run several times and may
   * throw to refuse. Nothing is written where it prepares no change.
   * @throws MusterError NODE_RESERVED, REVISION_CONFLICT
   */
  async apply(edit: string, prepare: (r: Reservations) => Promise<PreparedEdit>): Promise<void> {
    let decided: boolean;
    try {
      decided = await this.decide(edit, prepare);
    } catch (e) {
      // Where nobody knows whether it was decided, it is carried out or swept by whoever looks next.
      if (!isInDoubt(e)) await this.discard(edit);
      throw e;
    }
    if (decided) await this.carryOut(edit);
  }

  private async decide(edit: string, prepare: (r: Reservations) => Promise<PreparedEdit>): Promise<boolean> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const seen = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value ?? noReservations;
      const prepared = await prepare(seen);
      const nodes = prepared.changes.map(nameOf);
      if (nodes.length === 0) return false;
      await this.write(edit, prepared);
      const { value } = await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, (current) => {
        const now = current?.value ?? noReservations;
        // Something was reserved after the nodes were read: what was prepared may rest on what is over.
        if (now.generation !== seen.generation) return undefined;
        refuseHeld(now, nodes);
        return decideEdit(now, edit, nodes, this.store.clock.wallMs());
      });
      if (value?.edits?.[edit]) return true;
    }
    throw new MusterError('REVISION_CONFLICT', 'the fleet changes too quickly for so large a change: try again', {});
  }

  private async write(edit: string, prepared: PreparedEdit): Promise<void> {
    await this.secrets.keep(prepared.secrets);
    await this.secrets.copy(prepared.copies);
    const parts = partsOf(edit, prepared);
    await inParallel(parts, (part) => this.parts.mutate(partKey(edit, part.part), () => part));
  }

  /** Idempotent, and safe at any moment after the decision, by anyone. */
  async carryOut(edit: string): Promise<void> {
    const parts = await this.read(edit);
    if (!(await this.stands(edit))) return;
    if (parts.length === 0 || parts.length < (parts[0]?.parts ?? 0))
      throw new MusterError('INTERNAL', `${edit} was decided, and a part of it is missing`, { edit });
    const changes = parts.flatMap((p) => p.changes);
    const drops = new Set(parts.flatMap((p) => p.drops));
    const kept = new Set<string>();
    let nodesAt = 0;
    for (let i = 0; i < changes.length; i += BATCH) {
      const done = await this.carryOutBatch(edit, changes.slice(i, i + BATCH), { drops, kept });
      if (done === undefined) return;
      nodesAt = Math.max(nodesAt, done);
    }
    await this.secrets.drop(drops);
    await this.publish(
      edit,
      changes.filter((c) => !kept.has(nameOf(c))),
    );
    await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, (current) =>
      current ? finishEdit(current.value, edit, nodesAt) : undefined,
    );
    await this.forget(edit, parts.length);
  }

  /** @returns the highest revision; undefined: the edit is over, others have written it to its end */
  private async carryOutBatch(
    edit: string,
    changes: readonly PreparedChange[],
    done: Done,
  ): Promise<number | undefined> {
    let nodesAt = 0;
    let left = changes;
    while (left.length > 0) {
      const before = new Map<string, Entry<NodeRecord> | undefined>();
      await inParallel(left, async (c) => before.set(nameOf(c), await this.store.nodes.bucket.get(nameOf(c))));
      // Read after the nodes: as long as the edit stands nobody else edits them, and once it is over their revisions
      // have moved on. So a late helper cannot write over what came after it.
      if (!(await this.stands(edit))) return undefined;
      const again: PreparedChange[] = [];
      await inParallel(left, async (c) => {
        try {
          const revision = await this.carryOutOne(c, before.get(nameOf(c)), done);
          nodesAt = Math.max(nodesAt, revision);
        } catch (e) {
          if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
          again.push(c);
        }
      });
      left = again;
    }
    return nodesAt;
  }

  private async carryOutOne(
    c: PreparedChange,
    before: Entry<NodeRecord> | undefined,
    { drops, kept }: Done,
  ): Promise<number> {
    const { bucket } = this.store.nodes;
    if (!before) {
      if (c.kind === 'create') return bucket.create(c.node.name, c.node);
      // A deletion that was decided on the record alone came in between, or this one is done already.
      if (c.kind === 'edit') this.store.bus.log.warn({ node: c.name }, 'a node was deleted while it was edited');
      return 0;
    }
    if (c.kind === 'delete' && c.unlessServing === true && isServing(before.value)) {
      for (const secret of secretsOf(before.value)) drops.delete(secret);
      kept.add(c.name);
      return before.revision;
    }
    if (c.kind === 'delete') {
      for (const secret of secretsOf(before.value)) drops.add(secret);
      // First: once the record is gone, nothing else says that who was let in until then is not any more.
      if (c.shutsOut) await this.users.noteRevocation(c.shutsOut);
      await bucket.delete(c.name, before.revision);
      return 0;
    }
    // A node that is to be created may have come by itself meanwhile: then it is edited.
    const after = patched(before.value, c.kind === 'create' ? patchOf(c.node) : c.patch);
    const used = new Set(secretsOf(after));
    for (const secret of secretsOf(before.value)) if (!used.has(secret)) drops.add(secret);
    if (JSON.stringify(after) === JSON.stringify(before.value)) return before.revision;
    return bucket.update(before.key, after, before.revision);
  }

  private async publish(edit: string, changes: readonly PreparedChange[]): Promise<void> {
    await inParallel(changes, (c) => {
      const node = nameOf(c);
      const o = { id: `${edit}.${node}.${c.kind}` };
      if (c.kind === 'create') return this.store.bus.emit('node-created', node, { node }, o);
      if (c.kind === 'delete') return this.store.bus.emit('node-deleted', node, { node }, o);
      return this.store.bus.emit('node-edited', node, { node, fields: c.fields }, o);
    });
  }

  /**
   * Gives up what its replica has prepared and not decided. The generation moves on first: should that one only have
   * been held up, it finds what it prepared stale, and prepares it anew. What it decides then is not swept: its parts
   * and its passwords stand under the same keys.
   * @param check called before each write; throws where the right to write is gone
   */
  async sweep(edit: string, check: () => void): Promise<void> {
    let decided = false;
    await this.store.reservations.bucket.mutate(RESERVATIONS_KEY, (current) => {
      const now = current?.value ?? noReservations;
      decided = now.edits?.[edit] !== undefined;
      if (decided) return undefined;
      check();
      return { ...now, generation: now.generation + 1 };
    });
    if (decided) return;
    await this.discard(edit, async () => {
      const stands = await this.stands(edit);
      check();
      return !stands;
    });
  }

  /**
   * What was prepared, and those of its passwords that no record refers to. By what is there: where its replica died as
   * it wrote, or a later try had fewer parts, the first does not lead to the others.
   * @param may asked once it is known what goes, right before the first of it does
   */
  private async discard(edit: string, may?: () => Promise<boolean>): Promise<void> {
    const parts = (await this.parts.list()).filter((e) => editOf(e.key) === edit);
    const changes = parts.flatMap((p) => p.value.changes);
    const unused = new Set(parts.flatMap((p) => p.value.fresh));
    await inParallel(changes, async (c) => {
      const record = await this.store.nodes.bucket.get(nameOf(c));
      for (const secret of record ? secretsOf(record.value) : []) unused.delete(secret);
    });
    if (may !== undefined && !(await may())) return;
    await this.secrets.drop(unused);
    await inParallel(parts, (p) => this.parts.delete(p.key));
  }

  private async read(edit: string): Promise<EditPart[]> {
    const first = (await this.parts.get(partKey(edit, 0)))?.value;
    if (!first) return [];
    const parts = [first];
    for (let i = 1; i < first.parts; i++) {
      const part = (await this.parts.get(partKey(edit, i)))?.value;
      if (part) parts.push(part);
    }
    return parts;
  }

  /** From the end: as long as the first part is there, the others are found by it. */
  private async forget(edit: string, parts: number): Promise<void> {
    for (let i = parts - 1; i >= 0; i--) await this.parts.delete(partKey(edit, i));
  }

  private async stands(edit: string): Promise<boolean> {
    return (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.edits?.[edit] !== undefined;
  }
}

/** Makes the keys of its passwords its own, too. */
export const newEditId = (o: Parameters<typeof timedId>[1]): string => timedId('edit', o);

function refuseHeld(r: Reservations, nodes: readonly string[]): void {
  const taken = nodes.filter((n) => editHolder(r.held[n]) !== undefined);
  const [first] = taken;
  if (first === undefined) return;
  const holder = editHolder(r.held[first]);
  throw new MusterError('NODE_RESERVED', `held by ${holder}, try again when it has ended: ${taken.join(' ')}`, {
    nodes: taken,
    ...r.held[first],
  });
}
