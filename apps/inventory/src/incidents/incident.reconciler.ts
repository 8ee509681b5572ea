import { Injectable } from '@nestjs/common';
import {
  devicesMark,
  isOpenIncident,
  type GateResult,
  type IncidentRecord,
  type NodeRecord,
  type Verdict,
} from '#contracts';
import { isNewer } from '#domain/verdict/order.js';
import { latestVerdict } from '#domain/verdict/latest-verdict.js';
import { isAfterOff, mayCancel, wasCommanded } from '#domain/incident/phases.js';
import { retryBackoff } from '#domain/incident/retry.js';
import { go, note, orderedOff } from '#domain/incident/steps.js';
import { ServiceContext } from '#service';
import { isTakenBack, takenBackOver } from '../plan/incidents/taken-back.js';
import { ConductorService } from '../conductor/conductor.service.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { DetectorView } from '../verdicts/detector-view.js';
import { DegradedWatch } from '../nodes/degraded-watch.js';
import { CollateralWatch } from '../power/collateral-watch.js';
import { heldForCollateral } from '../power/collateral.js';
import { contradictedBy } from '../power/void-proof.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgeBook } from '../ages/age-book.js';
import { bootAwaited, isOrderedOn } from '#domain/power/boot-grace.js';
import { mayPower } from '#domain/power/may-power.js';
import { evidenceOf } from '../plan/incidents/carried-evidence.js';
import { drillPermit } from '../plan/incidents/drill-permit.js';
import { decideIncident, type IncidentDecision } from '#domain/incident/decide-incident.js';
import { shownLife } from '#domain/incident/life-signs.js';
import { GateFactsService } from './gate-facts.js';
import { askGates, type GateFacts } from '#domain/incident/gates.js';
import { IncidentService } from './incident.service.js';
import {
  incidentStep,
  needsIdentity,
  openingStep,
  stoppedStep,
  type DecidedStep,
  type IncidentStep,
  type OpeningStep,
} from '../plan/incidents/incident-step.js';
import { newIncident } from '../plan/incidents/new-incident.js';
import { PermitService } from './permit.service.js';
import { PowerEvidence } from './power-evidence.js';
import { firstLevel } from '#domain/power/levels.js';
import { quarantineLeftMs } from '#domain/power/quarantine.js';
import { withheld } from '../plan/incidents/withheld.js';
import { VerdictNow } from '../verdicts/verdict-now.js';

/** An unchanged incident is examined again after this, ms. */
export const AGAIN_MS = 500;

/** What the next look does about an open incident. */
export interface IncidentPreview {
  incident: IncidentRecord;
  /** Undefined: the step does not rest on them. */
  facts?: GateFacts;
  step: IncidentStep;
  /** In mode observe: what it would be if the mode were enforce. */
  enforced?: IncidentStep;
}

/** What the next look does about the dead. */
export interface IncidentsPreview {
  /** Of nodes that are DOWN as of now, or count as DOWN. `last`: the incident that the node has, or had. */
  opening: { node: NodeRecord; step: OpeningStep; last: IncidentRecord | undefined }[];
  /** Open, and not yet fenced. */
  open: IncidentPreview[];
}

