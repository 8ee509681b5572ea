import { Injectable } from '@nestjs/common';
import type { WorkloadRecord } from '#contracts';
import { provesStart, waitKey } from '#domain/workload/owed-start.js';
import type { Serving } from '#domain/workload/own-node.js';
import type { Placement } from '#domain/workload/placement.js';
import { startRefusal, type StartQuestions, type StartReason } from '#domain/workload/start-decision.js';
import type { SeenElsewhere, StartCheck } from '#domain/workload/where-it-runs.js';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { Settling } from '../conductor/settling.js';
import { AgeBook } from '../ages/age-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { doubleAlarms, doublesOf, type Double } from '../plan/workloads/doubles.js';
import { Contradictions } from './contradictions.js';
import { HeldAlarms } from '../plan/workloads/held-alarms.js';
import { allTell, whyNotStart, whyOut } from '../plan/workloads/hosts.js';
import { groupStarts, orderOutcome, recoverJob, retryAfterMs, type StartGroup } from '../plan/workloads/recover-job.js';
import { ownNodeStep, type OwnNodeStep } from '../plan/workloads/own-node-step.js';
import { isUnplaced, placesFor, withoutRoom } from '../plan/workloads/room.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { RecoverJobs } from './recover-jobs.service.js';
import { StartFactsService } from '../reports/start-facts.js';
import { WorkloadService } from './workload.service.js';

/** Silent nodes hold a start at once; it becomes an alarm only after this, ms: a report may be on its way. */
const ALARM_AFTER_MS = 3_000;
/** The gate of a unit that a node starts at its boot refuses it well within this, ms: until then nothing has run there. */
const GATE_MS = 30_000;

/** What the next round does about a workload that shall run, and is assigned nowhere or not started yet. */
export interface WorkloadPreview {
  workload: WorkloadRecord;
  do: 'place' | 'no-room' | 'start' | 'follow' | 'correct' | 'hold' | 'elsewhere' | 'wait';
  why: string;
  /** Where it goes, or is started. */
  to?: string;
  /** Until the wait is over by itself, ms; absent: something has to change. */
  leftMs?: number;
}

type Age = (key: string) => number;

/**
 * Every workload that shall run: assigned to one node, and started there exactly once. Each round takes every record as
 * it is and does the next step that it calls for; nothing is remembered between rounds but since when.
 */
