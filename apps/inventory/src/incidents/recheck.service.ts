import { Injectable } from '@nestjs/common';
import {
  completeSettings,
  SETTINGS_KEY,
  type IncidentRecord,
  type RpcAnswer,
  type RpcRequest,
  type Verdict,
} from '#contracts';
import { isTakenOver } from '#domain/incident/fencing-leader.js';
import { isNewer } from '#domain/verdict/newer.js';
import { mayCancel, mayGo, wasCommanded } from '#domain/incident/phases.js';
import { go } from '#domain/incident/steps.js';
import { FreshIdentityService } from '../identity/fresh-identity.service.js';
import { heldForCollateral } from '../power/collateral.js';
import { assignedNow } from '../store/assigned-now.js';
import { InventoryStore } from '../store/inventory-store.js';
import { decideIncident } from '#domain/incident/decide-incident.js';
import { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { isOutdatedFencer, outdatedFencer } from '../plan/alarms/outdated-workers.js';
import { VerdictNow } from '../verdicts/verdict-now.js';

type Answer = RpcAnswer<'inventory.incidents.recheck'>;

/**
 * The recheck: asked for by the fencing leader before a power-off. The answer holds for the revision that it names:
 * a cancel, a confirm or a pause writes the same key, so the leader's intent on that revision then fails. Nobody is let go
 * by a token that would be forgotten with bucket `leases`.
 */
@Injectable()
export class RecheckService {
  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
    private readonly verdictNow: VerdictNow,
    private readonly facts: GateFactsService,
    private readonly identity: FreshIdentityService,
  ) {}

  async recheck(q: RpcRequest<'inventory.incidents.recheck'>): Promise<Answer> {
    const { revision, ...incident } = await this.incidents.get(q.node);
    const no = (reason: string): Answer => ({ go: false, reason, revision });
    if (isOutdatedFencer(q.reads)) return no(outdatedFencer(this.store.workers.live()));
    if (incident.id !== q.incident) return no(`The node's incident is ${incident.id} now.`);
    if (incident.phase !== 'fencing') return no(`The incident is ${incident.phase}.`);
    if (isTakenOver(incident, q.epoch))
      return no(`Token ${q.epoch} is older than the one that owns the incident, ${incident.epoch}.`);
    const node = (await this.store.nodes.bucket.get(q.node))?.value;
    if (node === undefined) return no('The node was deleted.');
    const [verdict, identity] = await Promise.all([this.verdictNow.of(q.node), this.identity.of(node)]);
    if (verdict === undefined) return no('No detector answers.');
    const gathered = await this.facts.gather(node, verdict, { cause: incident.cause, incident });
    // Of the same moment: the facts tell of a gap in it.
    const open = this.store.incidents.view.entries().map((e) => e.value);
    // Read anew: a pause that another replica has acknowledged may not have come to this one's view yet.
    const stored = await this.store.settings.bucket.get(SETTINGS_KEY);
    const facts = { ...gathered, settings: stored && completeSettings(stored.value) };
    const d = decideIncident(incident, facts, true);
    const held = d.do === 'fence' && !wasCommanded(incident) ? heldForCollateral(incident, node, open) : undefined;
    if (incident.drill !== undefined && !wasCommanded(incident)) {
      // Any replica may have assigned it, a moment ago: a gap in the view must not power it off.
      const [there] = await assignedNow(this.store.workloads, q.node);
      if (there !== undefined) return { ...no(`${there} was assigned to it since the drill was ordered.`), verdict };
    }
    if (held !== undefined) return { ...no(held.detail), verdict };
    if (d.do === 'fence') {
      // A detector that was replaced may still answer: its verdict is older than what the incident rests on.
      if (incident.verdict !== undefined && isNewer(incident.verdict, verdict))
        return no('The verdict that was answered is older than the one that the incident rests on.');
      await this.store.tokens.keep(q.epoch);
      const reason = `${verdict.verdict}: ${verdict.reason}`;
      return { go: true, reason, revision, verdict, ...(identity !== undefined && { identity }) };
    }
    if (d.do === 'cancel') return this.ended(incident, revision, verdict, 'cancelled', d.reason);
    if (d.do === 'suppress')
      return this.ended(incident, revision, verdict, 'suppressed', `${d.gate.gate}: ${d.gate.detail}`, (next) => {
        next.gate = d.gate.gate;
        next.gates = d.gates;
      });
    return { ...no(d.reason), verdict };
  }

  /** Ends or stops it where no command has been given; the conductor would do the same a moment later. */
  private async ended(
    i: IncidentRecord,
    revision: number,
    verdict: Verdict,
    to: 'cancelled' | 'suppressed',
    reason: string,
    more: (next: IncidentRecord) => void = () => undefined,
  ): Promise<Answer> {
    const written = await this.incidents.change(i.node, i.id, (now, at) => {
      // An order that has joined since is not for a verdict to cancel.
      if (at !== revision || wasCommanded(now) || !(to === 'cancelled' ? mayCancel(now) : mayGo(now, to)))
        return undefined;
      const next = { ...go(now, to, reason, this.store.clock.wallMs()), verdict };
      more(next);
      return next;
    });
    return { go: false, reason, revision: written?.revision ?? revision, verdict };
  }
}
