import { Injectable } from '@nestjs/common';
import type { IncidentRecord, NodeRecord } from '#contracts';
import { ServiceContext } from '#service';
import { AgeBook } from '../ages/age-book.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { GateFactsService } from '../incidents/gate-facts.js';
import { PermitService } from '../incidents/permit.service.js';
import { PowerEvidence } from '../incidents/power-evidence.js';
import { DegradedWatch } from '../nodes/degraded-watch.js';
import {
  AGAIN_MS,
  suspects,
  type IncidentAge,
  type IncidentFacts,
  type Investigation,
} from '../plan/incidents/incident-facts.js';
import {
  investigatedView,
  lookView,
  unfenced,
  type IncidentView,
  type IncidentViews,
} from '../plan/incidents/incident-views.js';
import {
  investigatedIntents,
  isIdentityWanted,
  lookAt,
  lookIntents,
  openIncidents,
  takenBackIntents,
} from '../plan/incidents/open-incidents.js';
import {
  awaitedBoots,
  bearsOut,
  closeForNext,
  openIncident,
  openings,
  type Opening,
} from '../plan/incidents/openings.js';
import type { Intent } from '../plan/intent.js';
import { CollateralWatch } from '../power/collateral-watch.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { InventoryStore } from '../store/inventory-store.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import { IntentWriter } from './intent-writer.js';

/**
 * From a verdict DOWN to phase `fencing`, and what becomes of it until the power is proven off: it finds out, and carries
 * out what `plan/incidents` decides.
 */
@Injectable()
export class IncidentReconciler implements Reconciler {
  private readonly ages: AgeBook;
  private readonly examined = new Map<string, { state: string; at: number }>();

  constructor(
    context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
    private readonly verdictNow: VerdictNow,
    private readonly facts: GateFactsService,
    private readonly permits: PermitService,
    private readonly power: PowerEvidence,
    private readonly writer: IntentWriter,
    private readonly degraded: DegradedWatch,
    private readonly collateral: CollateralWatch,
    private readonly identity: IdentityReads,
    private readonly conductor: ConductorService,
  ) {
    this.ages = new AgeBook(context.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    // Once a round, so that the ages of all silences are true.
    this.facts.silent();
    const before = this.factsNow();
    const due = openIncidents(before).filter((i) => this.isDue(i, before, c.now));
    this.ask(before, due);
    this.keepAges(before);
    // What is being read of whom is known only now.
    const f = this.factsNow();
    const parts = [
      ...openings(f, this.shown).map((o) => c.isolated({ node: o.node.name }, () => this.onDead(c, o))),
      ...due.map((i) => c.isolated({ node: i.node }, () => this.onOpen(c, i, f))),
      ...takenBackIntents(f).map((intent) => c.isolated(intent.about, () => this.writer.carryOut(intent, c))),
    ];
    await Promise.all(parts);
  }

  /**
   * What the next look does about the dead and about incidents that are not yet fenced, by all facts as of now. It asks
   * the detector as the look does; no age begins by it, and no permit is given.
   */
  async preview(): Promise<IncidentViews> {
    const f = this.factsNow();
    const open = await Promise.all(unfenced(f).map((i) => this.viewOf(i, f)));
    return { opening: openings(f, this.shown), open: open.flatMap((view) => view ?? []) };
  }

  private async viewOf(i: IncidentRecord, f: IncidentFacts): Promise<IncidentView | undefined> {
    const look = lookAt(i, f);
    if (look.do !== 'investigate') return lookView(i, look);
    const { node } = look;
    const x = await this.investigate(node, i);
    const permit = () => this.permits.preview(i, node);
    return investigatedView(i, x, { facts: this.factsNow(), age: this.shown, permit });
  }

  private async onDead(c: TaskRun, o: Opening): Promise<void> {
    const { node, degraded } = o;
    if (o.step === 'close' && o.last !== undefined) return this.carryOut(c, [closeForNext(o.last)]);
    if (o.step !== 'open') return;
    const verdict = await this.verdictNow.of(node.name);
    if (!bearsOut(verdict, o)) return;
    const gates = await this.facts.gather(node, verdict, { cause: 'auto', degraded });
    await this.carryOut(c, openIncident(o, this.found(node, gates), this.factsNow(), this.seen));
  }

  private async onOpen(c: TaskRun, i: IncidentRecord, f: IncidentFacts): Promise<void> {
    const look = lookAt(i, f);
    if (look.do !== 'investigate') return this.carryOut(c, lookIntents(i, look));
    const x = await this.investigate(look.node, i);
    await this.carryOut(c, investigatedIntents(i, look.node, x, this.factsNow(), this.seen));
  }

  private async investigate(node: NodeRecord, incident: IncidentRecord): Promise<Investigation> {
    const verdict = await this.verdictNow.of(node.name);
    return this.found(node, await this.facts.gather(node, verdict, { cause: incident.cause, incident }));
  }

  private found(node: NodeRecord, gates: Investigation['gates']): Investigation {
    const { name } = node;
    return { gates, story: this.power.story(name), silentNow: () => this.collateral.silentNow(name) };
  }

  private async carryOut(c: TaskRun, intents: readonly Intent[]): Promise<void> {
    for (const intent of intents) await this.writer.carryOut(intent, c);
  }

  /** For their power, and whose their devices are: begun here, and answered beside everything else. */
  private ask(f: IncidentFacts, due: readonly IncidentRecord[]): void {
    const asked = suspects(f);
    for (const node of asked) this.power.gather(node);
    this.power.keep(new Set(asked.map((n) => n.name)));
    this.identify(asked);
    // What was answered long ago is asked anew, and waited for.
    this.identity.forgetOld();
    this.identify(due.filter(isIdentityWanted).flatMap((i) => f.fleet.nodes.get(i.node)?.value ?? []));
  }

  private identify(nodes: readonly NodeRecord[]): void {
    this.identity.begin(nodes, () => this.conductor.wake('identity-reads'));
  }

  private factsNow(): IncidentFacts {
    return {
      fleet: this.fleets.now(),
      knowsSettings: this.store.settings.view.live,
      treatedAsDown: new Set([...this.degraded.steps()].filter(([, step]) => step === 'down').map(([name]) => name)),
      identity: this.identity.reads(),
      permitted: new Set(this.store.grantedPermits.map((g) => g.incident)),
    };
  }

  /** Whoever acts sees a thing, which is when its age begins. */
  private readonly seen: IncidentAge = (condition) => this.ages.see(condition);

  /** Whoever only shows what would be done does not. */
  private readonly shown: IncidentAge = (condition) => this.ages.ageMs(condition);

  private keepAges(f: IncidentFacts): void {
    const boots = new Set<string>(awaitedBoots(f));
    const open = new Set(openIncidents(f).map((i) => i.id));
    this.ages.retain((key) => boots.has(key) || open.has(key.split('/')[1] ?? ''));
    for (const boot of boots) this.ages.see(boot);
    for (const id of this.examined.keys()) if (!open.has(id)) this.examined.delete(id);
  }

  /** Rounds come with every change of any record: an incident is looked at anew when it or its node changed, or after a while. */
  private isDue(i: IncidentRecord, { fleet }: IncidentFacts, now: number): boolean {
    const revisions = [fleet.incidents.get(i.node)?.revision, fleet.nodes.get(i.node)?.revision ?? 0];
    const state = revisions.join('/');
    const was = this.examined.get(i.id);
    if (was !== undefined && was.state === state && now - was.at < AGAIN_MS) return false;
    this.examined.set(i.id, { state, at: now });
    return true;
  }
}