/** From a verdict DOWN to phase `fencing`, and what becomes of it until the power is proven off. */
@Injectable()
export class IncidentReconciler implements Reconciler {
  private readonly commandsSeen: AgeBook;
  private readonly failedSince: AgeBook;
  private readonly orderedSince: AgeBook;
  private readonly switchedOn: AgeBook;
  private readonly examined = new Map<string, { state: string; at: number }>();

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly detector: DetectorView,
    private readonly verdictNow: VerdictNow,
    private readonly facts: GateFactsService,
    private readonly permits: PermitService,
    private readonly power: PowerEvidence,
    private readonly incidents: IncidentService,
    private readonly degraded: DegradedWatch,
    private readonly collateral: CollateralWatch,
    private readonly identity: IdentityReads,
    private readonly conductor: ConductorService,
  ) {
    this.commandsSeen = new AgeBook(context.clock);
    this.failedSince = new AgeBook(context.clock);
    this.orderedSince = new AgeBook(context.clock);
    this.switchedOn = new AgeBook(context.clock);
  }

  async reconcile(c: TaskRun): Promise<void> {
    const silent = this.facts.silent().map((s) => s.node);
    const degraded = this.treatedAsDown();
    const suspects = [...silent, ...degraded];
    for (const node of suspects) this.power.gather(node);
    this.power.keep(new Set(suspects.map((n) => n.name)));
    this.identify(suspects);
    this.identity.forgetOld();
    const beacon = this.detector.fresh ? this.detector.beacon : undefined;
    const work: Promise<void>[] = [];
    this.switchedOn.keep(this.store.incidents.view.entries().flatMap((e) => this.bootOf(e.value) ?? []));
    const open = this.store.incidents.view.entries().filter((e) => isOpenIncident(e.value) && !e.value.unreadable);
    this.forgetEnded(new Set(open.map((e) => e.value.id)));
    for (const node of silent)
      if (latestVerdict(node, beacon) === 'DOWN')
        work.push(c.isolated({ node: node.name }, () => this.onDown(c, node)));
    for (const node of degraded) work.push(c.isolated({ node: node.name }, () => this.onDegraded(c, node)));
    for (const { value, revision } of open)
      if (this.isDue(value, revision, c.now)) work.push(c.isolated({ node: value.node }, () => this.onOpen(c, value)));
    for (const { value } of this.store.incidents.view.entries())
      if (isTakenBack(value)) work.push(c.isolated({ node: value.node }, () => this.onTakenBack(c, value)));
    await Promise.all(work);
  }

  private identify(nodes: readonly NodeRecord[]): void {
    this.identity.begin(nodes, () => this.conductor.wake('identity-reads'));
  }

  /**
   * What the next look does about the dead and about incidents that are not yet fenced, by all facts as of now. It asks
   * the detector as the look does; no age begins by it, and no permit is given.
   */
  async preview(): Promise<IncidentsPreview> {
    const beacon = this.detector.fresh ? this.detector.beacon : undefined;
    const dead = this.facts.silent().filter(({ node }) => latestVerdict(node, beacon) === 'DOWN');
    const opening = [...dead.map(({ node }) => node), ...this.treatedAsDown()].map((node) => ({
      node,
      step: this.opening(node),
      last: this.store.incidents.view.get(node.name)?.value,
    }));
    const open = this.openIncidents().filter((i) => !i.unreadable && !isAfterOff(i));
    return { opening, open: await Promise.all(open.map((i) => this.previewOf(i))) };
  }

  private async previewOf(i: IncidentRecord): Promise<IncidentPreview> {
    const node = this.store.nodes.view.get(i.node)?.value;
    if (node === undefined) return { incident: i, step: { do: 'end', reason: 'The node was deleted.' } };
    if (needsIdentity(i) && this.identity.pending(i.node))
      return {
        incident: i,
        step: { do: 'wait', by: 'identity', reason: 'Whose its power devices are is being read.' },
      };
    const facts = await this.facts.gather(node, await this.verdictNow.of(i.node), { cause: i.cause, incident: i });
    const step = this.stepBy(i, node, facts);
    if (facts.settings?.fencing.mode !== 'observe') return { incident: i, facts, step };
    const enforced: GateFacts = {
      ...facts,
      settings: { ...facts.settings, fencing: { ...facts.settings.fencing, mode: 'enforce' } },
    };
    return { incident: i, facts, step, enforced: this.stepBy(i, node, enforced) };
  }

  /** With the permit that it would get. */
  private stepBy(i: IncidentRecord, node: NodeRecord, facts: GateFacts): IncidentStep {
    const d = decideIncident(i, facts, this.permits.has(i.id));
    const step = this.next(i, node, d, (book, key) => book.ageMs(key));
    if (step.do !== 'ask-permit') return step;
    const permit = this.isDrill(i) ? drillPermit(this.facts.storm(), i) : this.permits.preview(i, node);
    return permit.granted ? step : stoppedStep(i, permit.gate, withResults(step.gates, permit.results));
  }

  /** Heard again, or in another boot: its next death is another one. */
  private async onTakenBack(c: TaskRun, i: IncidentRecord): Promise<void> {
    const node = this.store.nodes.view.get(i.node)?.value;
    const now = node && latestVerdict(node, this.detector.fresh ? this.detector.beacon : undefined);
    if (takenBackOver(i, now, node?.bootId) !== undefined)
      await this.change(c, i, (x) => takenBackOver(x, now, node?.bootId));
  }

  private forgetEnded(open: ReadonlySet<string>): void {
    for (const id of this.examined.keys()) if (!open.has(id)) this.examined.delete(id);
    // Keys of the books begin with the incident's id.
    const isOpen = (key: string): boolean => open.has(key.slice(0, key.indexOf('/')));
    for (const book of [this.commandsSeen, this.failedSince, this.orderedSince]) book.retain(isOpen);
  }

  /** Rounds come with every change of any record: an incident is looked at anew when it or its node changed, or after a while. */
  private isDue(i: IncidentRecord, revision: number, now: number): boolean {
    const state = `${revision}/${this.store.nodes.view.get(i.node)?.revision ?? 0}`;
    const was = this.examined.get(i.id);
    if (was !== undefined && was.state === state && now - was.at < AGAIN_MS) return false;
    this.examined.set(i.id, { state, at: now });
    return true;
  }

  private async onDown(c: TaskRun, node: NodeRecord): Promise<void> {
    const step = this.opening(node);
    if (step === 'close') await this.closeForNext(c, node);
    if (step !== 'open') return;
    const verdict = await this.verdictNow.of(node.name);
    if (verdict?.verdict !== 'DOWN' || isOlder(verdict, node)) return;
    await this.open(c, node, verdict);
  }

  /** Treated as DOWN by policy: the same way, and held by gate LIFE_SIGN while anybody hears it. */
  private async onDegraded(c: TaskRun, node: NodeRecord): Promise<void> {
    if (this.opening(node) !== 'open') return;
    const verdict = await this.verdictNow.of(node.name);
    if (verdict?.verdict !== 'DEGRADED' || isOlder(verdict, node)) return;
    await this.open(c, node, verdict, { degraded: true });
  }

  private async open(c: TaskRun, node: NodeRecord, verdict: Verdict, o: { degraded?: boolean } = {}): Promise<void> {
    const facts = await this.facts.gather(node, verdict, { cause: 'auto', ...o });
    const at = this.context.clock.wallMs();
    const record = newIncident({
      id: this.context.random.uuid(),
      node,
      cause: 'auto',
      ...o,
      reason: o.degraded === true ? `${verdict.reason} By policy that counts as DOWN.` : verdict.reason,
      verdict,
      gates: askGates(facts),
      conductor: c.token,
      story: this.power.story(node.name),
      at,
    });
    const { incident, joined } = await this.incidents.openOrJoin(record, {
      check: () => void c.check(),
      keeps: (over) => this.isLeftAlone(over),
    });
    if (!joined) await this.decide(c, incident, node, decideIncident(incident, facts, false), facts);
  }

  private bootOf(i: IncidentRecord): string | undefined {
    return bootAwaited(i, this.store.nodes.view.get(i.node)?.value);
  }

  /**
   * It is being switched on by an order, or was by Muster less than the grace of a reboot ago: it is not accused meanwhile.
   * The grace is counted on this process's own clock, from when it first saw the command, so each conductor begins anew.
   */
  private isSwitchedOn(i: IncidentRecord): boolean {
    if (isOrderedOn(i)) return true;
    const boot = this.bootOf(i);
    return boot !== undefined && this.switchedOn.ageMs(boot) < this.store.clusterSettings.leaveGrace;
  }

  /** No incident takes the place of this one, which is over, by itself. */
  private isLeftAlone(over: IncidentRecord): boolean {
    return isTakenBack(over) || this.isSwitchedOn(over);
  }

  private treatedAsDown(): NodeRecord[] {
    const names = [...this.degraded.steps()].filter(([, step]) => step === 'down').map(([name]) => name);
    return names.flatMap((name) => this.store.nodes.view.get(name)?.value ?? []);
  }

  /** Fenced, powered on again, and dead again before it was in service: that is a new death. */
  private async closeForNext(c: TaskRun, node: NodeRecord): Promise<void> {
    const i = this.store.incidents.view.get(node.name)?.value;
    if (i === undefined) return;
    await this.incidents.change(node.name, i.id, (now) => {
      c.check();
      return now.phase === 'recovered'
        ? go(now, 'closed', 'It booted and went down again before it was in service.', this.context.clock.wallMs())
        : undefined;
    });
  }

  private async onOpen(c: TaskRun, i: IncidentRecord): Promise<void> {
    if (i.phase === 'recovered') return this.withhold(c, i);
    if (i.phase === 'fenced' || i.phase === 'recovering') return;
    const node = this.store.nodes.view.get(i.node)?.value;
    if (node === undefined) {
      if (this.store.nodes.view.live) await this.end(c, i, 'The node was deleted.');
      return;
    }
    if (needsIdentity(i)) {
      this.identify([node]);
      if (this.identity.pending(i.node)) return;
    }
    const verdict = await this.verdictNow.of(i.node);
    const facts = await this.facts.gather(node, verdict, { cause: i.cause, incident: i });
    await this.decide(c, i, node, decideIncident(i, facts, this.permits.has(i.id)), facts);
  }

  private async decide(
    c: TaskRun,
    i: IncidentRecord,
    node: NodeRecord,
    d: IncidentDecision,
    facts: GateFacts,
  ): Promise<void> {
    const verdict = facts.verdict;
    const step = this.next(i, node, d, (book, key) => book.see(key));
    if (step.do !== 'ask-permit') return this.carryOut(c, i, step, verdict);
    const permit = this.isDrill(i)
      ? drillPermit(this.facts.storm(), i)
      : await this.permits.take(i, node, () => void c.check());
    const gates = withResults(step.gates, permit.results);
    if (!permit.granted) return this.carryOut(c, i, stoppedStep(i, permit.gate, gates), verdict);
    await this.change(c, i, (now) => {
      const next = orderedOff(now, this.orderText(now), this.context.clock.wallMs());
      next.gates = gates;
      next.level = firstLevel(next);
      if (i.phase === 'failed') next.attempt += 1;
      next.evidence = evidenceOf(facts);
      orderedWith(next, node, this.collateral.silentNow(node.name));
      if (verdict !== undefined) next.verdict = verdict;
      return next;
    });
  }

  private isDrill(i: IncidentRecord): boolean {
    return i.drill !== undefined && !wasCommanded(i);
  }

  private async carryOut(
    c: TaskRun,
    i: IncidentRecord,
    step: DecidedStep,
    verdict: Verdict | undefined,
  ): Promise<void> {
    if (step.do === 'end') return this.end(c, i, step.reason);
    if (step.do === 'survive') return this.survive(c, i, step.reason);
    if (step.do === 'suppress') return this.suppress(c, i, step, verdict);
  }

  private next(i: IncidentRecord, node: NodeRecord, d: IncidentDecision, age: Age): IncidentStep {
    return incidentStep(i, d, {
      node,
      hasWorkloads: this.hasWorkloads(node.name),
      quarantineLeftMs: () => quarantineLeftMs(i, { see: (key) => age(this.commandsSeen, key) }),
      stoppedForMs: ({ gate }) => age(this.orderedSince, `${i.id}/${i.gate ?? gate}`),
      isContradicted: () => contradictedBy(i, node) !== undefined,
      collateral: () => heldForCollateral(i, node, this.openIncidents()),
      retryInMs: () => this.retryInMs(i, node, age),
      isIdentityUnanswered: () => this.identity.unanswered(node.name),
    });
  }

  private opening(node: NodeRecord): OpeningStep {
    const last = this.store.incidents.view.get(node.name)?.value;
    return openingStep(node, last, {
      hasWorkloads: this.hasWorkloads(node.name),
      isLeftAlone: last !== undefined && this.isLeftAlone(last),
      isIdentityPending: this.identity.pending(node.name),
    });
  }

  private orderText(i: IncidentRecord): string {
    if (i.phase === 'failed') return `Tried again, attempt ${i.attempt + 2}.`;
    const by = i.released === undefined ? '' : ` past ${i.released.gates.join(', ')}, released by ${i.released.by}`;
    return `All gates pass${by}. ${this.power.story(i.node)}`;
  }

  private async suppress(
    c: TaskRun,
    i: IncidentRecord,
    d: { gate: IncidentRecord['gates'][number]; gates: IncidentRecord['gates'] },
    verdict: Verdict | undefined,
  ): Promise<void> {
    const { gate, detail } = d.gate;
    // Figures that change each second are not worth a write, and no news.
    const sameLife = gate !== 'LIFE_SIGN' || shownLife(i.verdict) === shownLife(verdict);
    if (i.phase === 'suppressed' && i.gate === gate && sameLife && sameOutcome(i.gates, d.gates)) return;
    await this.change(c, i, (now) => {
      const at = this.context.clock.wallMs();
      const text = `${gate}: ${detail}`;
      const next = now.phase === 'suppressed' ? note(now, text, at) : go(now, 'suppressed', text, at);
      next.gate = gate;
      next.gates = d.gates;
      if (verdict !== undefined) next.verdict = verdict;
      return next;
    });
  }

  /** Ends it before the first command; does nothing where a command has been given meanwhile. */
  private async end(c: TaskRun, i: IncidentRecord, reason: string): Promise<void> {
    await this.change(c, i, (now) =>
      mayCancel(now) ? go(now, 'cancelled', reason, this.context.clock.wallMs()) : undefined,
    );
  }

  /** A pause, mode observe or a cordon that came after the power-on was asked for. */
  private async withhold(c: TaskRun, i: IncidentRecord): Promise<void> {
    if (i.powerOn?.wanted !== true || i.powerOn.done === true || !this.store.settings.view.live) return;
    const node = this.store.nodes.view.get(i.node)?.value;
    const permission = mayPower('system', this.store.clusterSettings.fencing, node ?? {}, this.context.clock.wallMs());
    if (!permission.may)
      await this.change(c, i, (now) => withheld(now, permission.detail, this.context.clock.wallMs()));
  }

  /** It lives although it was ordered off: nothing is recovered, and only W later is it known that no order is under way. */
  private async survive(c: TaskRun, i: IncidentRecord, reason: string): Promise<void> {
    await this.change(c, i, (now) =>
      now.commands.length === i.commands.length
        ? go(now, 'survived', `It lives: ${reason}.`, this.context.clock.wallMs())
        : undefined,
    );
  }

  /** The backoff is measured on this process's clock. With other devices than those that failed it is over. */
  private retryInMs(i: IncidentRecord, node: NodeRecord, age: Age): number {
    if (i.devices !== undefined && i.devices !== devicesMark(node.powerLevels)) return 0;
    return Math.max(0, retryBackoff(i) - age(this.failedSince, `${i.id}/${i.attempt}`));
  }

  /** A write on what was looked at: where the phase has moved on meanwhile, the next round decides anew. */
  private async change(
    c: TaskRun,
    i: IncidentRecord,
    fn: (now: IncidentRecord) => IncidentRecord | undefined,
  ): Promise<void> {
    await this.incidents.change(i.node, i.id, (now) => {
      const token = c.check();
      if (now.phase !== i.phase || now.commands.length !== i.commands.length || now.conductor > token) return undefined;
      const next = fn(now);
      return next && { ...next, conductor: token };
    });
  }

  private openIncidents(): IncidentRecord[] {
    return this.store.incidents.view.entries().flatMap((e) => (isOpenIncident(e.value) ? [e.value] : []));
  }

  private hasWorkloads(node: string): boolean {
    return this.store.workloads.view.entries().some((e) => e.value.assignment?.node === node);
  }
}

/** The order names the devices as they are; what was given to others before does not count for them. */
function orderedWith(next: IncidentRecord, node: NodeRecord, silent: string[]): void {
  const devices = devicesMark(node.powerLevels);
  if (next.devices !== devices) {
    if (next.devices !== undefined) next.devicesAfter = next.commands.reduce((most, c) => Math.max(most, c.n), 0);
    next.silentBefore = silent;
  }
  // Until an off was given it could silence nobody.
  if (!wasCommanded(next)) next.silentBefore = silent;
  next.devices = devices;
}

const withResults = (gates: GateResult[], of: readonly GateResult[]): GateResult[] =>
  gates.map((g) => of.find((r) => r.gate === g.gate) ?? g);

/** Whoever acts sees a thing, which is when its age begins; whoever only shows what would be done does not. */
type Age = (book: AgeBook, key: string) => number;

const isOlder = (v: Verdict, node: NodeRecord): boolean => node.verdict !== undefined && isNewer(node.verdict, v);

const sameOutcome = (a: IncidentRecord['gates'], b: IncidentRecord['gates']): boolean =>
  a.length === b.length && a.every((g, n) => g.gate === b[n]?.gate && g.pass === b[n].pass);
