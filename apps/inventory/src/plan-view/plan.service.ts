import { Injectable } from '@nestjs/common';
import { isEndedJob, isOpenIncident, Subjects, type PlanView, type RpcAnswer, type RpcRequest } from '#contracts';
import { isOrderPending } from '#domain/incident/pending-order.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { ServiceContext } from '#service';
import { ConductorService } from '../conductor/conductor.service.js';
import { PlanExecutor } from '../execute/plan-executor.js';
import { PermitService } from '../incidents/permit.service.js';
import { unknownNode } from '../nodes/node.service.js';
import { ageIn } from '../plan/incidents/incident-facts.js';
import { incidentViews } from '../plan/incidents/incident-views.js';
import { incidents } from '../plan/incidents/incidents.js';
import { stormViews } from '../plan/incidents/storm-facts.js';
import { storms } from '../plan/incidents/storms.js';
import { isUnsettled } from '../plan/jobs/settlement.js';
import { absences, absenceViews } from '../plan/nodes/absences.js';
import { cordonEnd, endingCordons } from '../plan/nodes/cordon-end.js';
import { checksCalledOff, checksToCallOff } from '../plan/checks/checks-called-off.js';
import { checksNow, periodicChecks } from '../plan/checks/periodic-checks.js';
import type { Concern } from '../plan/concern.js';
import { recovery, recoveryViews } from '../plan/recovery/recovery.js';
import { returns, returnsNow } from '../plan/returns/returns.js';
import { moves, movesView } from '../plan/workloads/moves.js';
import { placesFor } from '../plan/workloads/room.js';
import { startSteps } from '../plan/workloads/start-steps.js';
import { starts } from '../plan/workloads/starts.js';
import { stops, stopViews } from '../plan/workloads/stops.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import type { Ages } from '../snapshot/ages.js';
import type { Fleet } from '../snapshot/fleet.js';
import { InventoryStore } from '../store/inventory-store.js';
import type { PlanFacts, PowerPreview } from './plan-facts.js';
import { planItems } from './plan-items.js';
import { planFailure } from './plan-failure.js';

/** For so long the conductor is asked, ms: it asks the detector itself, which has 800 ms. */
const ANSWER_MS = 2_000;

type Request = RpcRequest<'inventory.plan'>;

/** Gathers what each decider would do as of now. Only the conductor's own ages are true, so only it answers. */
@Injectable()
export class PlanService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    conductor: ConductorService,
    private readonly permits: PermitService,
    private readonly plans: PlanExecutor,
    private readonly quarantine: PowerQuarantine,
  ) {
    conductor.answer<Request, PlanView>(Subjects.conductorPlan(), (q, token) => this.own(q, token));
  }

  /**
   * By whichever process is the conductor.
   * @throws MusterError NODE_UNKNOWN; NOT_LEADER where nobody is the conductor, CONDUCTOR_SLOW where it does not answer in time
   */
  async plan(q: Request): Promise<RpcAnswer<'inventory.plan'>> {
    try {
      return await this.context.bus.ask<PlanView>(Subjects.conductorPlan(), q, { timeoutMs: ANSWER_MS });
    } catch (cause) {
      throw planFailure(cause, ANSWER_MS);
    }
  }

  private async own({ node }: Request, token: number): Promise<PlanView> {
    if (node !== undefined && this.store.nodes.view.get(node) === undefined) throw unknownNode(node);
    const facts = await this.facts();
    const items = planItems(facts);
    const { watchGap: stale } = this.store;
    return {
      at: this.context.clock.wallMs(),
      conductor: this.context.config.instance,
      token,
      mode: facts.fencing.mode,
      ...(stale !== undefined && { stale }),
      items: node === undefined ? items : items.filter((i) => i.nodes.includes(node)),
    };
  }

  private async facts(): Promise<PlanFacts> {
    const { store } = this;
    const now = await this.plans.findOut(incidents);
    const dead = incidentViews(now.fleet, {
      age: ageIn(now.ages),
      found: now.found,
      permit: (i, node) => this.permits.preview(i, node),
    });
    const workloads = store.workloads.view.entries().map((e) => e.value);
    // What the detector had to be asked for is here: from now on nothing is waited for, and all is of one moment.
    const dying = new Set(dead.open.map((p) => p.incident.node));
    const doomed = workloads.filter((w) => w.desired === 'running' && dying.has(w.assignment?.node ?? ''));
    const places = placesFor(this.plans.asOf(starts).fleet, doomed);
    return {
      fencing: store.clusterSettings.fencing,
      incidents: dead,
      dead: doomed.flatMap((w) => {
        const place = places.made.get(w.name);
        return place === undefined ? [] : [{ workload: w.name, from: w.assignment?.node ?? '', place }];
      }),
      power: this.power(),
      storms: this.shown(storms, (fleet) => stormViews(fleet, fleet.storms)),
      workloads: this.shown(starts, (fleet, ages) => startSteps(fleet, ages).made),
      stops: this.shown(stops, stopViews),
      absences: this.shown(absences, absenceViews),
      moves: this.shown(moves, movesView),
      checks: {
        begin: this.shown(periodicChecks, checksNow).made,
        off: this.shown(checksCalledOff, checksToCallOff).made,
      },
      returns: this.shown(returns, returnsNow),
      jobs: store.jobs.view
        .entries()
        .map((e) => e.value)
        .filter((j) => !isEndedJob(j) || isUnsettled(j)),
      cordons: this.shown(cordonEnd, endingCordons),
      wallMs: this.context.clock.wallMs(),
    };
  }

  /** By the ages of who acts. */
  private shown<C extends string, T>(concern: Concern<C>, views: (fleet: Fleet, ages: Ages<C>) => T): T {
    const { fleet, ages } = this.plans.asOf(concern);
    return views(fleet, ages);
  }

  private power(): PowerPreview[] {
    const { store } = this;
    const views = new Map(this.shown(recovery, recoveryViews).map((v) => [v.incident.id, v]));
    return store.incidents.view.entries().flatMap(({ value: incident }): PowerPreview[] => {
      const isOurs = (isOpenIncident(incident) && isAfterOff(incident)) || isOrderPending(incident);
      if (!isOurs || incident.unreadable !== undefined) return [];
      return [
        {
          isContradicted: false,
          ...views.get(incident.id),
          incident,
          node: store.nodes.view.get(incident.node)?.value,
          quarantineLeftMs: this.quarantine.leftMs(incident),
        },
      ];
    });
  }
}
