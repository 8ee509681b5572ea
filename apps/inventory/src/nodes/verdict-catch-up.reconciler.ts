import { Injectable } from '@nestjs/common';
import { isNewerVerdict, MusterError, Subjects, type CurrentVerdictRequest } from '#contracts';
import { ConductorService } from '../conductor/conductor.service.js';
import type { ConductorView, Reconciler } from '../conductor/reconciler.js';
import { AgeBook } from '../incidents/age-book.js';
import { DetectorView } from '../monitor/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { isVerdict } from './verdict.consumer.js';
import { VerdictService } from './verdict.service.js';

/** A record that lags behind the beacon for this long has missed a verdict: normally it follows in milliseconds. */
const MISSED_MS = 2000;

/** Asks the detector for verdicts that never arrived, by what its beacons say. */
@Injectable()
export class VerdictCatchUpReconciler implements Reconciler {
  readonly name = 'verdict-catch-up';
  private readonly lagging = new AgeBook();

  constructor(
    conductor: ConductorService,
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly verdicts: VerdictService,
  ) {
    conductor.add(this);
  }

  async reconcile(c: ConductorView): Promise<void> {
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
    return this.store.nodes.view.entries().flatMap(({ key, value: n }) => {
      if (!n.enrolled) return [];
      const told = beacon.notUp[key];
      if (told) return isNewerVerdict({ epoch: beacon.epoch, seq: told.seq }, n.verdict) ? [key] : [];
      // Plainly UP for the detector; something else on record, and nobody keeps it off on purpose.
      return n.verdict !== undefined && n.verdict.verdict !== 'UP' && n.confirmedOff === undefined ? [key] : [];
    });
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
