import { Injectable } from '@nestjs/common';
import { MusterError, type Reservations } from '#contracts';
import { removalOf } from '#domain/removal/removal.js';
import { RevocationService } from '../agents/revocation.service.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { EditsService, newEditId } from './edits.service.js';
import type { PreparedEdit } from './edits.js';
import { secretsOf } from './power-secrets.js';
import { RemovableNodes } from './removable-nodes.js';

/** Nodes that are deleted by one decision. */
const TOGETHER = 100;

interface Wanted {
  name: string;
  by: string;
  revision: number | undefined;
  deleted: () => void;
  refused: (e: unknown) => void;
}

/**
 * Nodes that are forgotten, by requests for one each. What waits while one decision is taken is decided together by the
 * next: all decisions are on the one key of the reservations, and a rack that is cleared would wait for itself.
 */
@Injectable()
export class DeletionsService {
  private waiting: Wanted[] = [];
  private working = false;

  constructor(
    private readonly store: InventoryStore,
    private readonly edits: EditsService,
    private readonly revocations: RevocationService,
    private readonly removable: RemovableNodes,
  ) {}

  /**
   * A node that serves is decommissioned first; one that is gone may be forgotten. Decided on the reservations: what is
   * begun with the node at the same moment, by whomever, is seen here or sees that it goes. Its agent is shut out.
   * @throws MusterError as {@link RemovableNodes.get}
   */
  delete(name: string, by: string, revision?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ name, by, revision, deleted: resolve, refused: reject });
      void this.work();
    });
  }

  private async work(): Promise<void> {
    if (this.working) return;
    this.working = true;
    while (this.waiting.length > 0) await this.together(this.next());
    this.working = false;
  }

  /** Of two requests for the same node the second one is looked at when the first is over. */
  private next(): Wanted[] {
    const names = new Set<string>();
    const now: Wanted[] = [];
    const later: Wanted[] = [];
    for (const w of this.waiting) {
      const fits = now.length < TOGETHER && !names.has(w.name);
      names.add(w.name);
      (fits ? now : later).push(w);
    }
    this.waiting = later;
    return now;
  }

  /** Never rejects: each of them is told what became of it. */
  private async together(all: readonly Wanted[]): Promise<void> {
    const refused = new Map<Wanted, unknown>();
    try {
      await this.edits.apply(newEditId(this.store), (reservations) => this.prepare(all, reservations, refused));
      await inParallel(all, async (w) => {
        if (!refused.has(w)) await this.mustBeGone(w).catch((e: unknown) => refused.set(w, e));
      });
    } catch (e) {
      for (const w of all) if (!refused.has(w)) refused.set(w, e);
    }
    const deleted = all.filter((w) => !refused.has(w));
    this.revocations.forgotten(deleted.map(({ name }) => name));
    for (const w of deleted) w.deleted();
    for (const [w, why] of refused) w.refused(why);
  }

  /** May be asked several times: what was refused then is looked at anew. */
  private async prepare(
    all: readonly Wanted[],
    { held }: Reservations,
    refused: Map<Wanted, unknown>,
  ): Promise<PreparedEdit> {
    refused.clear();
    const prepared: PreparedEdit = { changes: [], secrets: {}, copies: new Map(), drops: [] };
    await inParallel(all, async (w) => {
      const { name, by } = w;
      try {
        prepared.drops.push(...secretsOf(await this.removable.get(name, held, w.revision)));
        prepared.changes.push(removalOf(name, 'deletion', by, this.store.clock.wallMs()));
      } catch (e) {
        refused.set(w, e);
      }
    });
    return prepared;
  }

  private async mustBeGone({ name }: Wanted): Promise<void> {
    if ((await this.store.nodes.bucket.get(name))?.value.status === 'Allocated')
      throw new MusterError('REVISION_CONFLICT', `${name} came back while it was being deleted: it stays`, {
        node: name,
      });
  }
}
