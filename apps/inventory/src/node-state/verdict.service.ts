import { Injectable } from '@nestjs/common';
import { MusterError, type Verdict } from '#contracts';
import { InventoryStore } from '../store/inventory-store.js';
import { DegradedClock } from './degraded-clock.js';
import { FleetEvents } from './fleet-events.js';
import { NodeService } from '../nodes/node.service.js';
import { applyVerdict } from './verdict-application.js';

/** Carries verdicts into the node records. Idempotent: an old or repeated one changes nothing. */
@Injectable()
export class VerdictService {
  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly degraded: DegradedClock,
    private readonly fleet: FleetEvents,
  ) {}

  async apply(v: Verdict): Promise<void> {
    const facts = {
      degradedForMs: this.degraded.forMs(v.node),
      holdDown: this.store.clusterSettings.holdDown,
      at: this.store.clock.wallMs(),
    };
    let before: string | undefined;
    try {
      const done = await this.nodes.change(
        v.node,
        (node) => {
          before = node.state;
          return applyVerdict(node, v, facts);
        },
        `${v.verdict}: ${v.reason}`,
      );
      if (!done.changed || before === done.node.state) return;
      if (done.node.state === 'Discovered') this.fleet.note('discovered', v.node);
      if (done.node.state === 'Disappeared') this.fleet.note('disappeared', v.node);
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code !== 'NODE_UNKNOWN') throw error;
      this.store.bus.log.debug({ node: v.node }, 'a verdict about a node that is not registered was dropped');
    }
  }
}
