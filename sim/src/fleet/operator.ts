import type { Bus } from '#bus';
import {
  isInDoubt,
  MusterError,
  Subjects,
  type CommandAnswer,
  type RpcAnswer,
  type RpcRequest,
  type RpcVerb,
} from '#contracts';
import type { FleetOracle } from './fleet-oracle.js';
import type { Order } from './fleet-event.js';

export interface OperatorParts {
  bus: Bus;
  oracle: FleetOracle;
  tell: (line: string) => void;
}

const BY = { by: 'eve', reason: 'wanted' } as const;
const ANSWER_MS = 5_000;
/** Wall clocks of two hosts, with what one of them gains in a history, ms. */
const CLOCKS_APART_MS = 3_000;

const powerOf = { 'power-on': 'on', 'power-off': 'off', 'power-cycle': 'cycle', 'power-soft': 'soft' } as const;

const forced = (o: { force?: boolean }): { force?: true } => (o.force === true ? { force: true } : {});

/** Who orders something about none has ordered nothing. */
function someOf(ids: readonly string[]): readonly string[] {
  if (ids.length === 0) throw new MusterError('NOT_FOUND', 'there is none');
  return ids;
}

/** As it is counted: what is ordered with force, and each command of a tool, for itself. */
function nameOf(o: Order): string {
  if (o.what === 'command') return `command ${o.command}`;
  return o.what !== 'submit' && 'force' in o && o.force ? `${o.what} with force` : o.what;
}

/** A person at the API: asks once, and believes what is acknowledged. */
export class Operator {
  private paused = 0;
  /** Orders of a mode without an answer, or with one in doubt: each may be written over what is acknowledged after it. */
  private unanswered = 0;
  private edits = 0;
  private isWallTrue = true;

  constructor(private readonly p: OperatorParts) {}

  order(o: Order): void {
    this.carryOut(o).then(
      () => this.p.oracle.probe(`order taken: ${nameOf(o)}`),
      (e: unknown) => {
        const { code, message } = MusterError.from(e);
        this.p.tell(`${nameOf(o)} was refused: ${code} ${message}`);
        this.p.oracle.probe(`order refused: ${nameOf(o)}`);
        if (code === 'INTERNAL') this.p.oracle.violate('failed', `${o.what} ended with ${message}`);
      },
    );
  }

  private async carryOut(o: Order): Promise<void> {
    switch (o.what) {
      case 'confirm':
        return this.ofIncident(o.node, 'confirm', () =>
          this.call('inventory.incidents.confirm', { ...BY, node: o.node, ...forced(o) }),
        );
      case 'cancel':
        return this.ofIncident(o.node, 'cancel', () =>
          this.call('inventory.incidents.cancel', { ...BY, node: o.node }),
        );
      case 'delete':
        return this.ofIncident(o.node, 'delete', () => this.call('inventory.nodes.delete', { ...BY, name: o.node }));
      case 'release':
        await this.call('inventory.incidents.release', { ...BY, node: o.node, ...forced(o) });
        return;
      case 'cordon':
        await this.call('inventory.nodes.cordon', { ...BY, name: o.node });
        return;
      case 'uncordon':
        await this.call('inventory.nodes.uncordon', { ...BY, name: o.node });
        return;
      case 'drain':
        await this.call('inventory.nodes.drain', { ...BY, name: o.node });
        return;
      case 'fence':
        await this.call('inventory.nodes.fence', { ...BY, name: o.node });
        return;
      case 'power-on':
      case 'power-off':
      case 'power-cycle':
      case 'power-soft':
        await this.call('inventory.nodes.power', { ...BY, name: o.node, action: powerOf[o.what] });
        return;
      case 'drill':
        await this.call('inventory.nodes.drill', { ...BY, name: o.node });
        return;
      case 'edit': {
        const device = { id: `bmc-${o.node}`, driver: 'ipmitool', address: `192.0.2.${100 + (this.edits++ % 100)}` };
        await this.call('inventory.nodes.patch', { ...BY, name: o.node, patch: { powerLevels: [[device]] } });
        return;
      }
      case 'replace':
        await this.call('inventory.nodes.replace', { ...BY, name: o.node, replacement: { serial: 'new' } });
        return;
      case 'pause':
        return this.pause(o.forMs);
      case 'enforce':
        this.endPause();
        return this.setMode({ mode: 'enforce' });
      case 'observe': {
        this.endPause();
        const mine = this.paused;
        await this.setMode({ mode: 'observe' });
        // Until somebody orders another mode: by nobody's clock.
        if (this.isLast(mine)) this.p.oracle.paused(Infinity);
        return;
      }
      case 'submit':
        await this.call('inventory.operations.submit', {
          ...BY,
          kind: o.job,
          nodes: [o.node],
          // No machine here is a master, without which none is made a worker. One that is keeps its group.
          ...(o.job === 'commission' && { hostGroup: 'service-worker' }),
          ...(o.force === true && { force: true }),
        });
        return;
      case 'claim':
        await this.call('inventory.claims.create', { ...BY, count: 1, owner: 'scheduler', ttl: 20 });
        return;
      case 'cancel-job':
        return this.cancelJob();
      case 'command':
        return this.command(o.command, o.node);
      case 'storm-confirm':
        for (const id of someOf(this.p.oracle.stormIds)) await this.confirmStorm(id, forced(o));
        return;
      case 'storm-release':
        for (const id of someOf(this.p.oracle.stormIds)) await this.call('inventory.storms.release', { ...BY, id });
    }
  }