@Injectable()
export class WorkloadReconciler implements Reconciler {
  private readonly since: AgeBook;
  private readonly settling = new Settling();
  /** Whoever acts sees a thing, which is when its age begins; whoever only shows what would be done does not. */
  private readonly seen: Age = (key) => this.since.see(key);
  private readonly known: Age = (key) => this.since.ageMs(key);

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly workloads: WorkloadService,
    private readonly facts: StartFactsService,
    private readonly fleets: FleetSource,
    private readonly jobs: RecoverJobs,
    private readonly contradictions: Contradictions,
  ) {
    this.since = new AgeBook(context.clock);
  }

  /** There is no room for it as of now. */
  hasNoRoom(workload: string): boolean {
    const w = this.store.workloads.view.get(workload)?.value;
    return (
      w !== undefined && isUnplaced(w) && withoutRoom(this.fleets.now(), this.contradictions.barred()).has(workload)
    );
  }

  async reconcile(c: TaskRun): Promise<void> {
    const everybodyTells = allTell(this.fleets.now()) && this.facts.unanswered().length === 0;
    const settled = this.settling.hasSettled(c, this.store.live, everybodyTells);
    const wanted = new HeldAlarms();
    const all = this.store.workloads.view.entries().map((e) => e.value);
    const running = all.filter(isStarts);
    const barred = this.contradictions.barred();
    const whyBarred = (w: WorkloadRecord): string | undefined =>
      startRefusal('round', { barred: barred.get(w.name) })?.why;
    const isFree = (w: WorkloadRecord): boolean => whyBarred(w) === undefined;
    await this.each(
      c,
      running.filter((w) => this.isNews(w)),
      (w) => this.note(c, w),
    );
    await this.placeAll(
      c,
      running.filter((w) => w.assignment === undefined && isFree(w)),
      wanted,
    );
    await this.startAll(
      c,
      running.filter((w) => w.start !== undefined && w.start.job === undefined && isFree(w)),
      wanted,
    );
    for (const w of running) {
      if (w.assignment !== undefined && w.start === undefined) continue;
      const why = whyBarred(w);
      if (why !== undefined) wanted.setCertain(w.name, held(w, why));
    }
    await this.each(
      c,
      running.filter((w) => w.start?.job !== undefined),
      (w) => this.followJob(c, w),
    );
    for (const w of running)
      if ((w.start?.attempt ?? 0) > 0)
        wanted.setCertain(
          w.name,
          held(w, `Its start on ${w.assignment?.node ?? '?'} failed ${w.start?.attempt} time(s). ${w.held ?? ''}`),
        );
    for (const { name, stop, assignment } of all)
      if (stop !== undefined && stop.attempt > 0)
        wanted.setCertain(name, {
          code: 'workload-held',
          subject: name,
          severity: 'warning',
          message: `Its stop on ${assignment?.node ?? '?'} failed ${stop.attempt} time(s). ${stop.why ?? ''}`,
        });
    const doubles = this.doubles(all, wanted);
    await keepAlarms(
      this.alarms,
      ['no-room', 'workload-held', 'conflict-workload'],
      [...wanted.wanted(settled), ...doubles],
      () => void c.check(),
      (a) => wanted.isOver(a, settled),
    );
    this.forget(all);
  }

  /** What the next round does about each workload that shall run, and is not as it should be; no age begins by asking. */
  preview(): WorkloadPreview[] {
    const running = this.store.workloads.view
      .entries()
      .map((e) => e.value)
      .filter(isStarts);
    const barred = this.contradictions.barred();
    const places = this.placesFor(running.filter((w) => w.assignment === undefined && !barred.has(w.name)));
    let seen: Serving | undefined;
    const serving = (): Serving => (seen ??= this.serving());
    return running.flatMap((w) => {
      if (w.assignment !== undefined && w.start === undefined) return [];
      const why = startRefusal('round', { barred: barred.get(w.name) })?.why;
      if (why !== undefined) return [{ workload: w, do: 'hold', why }];
      if (w.assignment === undefined) return [this.previewPlace(w, places.get(w.name))];
      return [this.previewStart(w, w.assignment.node, serving)];
    });
  }

  /** Where these would go, if all of them were placed now. */
  placesFor(waiting: readonly WorkloadRecord[]): ReadonlyMap<string, Placement> {
    return placesFor(this.fleets.now(), waiting);
  }

  private previewPlace(w: WorkloadRecord, p: Placement | undefined): WorkloadPreview {
    const check = this.facts.check(w.name, p?.to ?? '');
    const refused = startRefusal('place', this.placeFacts(w, check, this.known));
    if (refused !== undefined) return previewOf(w, refused);
    const why = p?.why ?? '';
    return p?.to === undefined ? { workload: w, do: 'no-room', why } : { workload: w, do: 'place', to: p.to, why };
  }

  private previewStart(w: WorkloadRecord, node: string, serving: () => Serving): WorkloadPreview {
    if (w.start?.job !== undefined)
      return { workload: w, do: 'follow', why: `Job ${w.start.job} starts it on ${node}.` };
    const { refused, out } = this.orderRefusal(w, this.facts.check(w.name, node), node, this.known);
    if (refused === undefined) return { workload: w, do: 'start', to: node, why: 'Nothing stands against it.' };
    if (refused.code === 'RETRY')
      return { ...previewOf(w, refused), leftMs: Math.max(0, this.retryInMs(w, this.known)) };
    if (refused.code !== 'OUT_OF_SERVICE') return previewOf(w, refused);
    const why = out ?? refused.why;
    const step = this.ownNode(w, node, why, serving, this.known(waitKey(w)));
    if (step.do === 'wait')
      return { workload: w, do: 'wait', why: `${node} is out of service: ${why}.`, leftMs: step.leftMs };
    if (step.do === 'hold') return { workload: w, do: 'hold', why: step.why };
    const to = this.placesFor([w]).get(w.name)?.to;
    return { workload: w, do: 'elsewhere', why: step.why, ...(to !== undefined && { to }) };
  }

  /** Its node's report is of another boot than its record, or it is being started there: the others are not looked at. */
  private isNews(w: WorkloadRecord): boolean {
    const report = w.assignment && this.facts.of(w.assignment.node);
    return report?.workloads !== undefined && (w.start !== undefined || w.boot !== report.bootId);
  }

  /** By the node's own report: seen running there, or lost with a boot. */
  private async note(c: TaskRun, w: WorkloadRecord): Promise<void> {
    const at = w.assignment;
    const report = at && this.facts.of(at.node);
    if (at === undefined || report?.workloads === undefined) return;
    const there = report.workloads.find((r) => r.name === w.name);
    if (there !== undefined) {
      if (!provesStart(w, there, report.bootId)) return;
      await this.workloads.change(w.name, w.start === undefined ? undefined : 'running', () => {
        c.check();
        return { kind: 'started', generation: at.generation, boot: report.bootId };
      });
    } else if (w.start === undefined && w.boot !== undefined) {
      await this.workloads.change(w.name, 'held', (now) => {
        c.check();
        const isAsSeen = now.boot === w.boot && now.generation === w.generation;
        return isAsSeen ? { kind: 'lost', boot: report.bootId } : undefined;
      });
    }
  }

  /** Seen for longer than a report is on its way. */
  private doubles(all: WorkloadRecord[], young: HeldAlarms): WantedAlarm[] {
    const now = doublesOf(all, this.facts.fresh());
    const there = (d: Double): string => `double/${d.workload}/${d.on}`;
    const runs = (d: Double): string => `${there(d)}/running`;
    const keys = new Set(now.flatMap((d) => (d.starting ? [there(d)] : [there(d), runs(d)])));
    this.since.retain((key) => !key.startsWith('double/') || keys.has(key));
    // One that crashes and is started again all the time is hardly ever seen to run.
    const certain = now.filter((d) => {
      const seen = this.since.see(there(d)) > GATE_MS;
      const isCertain = (!d.starting && this.since.see(runs(d)) > ALARM_AFTER_MS) || seen;
      if (!isCertain) young.tooYoung(d.workload);
      return isCertain;
    });
    return doubleAlarms(certain);
  }

  private async placeAll(c: TaskRun, unassigned: WorkloadRecord[], wanted: HeldAlarms): Promise<void> {
    if (unassigned.length === 0) return;
    const places = this.placesFor(unassigned);
    await this.each(c, unassigned, async (w) => {
      const p = places.get(w.name);
      if (p !== undefined) await this.placeOne(c, w, p, wanted);
    });
  }

  private async placeOne(c: TaskRun, w: WorkloadRecord, p: Placement, wanted: HeldAlarms): Promise<void> {
    const check = this.facts.check(w.name, p.to ?? '');
    const refused = startRefusal('place', this.placeFacts(w, check, this.seen));
    if (refused !== undefined) return this.dealWith(c, w, refused.code, check, wanted);
    if (p.to === undefined) {
      wanted.set(w.name, { code: 'no-room', subject: w.name, severity: 'critical', message: p.why });
      await this.hold(c, w, p.why);
      return;
    }
    const to = p.to;
    const cause = this.causeOf(w);
    const done = await this.workloads.change(w.name, 'assigned', () => {
      c.check();
      return { kind: 'assigned', to, cause, generation: w.generation };
    });
    if (done === undefined) return;
    // Of a fencing it is a decision; a new workload, or one that moves, is everyday.
    const level = cause.startsWith('incident:') ? 'info' : 'debug';
    this.context.log[level]({ workload: w.name, node: to, why: p.why }, 'workload placed');
  }

  private async startAll(c: TaskRun, owed: WorkloadRecord[], wanted: HeldAlarms): Promise<void> {
    const due: WorkloadRecord[] = [];
    const switching: WorkloadRecord[] = [];
    let seen: Serving | undefined;
    const serving = (): Serving => (seen ??= this.serving());
    await this.each(c, owed, async (w) => {
      const now = await this.isDue(c, w, serving, wanted);
      if (now === 'start') due.push(w);
      else if (now === 'elsewhere') switching.push(w);
    });
    const places = this.placesFor(switching);
    await this.each(c, switching, (w) => this.switchNode(c, w, places.get(w.name)?.to));
    await Promise.all(groupStarts(due).map((g) => c.isolated({ node: g.node }, () => this.give(c, g))));
  }

  private serving(): Serving {
    const fleet = this.fleets.now();
    const members = fleet.nodes.list.filter((e) => e.value.status === 'Allocated');
    return {
      members: members.length,
      inService: members.filter((e) => whyOut(fleet, e.key) === undefined).length,
    };
  }

  /** Looks at every node before the start; deals with what is found. */
  private async isDue(
    c: TaskRun,
    w: WorkloadRecord,
    serving: () => Serving,
    wanted: HeldAlarms,
  ): Promise<'start' | 'elsewhere' | 'wait'> {
    const at = w.assignment;
    if (at === undefined || w.start === undefined) return 'wait';
    const check = this.facts.check(w.name, at.node);
    const { refused, out } = this.orderRefusal(w, check, at.node, this.seen);
    const isInService = refused === undefined || refused.code === 'SILENT' || refused.code === 'RETRY';
    if (isInService) this.since.forget(waitKey(w));
    if (refused?.code === 'OUT_OF_SERVICE') return this.waitForNode(c, w, at.node, out ?? refused.why, serving, wanted);
    if (check.kind === 'unknown' && isInService) await this.waitForWord(c, w, check.nodes, wanted);
    else if (isInService) this.since.forget(wordKey(w));
    else await this.dealWith(c, w, refused.code, check, wanted);
    return refused === undefined ? 'start' : 'wait';
  }

  private async waitForWord(
    c: TaskRun,
    w: WorkloadRecord,
    nodes: readonly string[],
    wanted: HeldAlarms,
  ): Promise<void> {
    if (this.since.see(wordKey(w)) <= ALARM_AFTER_MS) return wanted.tooYoung(w.name);
    const text = `Before it starts, ${nodes.join(', ')} must say what they run, and do not.`;
    wanted.set(w.name, held(w, text));
    await this.hold(c, w, text);
  }

  private placeFacts(w: WorkloadRecord, check: StartCheck, age: Age): StartQuestions['place'] {
    return {
      workload: w,
      check,
      mayFollow: (seenOn) => this.facts.mayFollow(seenOn),
      leftForMs: () => age(leftKey(w)),
    };
  }

  /** What stands against the start that is owed there; `out`: why the node is out of service, where that was asked. */
  private orderRefusal(
    w: WorkloadRecord,
    check: StartCheck,
    node: string,
    age: Age,
  ): { refused: ReturnType<typeof startRefusal<'order'>>; out: string | undefined } {
    let out: string | undefined;
    const refused = startRefusal('order', {
      ...this.placeFacts(w, check, age),
      out: () => (out = whyNotStart(this.fleets.now(), node)),
      retryInMs: () => this.retryInMs(w, age),
    });
    return { refused, out };
  }

  private retryInMs(w: WorkloadRecord, age: Age): number {
    const attempt = w.start?.attempt ?? 0;
    return attempt === 0 ? 0 : retryAfterMs(attempt) - age(retryKey(w));
  }

  /** It was seen: the registry follows, or it is held where that cannot be. */
  private async dealWith(
    c: TaskRun,
    w: WorkloadRecord,
    code: StartReason,
    check: StartCheck,
    wanted: HeldAlarms,
  ): Promise<void> {
    if (check.kind !== 'elsewhere') return;
    if (code === 'RUNS_ELSEWHERE') await this.correct(c, w, check);
    else if (code === 'RUNS_ON_THE_DEAD') {
      const text = `It is reported running on ${check.node}, which counts as powered off or is not enrolled: it is started nowhere until that is settled.`;
      wanted.set(w.name, held(w, text));
      await this.hold(c, w, text);
    }
  }

  /** Its node is not in service: a lost one moves after a while, when the node itself says that it does not run there. */
  private async waitForNode(
    c: TaskRun,
    w: WorkloadRecord,
    node: string,
    why: string,
    serving: () => Serving,
    wanted: HeldAlarms,
  ): Promise<'elsewhere' | 'wait'> {
    const step = this.ownNode(w, node, why, serving, this.since.see(waitKey(w)));
    if (step.do === 'wait') {
      wanted.tooYoung(w.name);
      return 'wait';
    }
    wanted.set(w.name, held(w, step.why));
    if (step.do === 'elsewhere') return 'elsewhere';
    await this.hold(c, w, step.why);
    return 'wait';
  }

  private ownNode(w: WorkloadRecord, node: string, why: string, serving: () => Serving, waitedMs: number): OwnNodeStep {
    const own = this.store.nodes.view.get(node)?.value;
    return ownNodeStep({ workload: w, node, own, why, waitedMs, serving, report: this.facts.of(node) });
  }

  private async switchNode(c: TaskRun, w: WorkloadRecord, to: string | undefined): Promise<void> {
    const from = w.assignment?.node;
    if (from === undefined || to === undefined) return;
    if (startRefusal('replace', { check: this.facts.check(w.name, to) }) !== undefined) return;
    await this.workloads.change(w.name, 'assigned', () => {
      c.check();
      return { kind: 'moved', from, to, generation: w.generation };
    });
  }

  /** Hands the starts to a new job: first the workloads name it, then it is written, so that it is never written twice. */
  private async give(c: TaskRun, g: StartGroup): Promise<void> {
    const id = this.context.random.uuid();
    const handed: WorkloadRecord[] = [];
    for (const w of g.workloads) {
      const generation = w.assignment?.generation ?? -1;
      const now = await this.workloads.change(w.name, undefined, () => {
        c.check();
        return { kind: 'start-given', job: id, generation };
      });
      if (now !== undefined) handed.push(now);
    }
    if (handed.length > 0)
      await this.jobs.write(c, recoverJob(id, { ...g, workloads: handed }, c.token, this.context.clock.wallMs()));
  }

  private async followJob(c: TaskRun, w: WorkloadRecord): Promise<void> {
    const id = w.start?.job;
    const at = w.assignment;
    if (id === undefined || at === undefined) return;
    const job = await this.jobs.find(id);
    if (job === undefined) return this.rewriteJob(c, id, w);
    const outcome = orderOutcome('start', job, at.node, w.name);
    if (outcome === undefined) return;
    if (outcome.done)
      await this.workloads.change(w.name, 'running', () => {
        c.check();
        return { kind: 'started', generation: at.generation, boot: this.facts.of(at.node)?.bootId };
      });
    else
      await this.workloads.change(w.name, 'held', () => {
        c.check();
        return { kind: 'start-failed', job: id, why: outcome.why, seen: outcome.seen };
      });
  }

  /** The conductor before this one named the job and went down before it wrote it. */
  private async rewriteJob(c: TaskRun, id: string, w: WorkloadRecord): Promise<void> {
    const same = this.store.workloads.view
      .entries()
      .map((e) => e.value)
      .filter((x) => x.start?.job === id && x.assignment?.node === w.assignment?.node);
    const node = w.assignment?.node;
    if (node === undefined || w.start === undefined || same.length === 0) return;
    await this.jobs.write(
      c,
      recoverJob(id, { node, cause: w.start.cause, workloads: same }, c.token, this.context.clock.wallMs()),
    );
  }

  private async correct(c: TaskRun, w: WorkloadRecord, seen: SeenElsewhere): Promise<void> {
    const seenOn = seen.node;
    const done = await this.workloads.change(w.name, 'assigned', () => {
      c.check();
      return { kind: 'corrected', seenOn, generation: w.generation, followed: seen.generation };
    });
    if (done !== undefined)
      this.context.log.warn(
        { workload: w.name, node: seenOn },
        'workload was seen running elsewhere: registry corrected',
      );
  }

  private async hold(c: TaskRun, w: WorkloadRecord, text: string): Promise<void> {
    if (w.held === text) return;
    // The words of a hold change with figures: one that is held already is no news.
    await this.workloads.change(w.name, w.held === undefined ? 'held' : undefined, (now) => {
      c.check();
      return now.generation === w.generation ? { kind: 'held', why: text } : undefined;
    });
  }

  /** Why it is to be started: the move that took it away, the incident that took it from its node, or nobody's in particular. */
  private causeOf(w: WorkloadRecord): string {
    if (w.move !== undefined) return `move:${w.move.cause}`;
    const incident = this.store.incidents.view
      .entries()
      .map((e) => e.value)
      .filter((i) => i.phase === 'recovering' || i.phase === 'recovered')
      .find((i) => i.recovery.some((r) => r.workload === w.name && r.state !== 'running'));
    return incident === undefined ? 'unassigned' : `incident:${incident.id}`;
  }

  private async each(
    c: TaskRun,
    workloads: readonly WorkloadRecord[],
    work: (w: WorkloadRecord) => Promise<void>,
  ): Promise<void> {
    await Promise.all(workloads.map((w) => c.isolated({ workload: w.name }, () => work(w))));
  }

  private forget(all: readonly WorkloadRecord[]): void {
    const live = new Set(all.map((w) => w.name));
    // A wait that ended without a word from here (it was seen running) must not be found hours old by the next one.
    const waits = new Set(all.flatMap((w) => (w.start === undefined ? [] : [waitKey(w)])));
    const moves = new Set(all.flatMap((w) => (w.move === undefined ? [] : [leftKey(w)])));
    const isOver = (key: string): boolean =>
      (key.startsWith('node/') && !waits.has(key)) || (key.startsWith('left/') && !moves.has(key));
    this.since.retain((key) => live.has(key.split('/')[1] ?? '') && !isOver(key));
  }
}

/** One that is being stopped so that it can move is the stops' until it has left. */
const isStarts = (w: WorkloadRecord): boolean => w.desired === 'running' && w.stop === undefined;

function previewOf(w: WorkloadRecord, { code, why }: { code: StartReason; why: string }): WorkloadPreview {
  const does = code === 'RUNS_ELSEWHERE' ? 'correct' : code === 'RUNS_ON_THE_DEAD' ? 'hold' : 'wait';
  return { workload: w, do: does, why };
}

const leftKey = (w: WorkloadRecord): string => `left/${w.name}`;
const wordKey = (w: WorkloadRecord): string => `unknown/${w.name}/${w.assignment?.generation}`;
const retryKey = (w: WorkloadRecord): string => `retry/${w.name}/${w.assignment?.generation}/${w.start?.attempt}`;

const held = (w: WorkloadRecord, message: string): WantedAlarm => ({
  code: 'workload-held',
  subject: w.name,
  severity: 'critical',
  message,
});
