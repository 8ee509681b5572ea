import { Injectable } from '@nestjs/common';
import { MusterError, Subjects, type CurrentVerdictRequest } from '#contracts';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { AgeBook } from '../ages/age-book.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { hasMissedVerdict } from './missed-verdict.js';
import { isVerdict } from './verdict.consumer.js';
import { VerdictService } from './verdict.service.js';

/** A record that lags behind the beacon for this long has missed a verdict: normally it follows in milliseconds. */
const MISSED_MS = 2000;

/** Asks the detector for verdicts that never arrived, by what its beacons say. */
@Injectable()
export class VerdictCatchUpReconciler implements Reconciler {
  private readonly lagging: AgeBook;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly verdicts: VerdictService,
  ) {
    this.lagging = new AgeBook(store.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const missed = this.missed();
    this.lagging.keep(missed);
    for (const node of missed) {
      if (this.lagging.ageMs(node) < MISSED_MS) continue;
      c.check();
      await this.ask(node);
    }
  }

  private missed(): string[] {
    const beacon = this.detector.beacon;
    if (!beacon || !this.detector.sighted) return [];
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    return nodes.filter((n) => hasMissedVerdict(n, beacon)).map((n) => n.name);
  }

  private async ask(node: string): Promise<void> {
    const request: CurrentVerdictRequest = { node };
    try {
      const v = await this.store.bus.ask<unknown>(Subjects.currentVerdict(), request, { timeoutMs: 800 });
      if (isVerdict(v)) await this.verdicts.apply(v);
    } catch (e) {
      const error = MusterError.from(e);
      this.store.bus.log.debug({ node, code: error.code }, 'the detector did not answer for a node');
    }
  }
}
