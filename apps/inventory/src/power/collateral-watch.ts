import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { IncidentRecord } from '#contracts';
import { AgeBook } from '../ages/age-book.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import {
  decideCollateral,
  fellSilent,
  type CollateralFacts,
  type CollateralStep,
  type SilentNode,
} from './collateral.js';
import { decideDrill, type DrillStep } from './drill.js';
import { ReportsView } from '../reports/reports-view.js';
import { silentNodes, SPEAKS_MS } from './silent-nodes.js';

/** Gathers what tells whether a power-off has hit another node than the one that it was for. */
@Injectable()
export class CollateralWatch implements OnApplicationShutdown {
  private readonly offs: AgeBook;
  private readonly proven: AgeBook;
  /** Offs that were there when this process began: how old they are it does not know. */
  private readonly older = new Set<string>();
  private readonly stop: () => void;

  constructor(
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly reports: ReportsView,
  ) {
    this.offs = new AgeBook(store.clock);
    this.proven = new AgeBook(store.clock);
    for (const { value } of store.incidents.view.entries()) for (const key of offsOf(value)) this.older.add(key);
    this.stop = store.incidents.view.onChange((_node, i) => {
      if (i !== undefined) this.see(i);
    });
  }

  onApplicationShutdown(): void {
    this.stop();
  }

  /** Since this process saw each `off` of the incident, ms; undefined: it was there when the process began. */
  offsAgoMs(i: IncidentRecord): (number | undefined)[] {
    return offsOf(i).map((key) => (this.older.has(key) ? undefined : this.offs.ageMs(key)));
  }

  /** What is to become of the incident's proof, as of now. */
  step(i: IncidentRecord): CollateralStep {
    return decideCollateral(i, this.facts(i));
  }

  /** What the drill has shown, as of now. */
  drill(i: IncidentRecord): DrillStep {
    const f = this.facts(i);
    const { provenForMs, sighted } = f;
    const offAgoMs = f.offsAgoMs[0];
    return decideDrill(i, {
      provenForMs,
      sighted,
      offAgoMs,
      unheardMs: this.reports.ageMs(i.node),
      fell: fellSilent(i, f),
    });
  }

  private facts(i: IncidentRecord): CollateralFacts {
    this.see(i);
    const node = this.store.nodes.view.get(i.node)?.value;
    return {
      provenForMs: this.proven.see(i.id),
      node,
      sighted: this.detector.sighted && this.store.nodes.view.live,
      silent: this.silent(i.node),
      offsAgoMs: this.offsAgoMs(i),
      heardIn: (name) => {
        const age = this.reports.ageMs(name);
        return age !== undefined && age < SPEAKS_MS ? this.reports.of(name)?.report.bootId : undefined;
      },
    };
  }

  /** To be called each round: forgets what is over. */
  keep(fenced: readonly IncidentRecord[]): void {
    const ids = new Set(fenced.map((i) => i.id));
    this.proven.retain((id) => ids.has(id));
    const open = new Set(this.store.incidents.view.entries().flatMap((e) => offsOf(e.value)));
    this.offs.retain((key) => open.has(key));
    for (const key of this.older) if (!open.has(key)) this.older.delete(key);
  }

  /** Names of nodes that are not heard: to be written down before the first off. */
  silentNow(except: string): string[] {
    return this.silent(except).map((s) => s.node);
  }

  private see(i: IncidentRecord): void {
    for (const key of offsOf(i)) if (!this.older.has(key)) this.offs.see(key);
    if (i.phase !== 'fenced') this.proven.forget(i.id);
  }

  private silent(except: string): SilentNode[] {
    return silentNodes(
      except,
      this.store.nodes.view.entries().map((e) => e.value),
      this.detector.fresh ? this.detector.beacon : undefined,
      (name) => {
        const last = this.reports.of(name);
        return last && { bootId: last.report.bootId, agoMs: this.reports.ageMs(name) ?? 0 };
      },
    );
  }
}

/** The offs that were given to the devices as they are now. */
const offsOf = (i: IncidentRecord): string[] =>
  i.commands.filter((c) => c.verb === 'off' && c.n > (i.devicesAfter ?? 0)).map((c) => `${i.id}/${c.n}`);
