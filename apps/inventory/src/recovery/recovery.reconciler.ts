import { Injectable } from '@nestjs/common';
import { MusterError, isEndedJob, type IncidentRecord, type NodeRecord, type RecoveryAssignment } from '#contracts';
import { go, note } from '#domain/incident/steps.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { IncidentService } from '../incidents/incident.service.js';
import { NodeService } from '../nodes/node.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { collateralText, isHeld } from '../power/collateral.js';
import { CollateralWatch } from '../power/collateral-watch.js';
import { drilled } from '../power/drill.js';
import { isVoid } from '../power/contradiction.js';
import { Contradictions } from './contradictions.js';
import { decidePowerOn } from './power-on.js';
import { switchedOff } from './switched-off.js';
import { fencedAnew, movedText, notOff, voided } from '../power/void-proof.js';
import { isSettledRecovery, recoveryOf } from './recovery-line.js';
import { WorkloadReconciler } from './workload.reconciler.js';
import { WorkloadService } from './workload.service.js';

/** The most that taking workloads from a node waits for the view to show its incident, ms: it follows within a few. */
const SHOWN_MS = 1_000;

/**
 * From `fenced` to `closed`: takes the workloads from the node whose power is proven off, sees them running elsewhere,
 * and wants the node powered on. Placing and starting is the workloads' own reconciler's.
 */
