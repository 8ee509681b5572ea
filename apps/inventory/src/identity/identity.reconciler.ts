import { Injectable } from '@nestjs/common';
import { identityBasis, knownIdentity, MusterError, type NodeRecord, type PowerDevice } from '#contracts';
import type { Pace, Reconciler, TaskRun } from '../conductor/task.js';
import { InventoryStore } from '../store/inventory-store.js';
import { IdentityReads } from './identity-reads.js';
import { unreadIdentity } from '#domain/power/whose-device.js';

/** A device is asked again after this, ms: cables are moved while nobody looks. */
const AGAIN_MS = 6 * 3_600_000;
/** The same where it could not be read, or nobody was there to read it. */
const FAILED_AGAIN_MS = 60_000;
/** Between two looks at all nodes: runs come with every change of any record. */
const PACE: Pace = { everyMs: 500 };
/** Reads at once: the queue of the fencers is for those who fence. */
const AT_ONCE = 4;

interface Plan extends Devices {
  /** The record that the rest was taken from: while it is the same nothing is. */
  of: NodeRecord;
  dueAt: number;
  readAt: number;
  /** A device that was proven did not say who it is when it was asked last. */
  unread?: boolean;
}

interface Devices {
  /** What the last read, or the planned one, is about: devices and what the machine says of itself. */
  about: string;
  /** One of them is another machine's. */
  foreign: boolean;
}

/** Compares power devices with their machines in good days. */
@Injectable()
export class IdentityReconciler implements Reconciler {
  private readonly plans = new Map<string, Plan>();
  private running = 0;

  constructor(
    private readonly store: InventoryStore,
    private readonly reads: IdentityReads,
  ) {}

  reconcile(c: TaskRun): Promise<void> | undefined {
    if (!this.store.nodes.view.live) return undefined;
    return c.every('look', PACE, () => this.readDue(c.now));
  }

  private readDue(now: number): undefined {
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const there = new Set<string>();
    for (const node of nodes) {
      const devices = node.powerLevels.flat();
      if (devices.length === 0) continue;
      there.add(node.name);
      const had = this.plans.get(node.name);
      const { about, foreign } = had?.of === node ? had : devicesOf(node, devices);
      // Whoever takes over has a record of most: those are asked in their turn, spread over the whole time.
      const known = had === undefined && devices.every((d) => knownIdentity(node, d) !== undefined);
      const plan: Plan =
        had?.about === about
          ? Object.assign(had, { of: node, foreign })
          : {
              ...{ of: node, about, foreign },
              dueAt: known ? now + this.store.random.number() * AGAIN_MS : now,
              readAt: now,
            };
      this.plans.set(node.name, plan);
      // Whoever has mended the wiring sees it soon.
      if (foreign) plan.dueAt = Math.min(plan.dueAt, plan.readAt + FAILED_AGAIN_MS);
      if (plan.dueAt > now || this.running >= AT_ONCE) continue;
      plan.readAt = now;
      plan.dueAt = now + AGAIN_MS;
      void this.readOne(node.name, plan);
    }
    for (const name of this.plans.keys()) if (!there.has(name)) this.plans.delete(name);
  }

  private async readOne(name: string, plan: Plan): Promise<void> {
    this.running++;
    const { of } = plan;
    try {
      // A BMC that starts anew says nothing for a while.
      const read = await this.reads.read(name, { marks: plan.unread === true });
      const devices = of.powerLevels.flat();
      const isUnread = (d: PowerDevice): boolean =>
        read.some((r) => r.id === d.id && unreadIdentity(of, d, r) !== undefined);
      plan.unread = devices.some(isUnread);
      if (!plan.unread && read.every((d) => d.seen !== undefined)) return;
    } catch (cause) {
      const e = MusterError.from(cause);
      this.store.bus.log.debug({ node: name, code: e.code }, `its power devices were not identified: ${e.message}`);
    } finally {
      this.running--;
    }
    plan.dueAt = this.store.clock.monotonicMs() + FAILED_AGAIN_MS;
  }
}

const devicesOf = (node: NodeRecord, devices: readonly PowerDevice[]): Devices => ({
  about: JSON.stringify([devices.map(identityBasis), node.hardware ?? null]),
  foreign: devices.some((d) => knownIdentity(node, d)?.result === 'mismatch'),
});
