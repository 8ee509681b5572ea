import { Injectable } from '@nestjs/common';
import type { NodeReplaceRequest, NodeView } from '#contracts';
import { RevocationService } from '../agents/revocation.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { KnownNames } from '../store/known-names.js';
import { EditsService, newEditId } from './edits.service.js';
import { nameOf } from './edits.js';
import { unknownNode } from '../nodes/node.service.js';
import { RemovableNodes } from './removable-nodes.js';
import { replacement } from './replacement.js';
import { ServiceView } from '../nodes/service-view.js';

/** New hardware in the place of a node: one record comes, one goes, and no crash leaves both or none. */
@Injectable()
export class ReplacementService {
  constructor(
    private readonly store: InventoryStore,
    private readonly service: ServiceView,
    private readonly edits: EditsService,
    private readonly revocations: RevocationService,
    private readonly removable: RemovableNodes,
    private readonly names: KnownNames,
  ) {}

  /** @throws MusterError as a deletion of the old and a registration of the new do; then nothing has changed */
  async replace(name: string, r: NodeReplaceRequest, by: string, revision?: number): Promise<NodeView> {
    const edit = newEditId(this.store);
    const at = this.store.clock.wallMs();
    let created = '';
    await this.edits.apply(edit, async ({ held }) => {
      const old = await this.removable.get(name, held, revision);
      const facts = {
        addressesOf: (name: string) => this.names.of(name),
        nodes: (await this.store.nodes.bucket.list()).map((e) => e.value),
        groups: this.store.clusterSettings.hostGroups,
        offered: (service: 'provisioner' | 'fencer') => this.service.offered(service),
      };
      const prepared = replacement(old, r, facts, at, edit, by);
      created = prepared.changes.map(nameOf)[0] ?? '';
      return prepared;
    });
    this.revocations.forgotten([name]);
    const entry = await this.store.nodes.bucket.get(created);
    if (!entry) throw unknownNode(created);
    return this.service.view(entry);
  }
}
