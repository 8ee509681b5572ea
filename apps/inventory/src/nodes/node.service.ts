import { Injectable } from '@nestjs/common';
import { MusterError, type NodeRecord } from '#contracts';
import type { Entry } from '#bus';
import { InventoryStore } from '../store/inventory-store.js';
import { nodeEvents } from './node-events.js';

export interface NodeChange {
  node: NodeRecord;
  revision: number;
  changed: boolean;
}

/** The one way in which a node record changes: compare-and-set, then the events that tell what changed. */
@Injectable()
export class NodeService {
  constructor(private readonly store: InventoryStore) {}

  /**
   * `fn` gets the record as it is now, and its revision, and returns the new one, or undefined to leave it alone; it
   * may run several times and may throw to refuse.
   * @throws MusterError NODE_UNKNOWN
   */
  async change(
    name: string,
    fn: (node: NodeRecord, revision: number) => NodeRecord | undefined | Promise<NodeRecord | undefined>,
    cause = '',
  ): Promise<NodeChange> {
    let before: NodeRecord | undefined;
    const done = await this.store.nodes.bucket.mutate(name, (current) => {
      if (!current) throw unknownNode(name);
      before = current.value;
      return fn(current.value, current.revision);
    });
    if (!done.value) throw unknownNode(name);
    if (done.changed) await this.publish(before, done.value, done.revision, cause);
    return { node: done.value, revision: done.revision, changed: done.changed };
  }

  /** Creates, or changes what is there: `fn` sees undefined for a new node. */
  async upsert(
    name: string,
    fn: (node: NodeRecord | undefined) => NodeRecord | undefined,
    cause = '',
  ): Promise<{ node: NodeRecord | undefined; changed: boolean }> {
    let before: NodeRecord | undefined;
    const done = await this.store.nodes.bucket.mutate(name, (current) => {
      before = current?.value;
      return fn(before);
    });
    if (done.changed && done.value) await this.publish(before, done.value, done.revision, cause);
    return { node: done.value, changed: done.changed };
  }

  /**
   * Writes over the record as it was read.
   * @returns how to tell of it, which may follow later
   * @throws MusterError REVISION_CONFLICT
   */
  async replace(seen: Entry<NodeRecord>, node: NodeRecord): Promise<() => Promise<void>> {
    const revision = await this.store.nodes.bucket.update(seen.key, node, seen.revision);
    return () => this.publish(seen.value, node, revision, '');
  }

  private async publish(before: NodeRecord | undefined, after: NodeRecord, revision: number, cause: string) {
    for (const e of nodeEvents(before, after, cause))
      await this.store.bus.emit(e.kind, after.name, e.data, { id: `${after.name}.${revision}.${e.kind}` });
  }
}

export const unknownNode = (name: string): MusterError =>
  new MusterError('NODE_UNKNOWN', `node with name or address "${name}" doesn't exists`, { node: name });
