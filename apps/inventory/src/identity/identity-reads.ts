import { Injectable } from '@nestjs/common';
import {
  identityBasis,
  knownIdentity,
  MusterError,
  withIdentity,
  type NodeRecord,
  type PowerIdentity,
  type RpcAnswer,
} from '#contracts';
import { comparedIdentity, identityIndex } from '#domain/node/device-identity.js';
import { ServiceContext } from '#service';
import { NodeService } from '../nodes/node.service.js';
import { InventoryStore } from '../store/inventory-store.js';

/** What a suspect's device said is not asked again within this, ms. */
const FRESH_MS = 15_000;
/** The most that a decision waits for a read that was begun at suspicion, ms: then the last comparison counts. */
const WAIT_MS = 2_000;
/** Two commands of one BMC, and what may run before them. */
const READ_MS = 14_000;

type Read = RpcAnswer<'fencer.power.identify'>['devices'][number];

interface Asked {
  at: number;
  done: boolean;
}

/** Asks power devices who they are, and keeps in the node's record whether they are its own. Any replica may. */
@Injectable()
export class IdentityReads {
  private readonly asked = new Map<string, Asked>();

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
  ) {}

  /**
   * Before anybody switches off: a device that was the node's own yesterday may be another's since. Returns at once;
   * `settled` is called when it is known.
   */
  begin(node: NodeRecord, settled: () => void = () => undefined): void {
    const had = this.asked.get(node.name);
    const now = this.context.clock.monotonicMs();
    if (had !== undefined && (!had.done || now - had.at < FRESH_MS)) return;
    if (!node.powerLevels.some((level) => level.length > 0)) return;
    const asked: Asked = { at: now, done: false };
    this.asked.set(node.name, asked);
    this.read(node.name, true)
      .catch((cause: unknown) => {
        const e = MusterError.from(cause);
        this.context.log.debug(
          { node: node.name, code: e.code },
          `its power devices were not identified: ${e.message}`,
        );
      })
      .finally(() => {
        asked.done = true;
        settled();
      });
  }

  /** A read of it is under way that is worth waiting for. */
  pending(node: string): boolean {
    const asked = this.asked.get(node);
    return asked !== undefined && !asked.done && this.context.clock.monotonicMs() - asked.at < WAIT_MS;
  }

  /** Drops what is too old to spare a read. */
  forgetOld(): void {
    const now = this.context.clock.monotonicMs();
    for (const [node, asked] of this.asked) if (asked.done && now - asked.at >= FRESH_MS) this.asked.delete(node);
  }

  /**
   * Asks now. A device that cannot be read keeps what was found before. Resolves when the view shows what was found:
   * whether a node may be switched off is decided by that.
   * @throws MusterError NODE_UNKNOWN, or as the call to a fencer fails
   */
  async read(name: string, quick = false): Promise<Read[]> {
    const { devices } = await this.context.bus.call(
      'fencer.power.identify',
      { node: name, quick },
      { timeoutMs: READ_MS },
    );
    if (devices.some((d) => d.seen !== undefined)) {
      const { revision } = await this.nodes.change(name, (n) => this.compared(n, devices));
      await this.store.nodes.view.shows(revision, WAIT_MS);
    }
    return devices;
  }

  /** Undefined: nothing is new. */
  private compared(node: NodeRecord, reads: readonly Read[]): NodeRecord | undefined {
    const others = this.store.nodes.view.entries().flatMap((e) => (e.key === node.name ? [] : [e.value]));
    const index = identityIndex([...others, node]);
    let next = node;
    for (const device of node.powerLevels.flat()) {
      const basis = identityBasis(device);
      // What was read in another place, or with other credentials, is about another device.
      const seen = reads.find((r) => r.id === device.id && r.basis === basis)?.seen;
      if (seen === undefined) continue;
      const known = knownIdentity(node, device);
      const at = this.context.clock.wallMs();
      const found = comparedIdentity({ node: node.name, own: node.hardware, index, seen, known, basis, at });
      if (known === undefined || !isSame(known, found)) next = withIdentity(next, device.id, found);
    }
    return next === node ? undefined : next;
  }
}

/** But for its date: a write for each look would wake everybody, and say nothing. */
const isSame = (a: PowerIdentity, b: PowerIdentity): boolean =>
  JSON.stringify({ ...a, at: 0 }) === JSON.stringify({ ...b, at: 0 });
