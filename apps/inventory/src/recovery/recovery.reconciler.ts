import { Injectable } from '@nestjs/common';
import { MusterError, type IncidentRecord, type NodeRecord } from '#contracts';
import { isAfterOff } from '#domain/incident/phases.js';
import { ServiceContext } from '#service';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms } from '../alarms/keep-alarms.js';
import type { Reconciler, TaskRun } from '../conductor/task.js';
import { IncidentService } from '../incidents/incident.service.js';
import { NodeService } from '../nodes/node.service.js';
import { conducted, type Conducting } from '../plan/recovery/conducted.js';
import { mayHaveHit, stillSpeaks } from '../plan/recovery/proof-alarms.js';
import { collateralNoted, drillJudged, proofStep, type Judged } from '../plan/recovery/proof-step.js';
import { closed, powerOnCounted, uncountedPowerOn, whyOver } from '../plan/recovery/recovery-end.js';
import { assignedLate, followed } from '../plan/recovery/recovery-line.js';
import { calledBack, jobOnItsWay, recovering } from '../plan/recovery/recovery-start.js';
import { switchedOff } from '../plan/recovery/switched-off.js';
import { withoutRoom } from '../plan/workloads/room.js';
import { isHeld } from '../power/collateral.js';
import { CollateralWatch } from '../power/collateral-watch.js';
import { isVoid } from '../power/contradiction.js';
import { drilled } from '../power/drill.js';
import { notOff, voided } from '../power/void-proof.js';
import { Records } from '../snapshot/records.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import { InventoryStore } from '../store/inventory-store.js';
import { Contradictions } from './contradictions.js';
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
    private readonly fleets: FleetSource,
    private readonly nodes: NodeService,
    private readonly alarms: AlarmService,
    private readonly incidents: IncidentService,
    private readonly workloads: WorkloadService,
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

  private async beginOnceProven(c: TaskRun, i: IncidentRecord): Promise<void> {
    const { workloads } = this.fleets.now();
    const step = proofStep(i, {
      isEmpty: workloads.live && !workloads.list.some((e) => e.value.assignment?.node === i.node),
      drill: () => this.collateral.drill(i),
      collateral: () => this.collateral.step(i),
    });
    if (step.do === 'begin') return this.begin(c, i);
    if (step.do === 'judge') return this.judgeDrill(c, i, step.drill);
    if (step.do === 'note') await this.changeIncident(c, i, (now, by) => collateralNoted(now, step.collateral, by));
  }

  private async judgeDrill(c: TaskRun, i: IncidentRecord, step: Judged): Promise<void> {
    const at = this.context.clock.wallMs();
    try {
      await this.nodes.change(i.node, (n) => {
        c.check();
        return drilled(n, i, step, at);
      });
    } catch (e) {
      // Deleted meanwhile: what it has shown of the devices is of no use any more.
      if (MusterError.from(e).code !== 'NODE_UNKNOWN') throw e;
    }
    await this.changeIncident(c, i, (now, by) => drillJudged(now, step, by));
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
    const done = await this.changeIncident(c, i, (now, by) => conducted(now, by, voided(now, node, at)));
    if (done !== undefined) this.context.log.error({ node: i.node, incident: i.id }, 'its proof of off is void');
  }

  /** Maintenance and the proof go into the node's record first: from then on nothing is placed there. */
  private async begin(c: TaskRun, i: IncidentRecord): Promise<void> {
    await this.markOff(c, i);
    // A full read, not the view: a workload that was assigned a moment before the fence must not be missed.
    const workloads = new Records(await this.store.workloads.bucket.list());
    const begun = await this.changeIncident(c, i, (now, by) =>
      recovering(now, { ...by, fleet: { ...by.fleet, workloads } }),
    );
    if (begun === undefined) return;
    // A start is told by the incident that took its workload from the node: whoever places it finds that in the view.
    await this.store.incidents.view.shows(begun.revision, SHOWN_MS);
    await this.follow(c, begun);
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
    const late = assignedLate(i, this.fleets.now());
    await Promise.all([...i.recovery, ...late].map((r) => this.take(c, i, r.workload)));
    const now = this.fleets.now();
    const noRoom = withoutRoom(now, this.contradictions.barred());
    const hasNoRoom = (workload: string): boolean => noRoom.has(workload);
    const seen = followed(i, { fleet: now, token: c.token }, late, hasNoRoom);
    if (seen === undefined) return;
    // The power-on that comes of it goes by the node's record as it is.
    const fleet = await this.fleets.read({ nodes: [i.node] });
    await this.incidents.change(i.node, i.id, (now) => followed(now, { fleet, token: c.check() }, late, hasNoRoom));
  }

  /** Clears the assignment, and calls back a start or stop that was on its way to the dead node. */
  private async take(c: TaskRun, i: IncidentRecord, workload: string): Promise<void> {
    const seen = this.store.workloads.view.get(workload)?.value;
    if (seen !== undefined && seen.assignment?.node !== i.node) return;
    let job: string | undefined;
    await this.workloads.change(workload, 'cleared', (w) => {
      c.check();
      job = jobOnItsWay(w, i.node);
      return { kind: 'cleared', from: i.node };
    });
    if (job === undefined) return;
    await this.store.jobs.bucket.mutate(job, (current) => {
      c.check();
      return current && calledBack(current.value, this.context.clock.wallMs());
    });
  }

  /** Recovered: counts the power-on, takes what was assigned there late, and closes when the node is back. */
  private async finish(c: TaskRun, i: IncidentRecord): Promise<void> {
    const fleet = await this.fleets.read({ nodes: [i.node] });
    const node = fleet.nodes.get(i.node)?.value;
    const requestedAt = node && uncountedPowerOn(i, node);
    if (requestedAt !== undefined)
      await this.nodes.change(i.node, (n) => {
        c.check();
        return uncountedPowerOn(i, n) === undefined ? undefined : powerOnCounted(n, requestedAt);
      });
    if (node?.confirmedOff?.incident === i.id) {
      const late = fleet.workloads.list.filter((e) => e.value.assignment?.node === i.node);
      await Promise.all(late.map((e) => this.take(c, i, e.key)));
      return;
    }
    if (whyOver(i, node) !== undefined)
      await this.incidents.change(i.node, i.id, (now) => closed(now, { fleet, token: c.check() }));
  }

  private changeIncident(
    c: TaskRun,
    { node, id }: IncidentRecord,
    decide: (now: IncidentRecord, by: Conducting) => IncidentRecord | undefined,
  ): ReturnType<IncidentService['change']> {
    return this.incidents.change(node, id, (now) => decide(now, { fleet: this.fleets.now(), token: c.check() }));
  }
}