@Injectable()
export class RecoveryReconciler implements Reconciler {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly alarms: AlarmService,
    private readonly incidents: IncidentService,
    private readonly workloads: WorkloadService,
    private readonly placing: WorkloadReconciler,
    private readonly contradictions: Contradictions,
    private readonly collateral: CollateralWatch,
  ) {}

  async reconcile(c: TaskRun): Promise<void> {
    const after = this.store.incidents.view
      .entries()
      .map((e) => e.value)
      .filter(isAfterOff);
    const contradicted = this.contradictions.now();
    this.collateral.keep(after);
    await keepAlarms(this.alarms, ['collateral'], after.filter(isHeld).map(mayHaveHit), () => void c.check());
    const certain = this.contradictions.certain(contradicted);
    const isVoided = this.store.incidents.view.entries().flatMap((e) => (isVoid(e.value) ? [e.value] : []));
    const alarms = [...contradicted, ...isVoided].map(stillSpeaks);
    await keepAlarms(this.alarms, ['conflict-power'], alarms, () => void c.check());
    await Promise.all(
      after.map((i) =>
        c.isolated({ node: i.node }, async () => {
          if (certain.some((x) => x.id === i.id)) await this.voidProof(c, i);
          else if (!contradicted.some((x) => x.id === i.id) || i.phase === 'recovered') await this.step(c, i);
        }),
      ),
    );
  }

  private async step(c: TaskRun, i: IncidentRecord): Promise<void> {
    if (i.phase === 'fenced') await this.beginOnceProven(c, i);
    else if (i.phase === 'recovering') await this.follow(c, i);
    else await this.finish(c, i);
  }

  /** The word of a device that is not proven counts later, and not where the off may have hit another node. */
  private async beginOnceProven(c: TaskRun, i: IncidentRecord): Promise<void> {
    if (i.drill !== undefined && i.drill.result === undefined) return this.judgeDrill(c, i);
    // Nothing is recovered by a drill: what it has switched off, whosever it is, is to be switched on again.
    const isEmpty = !this.store.workloads.view.entries().some((e) => e.value.assignment?.node === i.node);
    if (i.drill !== undefined && isEmpty && this.store.workloads.view.live) return this.begin(c, i);
    const step = this.collateral.step(i);
    if (step.do === 'counts') return this.begin(c, i);
    if (step.do === 'wait' || (step.do === 'hold' && !step.changed)) return;
    await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      const at = this.context.clock.wallMs();
      if (now.phase !== 'fenced' || now.proof?.kind === 'manual' || now.conductor > conductor) return undefined;
      if (step.do === 'anew') {
        const anew = fencedAnew(now, at);
        return anew && { ...anew, conductor };
      }
      if (step.do === 'hold') {
        const next = { ...now, collateral: { at, nodes: step.nodes } };
        return { ...note(next, collateralText(next), at), conductor };
      }
      const { collateral: _over, ...rest } = now;
      return {
        ...note(rest, `${step.spoke.join(', ')} spoke in the old boot: the off was not theirs.`, at),
        conductor,
      };
    });
  }

  private async judgeDrill(c: TaskRun, i: IncidentRecord): Promise<void> {
    const step = this.collateral.drill(i);
    if (step.do === 'wait') return;
    const at = this.context.clock.wallMs();
    await this.nodes.change(i.node, (n) => {
      c.check();
      return drilled(n, i, step, at);
    });
    await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      if (now.phase !== 'fenced' || now.drill === undefined || now.conductor > conductor) return undefined;
      const result = { ok: step.ok, at, detail: step.detail };
      return {
        ...note(now, `Drill ${step.ok ? 'passed' : 'failed'}: ${step.detail}`, at),
        conductor,
        drill: { ...now.drill, result },
      };
    });
  }

  /** First the node, which is not off and whose devices are in doubt; then nothing is recovered on that proof any more. */
  private async voidProof(c: TaskRun, i: IncidentRecord): Promise<void> {
    const at = this.context.clock.wallMs();
    let node: NodeRecord | undefined;
    try {
      await this.nodes.change(i.node, (n) => {
        c.check();
        node = n;
        return notOff(n, i, at);
      });
    } catch (e) {
      if (MusterError.from(e).code !== 'NODE_UNKNOWN') throw e;
    }
    const done = await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      const next = now.conductor > conductor ? undefined : voided(now, node, at);
      return next && { ...next, conductor };
    });
    if (done !== undefined) this.context.log.error({ node: i.node, incident: i.id }, 'its proof of off is void');
  }

  /** Maintenance and the proof go into the node's record first: from then on nothing is placed there. */
  private async begin(c: TaskRun, i: IncidentRecord): Promise<void> {
    await this.markOff(c, i);
    // A full read, not the view: a workload that was assigned a moment before the fence must not be missed.
    const all = (await this.store.workloads.bucket.list()).map((e) => e.value);
    const recovery = all
      .filter((w) => w.assignment?.node === i.node)
      .map((w): RecoveryAssignment => {
        return { workload: w.name, from: i.node, state: 'waiting' };
      });
    const recovering = await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      if (now.phase !== 'fenced' || now.conductor > conductor) return undefined;
      const text = `${recovery.length} workload(s) to recover${names(recovery)}.`;
      return { ...go(now, 'recovering', text, this.context.clock.wallMs()), conductor, recovery };
    });
    if (recovering === undefined) return;
    // A start is told by the incident that took its workload from the node: whoever places it finds that in the view.
    await this.store.incidents.view.shows(recovering.revision, SHOWN_MS);
    await this.follow(c, recovering);
  }

  private async markOff(c: TaskRun, i: IncidentRecord): Promise<void> {
    try {
      await this.nodes.change(
        i.node,
        (n) => {
          c.check();
          return switchedOff(n, i, this.context.clock.wallMs());
        },
        'fenced',
      );
    } catch (e) {
      // Deleted meanwhile: its workloads are recovered all the same.
      if (MusterError.from(e).code !== 'NODE_UNKNOWN') throw e;
    }
  }

  private async follow(c: TaskRun, i: IncidentRecord): Promise<void> {
    const view = this.store.workloads.view;
    const known = new Set(i.recovery.map((r) => r.workload));
    const late = view
      .entries()
      .map((e) => e.value)
      .filter((w) => w.assignment?.node === i.node && !known.has(w.name));
    const items = [
      ...i.recovery,
      ...late.map((w): RecoveryAssignment => ({ workload: w.name, from: i.node, state: 'waiting' })),
    ];
    await Promise.all(items.map((r) => this.take(c, i, r.workload)));
    const recovery = items.map((r) => recoveryOf(r, view.get(r.workload)?.value, this.placing.hasNoRoom(r.workload)));
    const done = view.live && recovery.every(isSettledRecovery);
    if (!done && JSON.stringify(recovery) === JSON.stringify(i.recovery)) return;
    const fencing = this.store.clusterSettings.fencing;
    const node = (await this.store.nodes.bucket.get(i.node))?.value;
    await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      if (now.phase !== 'recovering' || now.conductor > conductor) return undefined;
      if (!done) return { ...now, updatedAt: this.context.clock.wallMs(), conductor, recovery };
      const at = this.context.clock.wallMs();
      const power = decidePowerOn(now, fencing, node, at);
      return {
        ...go(now, 'recovered', outcome(recovery), at),
        conductor,
        recovery,
        powerOn: { ...power, requestedAt: at },
      };
    });
  }

  /** Clears the assignment, and calls back a start or stop that was on its way to the dead node. */
  private async take(c: TaskRun, i: IncidentRecord, workload: string): Promise<void> {
    const seen = this.store.workloads.view.get(workload)?.value;
    if (seen !== undefined && seen.assignment?.node !== i.node) return;
    let job: string | undefined;
    await this.workloads.change(workload, 'cleared', (w) => {
      c.check();
      job = w.assignment?.node === i.node ? (w.start?.job ?? w.stop?.job) : undefined;
      return { kind: 'cleared', from: i.node };
    });
    if (job === undefined) return;
    await this.store.jobs.bucket.mutate(job, (current) => {
      c.check();
      if (current === undefined || isEndedJob(current.value) || current.value.cancel !== undefined) return undefined;
      return { ...current.value, cancel: { by: 'muster', at: this.context.clock.wallMs() } };
    });
  }

  /** Recovered: counts the power-on, takes what was assigned there late, and closes when the node is back. */
  private async finish(c: TaskRun, i: IncidentRecord): Promise<void> {
    const entry = await this.store.nodes.bucket.get(i.node);
    const node = entry?.value;
    if (node === undefined) return this.close(c, i, 'The node was deleted.');
    const power = i.powerOn;
    if (power?.wanted === true && !(node.poweredOnAt ?? []).includes(power.requestedAt))
      await this.nodes.change(i.node, (n) => {
        c.check();
        const before = n.poweredOnAt ?? [];
        return before.includes(power.requestedAt)
          ? undefined
          : { ...n, poweredOnAt: [...before, power.requestedAt].slice(-10) };
      });
    if (node.confirmedOff?.incident === i.id) {
      const late = this.store.workloads.view.entries().filter((e) => e.value.assignment?.node === i.node);
      await Promise.all(late.map((e) => this.take(c, i, e.key)));
      return;
    }
    if (node.status === 'Decommissioned' || node.status === 'Unallocated')
      return this.close(c, i, `The node is ${node.status}.`);
    if (node.state !== 'Discovered') return;
    if (node.maintenance === undefined && node.pendingReturn === undefined)
      await this.close(c, i, 'The node is back in service.');
    else if (node.cordon !== undefined && node.pendingReturn !== undefined)
      await this.close(c, i, 'The node is back, and is left alone: it is cordoned.');
  }

  private async close(c: TaskRun, i: IncidentRecord, detail: string): Promise<void> {
    await this.incidents.change(i.node, i.id, (now) => {
      const conductor = c.check();
      return now.phase === 'recovered'
        ? { ...go(now, 'closed', detail, this.context.clock.wallMs()), conductor }
        : undefined;
    });
  }
}

