import { Injectable } from '@nestjs/common';
import { isSettledJob, MusterError, type NodeRecord } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { NodeService } from '../nodes/node.service.js';
import { OperationsService } from '../operations/operations.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { FlapWatch } from './flap-watch.js';
import { PowerQuarantine } from './power-quarantine.js';
import { isUnseenReturn, returnStep } from './return-step.js';

/** Returns that are dealt with at once: a rack that comes back must not stop everything else. */
export const RETURNS_AT_ONCE = 4;
/** Between two tries of a check that could not be carried out, ms. */
const RETRY_MS = 5000;

/**
 * Drives every pending return to its end: a check, after it the re-setup where the check found something. What it
 * starts is an ordinary job, so that the same rules and the same audit hold.
 */
@Injectable()
export class ReturnReconciler implements Reconciler {
  readonly name = 'returns';
  /** Node → monotonic time of the earliest next try. */
  private readonly notBefore = new Map<string, number>();
  private readonly tries = new Map<string, number>();

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly operations: OperationsService,
    private readonly quarantine: PowerQuarantine,
    private readonly flaps: FlapWatch,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
    await this.findUnseen(c);
    const due = this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => n.pendingReturn !== undefined)
      .sort((a, b) => (a.pendingReturn?.at ?? 0) - (b.pendingReturn?.at ?? 0));
    let free = RETURNS_AT_ONCE - this.running();
    for (const n of due) {
      this.noteFailedTry(n, c.now);
      const step = returnStep(n, this.look(n, c.now));
      if (step.do === 'hold') {
        c.check();
        await this.hold(n, step.why);
      } else if (step.do !== 'wait' && free > 0 && (await this.start(n, step.do, c))) free -= 1;
    }
  }

  private async findUnseen(c: ConductorView): Promise<void> {
    for (const { value: n } of this.store.nodes.view.entries()) {
      if (n.maintenance === undefined || n.pendingReturn !== undefined) continue;
      if (!isUnseenReturn(n, this.look(n, c.now))) continue;
      c.check();
      await this.nodes.change(n.name, (node) =>
        node.maintenance !== undefined && node.pendingReturn === undefined && node.state === 'Discovered'
          ? { ...node, pendingReturn: { reason: 'disappeared', at: this.store.clock.wallMs() } }
          : undefined,
      );
    }
  }

  private look(n: NodeRecord, now: number): Parameters<typeof returnStep>[1] {
    return {
      incident: this.store.incidents.view.get(n.name)?.value.phase,
      reserved: this.isTaken(n.name),
      quarantined: this.quarantine.reason(n.name) !== undefined,
      returns: this.flaps.count(n.name),
      flaps: this.store.clusterSettings.fencing.storm.flaps,
      waitMs: (this.notBefore.get(n.name) ?? 0) - now,
    };
  }

  private noteFailedTry(n: NodeRecord, now: number): void {
    const tries = n.pendingReturn?.failedTries ?? 0;
    if (tries > (this.tries.get(n.name) ?? 0)) this.notBefore.set(n.name, now + RETRY_MS);
    this.tries.set(n.name, tries);
  }

  /** By a job or an edit. A claimed node is checked and set up like any other: its scheduler waits for that. */
  private isTaken(node: string): boolean {
    const hold = this.store.held[node];
    return hold?.job !== undefined || hold?.edit !== undefined;
  }

  private running(): number {
    return this.store.jobs.view.entries().filter((e) => e.value.cause === 'return' && !isSettledJob(e.value)).length;
  }

  /** @returns whether a job was started */
  private async start(n: NodeRecord, kind: 'check' | 'resetup', c: ConductorView): Promise<boolean> {
    try {
      await this.operations.submit(
        { by: 'muster', kind, nodes: [n.name] },
        {
          cause: 'return',
          check: () => c.check(),
          needs: (now) => returnStep(now, this.look(now, c.now)).do === kind,
        },
      );
      return true;
    } catch (e) {
      const error = MusterError.from(e);
      if (error.code === 'LEASE_LOST') throw error;
      if (error.code === 'WORKLOADS_PRESENT') {
        c.check();
        await this.hold(n, `drift, needs operator: ${error.message}`);
        return false;
      }
      // Somebody was faster, or no worker is alive: the next round looks again, and the driver alarm tells of the latter.
      this.notBefore.set(n.name, c.now + 1000);
      this.store.bus.log.debug({ node: n.name, kind, code: error.code }, `not yet: ${error.message}`);
      return false;
    }
  }

  private async hold(n: NodeRecord, why: string): Promise<void> {
    await this.nodes.change(n.name, (node) => {
      const p = node.pendingReturn;
      if (!p || p.at !== n.pendingReturn?.at || p.held !== undefined) return undefined;
      const { next: _next, job: _job, ...rest } = p;
      return { ...node, pendingReturn: { ...rest, held: why } };
    });
  }
}