  /** What is acknowledged holds for the incident that was open when it was asked for. */
  private async ofIncident(node: string, order: string, act: () => Promise<unknown>): Promise<void> {
    const open = this.p.oracle.incidentOf(node)?.id;
    await act();
    if (open !== undefined) this.p.oracle.acknowledged(open, order);
  }

  /** Nobody knows before it is answered whom of a storm it is about. */
  private async confirmStorm(id: string, o: { force?: true }): Promise<void> {
    const { oracle } = this.p;
    const open = oracle.openIncidents.map(({ node, id }) => [node, id] as const);
    const { nodes } = await this.call('inventory.storms.confirm', { ...BY, id, ...o });
    for (const [node, incident] of open)
      if (nodes.some((n) => n.node === node && n.ok)) oracle.acknowledged(incident, 'confirm');
  }

  private async cancelJob(): Promise<void> {
    const jobs = someOf(this.p.oracle.acceptedJobs);
    await this.call('inventory.jobs.cancel', { by: BY.by, id: jobs.at(-1) ?? '' });
  }

  /** As a tool asks, in plain JSON: its answer says whether it was taken. */
  private async command(command: (Order & { what: 'command' })['command'], node: string): Promise<void> {
    const wanted = {
      check: { nodes: [node] },
      maintenance: { nodes: [node], force: true },
      fence: { node, reason: BY.reason },
      events: { limit: 50 },
    }[command];
    const answer = await this.p.bus.ask<CommandAnswer>(Subjects.command(command), wanted, { timeoutMs: ANSWER_MS });
    if (!answer.ok) throw new MusterError('BAD_REQUEST', `${answer.code} ${answer.message}`);
  }

  /** Counted from the order, not from its acknowledgement. */
  private async pause(forMs: number): Promise<void> {
    const { bus, oracle } = this.p;
    const begun = bus.clock.monotonicMs();
    const mine = ++this.paused;
    // By the wall clock of whoever looks at it, which may be so far ahead.
    const endsMs = begun + forMs - CLOCKS_APART_MS;
    oracle.pauseMayEnd(endsMs);
    const paused = { until: bus.clock.wallMs() + Math.round(forMs), reason: 'a pause' };
    await this.setMode({ mode: 'enforce', paused });
    if (this.isLast(mine) && this.isWallTrue) oracle.paused(endsMs);
  }

  private async setMode(q: Pick<RpcRequest<'inventory.fencing.put'>, 'mode' | 'paused'>): Promise<void> {
    this.unanswered++;
    try {
      await this.call('inventory.fencing.put', { ...BY, ...q });
    } catch (e) {
      if (!isInDoubt(e)) this.unanswered--;
      throw e;
    }
    this.unanswered--;
  }

  /** Nothing that was ordered before or since can be written over this pause. */
  private isLast(pause: number): boolean {
    return pause === this.paused && this.unanswered === 0;
  }

  /** Somebody set the wall clock of a host: there a pause may be over at any time, from now on. */
  wallJumped(): void {
    this.isWallTrue = false;
    this.p.oracle.resumed();
  }

  /** Whatever mode is ordered, a pause goes with it. */
  private endPause(): void {
    this.paused++;
    this.p.oracle.resumed();
  }

  private call<V extends RpcVerb>(verb: V, q: RpcRequest<V>): Promise<RpcAnswer<V>> {
    return this.p.bus.call(verb, q, { timeoutMs: ANSWER_MS });
  }
}