const names = (recovery: readonly RecoveryAssignment[]): string =>
  recovery.length === 0
    ? ''
    : `: ${recovery
        .map((r) => r.workload)
        .slice(0, 20)
        .join(', ')}`;

function outcome(recovery: readonly RecoveryAssignment[]): string {
  if (recovery.length === 0) return 'Nothing ran there.';
  const say = (r: RecoveryAssignment): string =>
    r.state === 'running' ? `${r.workload} on ${r.to ?? '?'}` : `${r.workload} ${r.state}`;
  const shown = recovery.slice(0, 20).map(say).join(', ');
  return recovery.length > 20 ? `${shown} and ${recovery.length - 20} more.` : `${shown}.`;
}

const mayHaveHit = (i: IncidentRecord): WantedAlarm => ({
  code: 'collateral',
  subject: i.node,
  severity: 'critical',
  message: `${collateralText(i)} Nothing of ${i.node} is recovered. Look which of them is off; where it is ${i.node}: muster incident confirm ${i.node} --reason "…"; where it is not, correct its power device: muster node power-device set ${i.node} ….`,
});

function stillSpeaks(i: IncidentRecord): WantedAlarm {
  const proof = i.proof ?? i.contradiction?.proof;
  const moved = movedText(isVoid(i) ? (i.contradiction?.recovery ?? []) : i.recovery);
  const message =
    proof?.kind === 'manual'
      ? `${i.node} reports in the boot that ${proof.by ?? 'an operator'} confirmed down: it lives. ${moved} Nothing more of it is started; end it on one side, then power ${i.node} off, or reboot it.`
      : `${i.node} reports in the boot that its power device calls off: is the device another machine's? ${moved} Nothing more of it is started. Correct the device: muster node power-device set ${i.node} …; where it is down now: muster incident confirm ${i.node} --reason "…".`;
  return { code: 'conflict-power', subject: i.node, severity: 'critical', message };
}
