import { MusterError, type OperationRequest, type RpcRequest } from '#contracts';
import type { LeaseRecord } from '#bus';
import { keyedJobId } from '../operations/request-key.js';
import { startsFrom } from './operations-model.js';
import type { Dice } from '#contracts/testing/dice.js';
import type { RunningInventory } from './running-inventory.js';
import { StandInProvisioner } from './stand-in-provisioner.js';

const BY = 'history';
/** A request whose replica was killed is not answered at all, ms. */
const ANSWER_MS = 1500;

export type Mix = Record<'request' | 'work' | 'cancel' | 'hear' | 'claim', number>;

/** Small random steps against a real inventory, and what came of them. */
export class RandomOperations {
  readonly provisioner: StandInProvisioner;
  /** Jobs that were promised to a caller. */
  readonly accepted = new Set<string>();
  /** Ids that the jobs of refused requests would have. */
  readonly refused = new Set<string>();
  /** Codes of refusals, with how often each came. */
  readonly refusals = new Map<string, number>();
  steps = 0;
  private readonly claims = new Set<string>();
  private readonly keyed = new Map<string, OperationRequest>();

  constructor(
    private readonly sut: RunningInventory,
    private readonly names: readonly string[],
    private readonly dice: Dice,
  ) {
    this.provisioner = new StandInProvisioner(sut.as('provisioner'), sut.jobs, dice);
  }

  async step(mix: Mix, o: { failures: boolean; request: () => OperationRequest }): Promise<void> {
    this.steps += 1;
    switch (this.dice.weighted(mix)) {
      case 'work':
        if (await this.provisioner.step(o)) return;
        return this.request(o.request());
      case 'request':
        return this.request(o.request());
      case 'cancel':
        return this.cancel();
      case 'hear':
        return this.hear();
      case 'claim':
        return this.claim();
    }
  }

  /** Of every kind, right and wrong, on nodes that others want too. */
  anyRequest(): OperationRequest {
    const d = this.dice;
    const kind = d.of(['commission', 'decommission', 'maintenance', 'check', 'resetup', 'discover']);
    if (kind === 'discover')
      return { kind, addresses: d.chance(0.1) ? ['nowhere'] : [`10.9.${d.below(2)}.${d.below(20)}`] };
    const nodes = d.chance(0.03) ? [] : d.some(d.chance(0.7) ? this.readyFor(kind) : this.names, 3);
    if (d.chance(0.04)) nodes.push('nobody-1');
    const group = d.chance(0.05)
      ? 'foo'
      : d.chance(0.3)
        ? undefined
        : d.of(['service-master', 'service-worker', 'service-worker']);
    return { kind, nodes, ...(group !== undefined && { hostGroup: group }) };
  }

  /** Nodes that could take it as they are; any, where there is none. */
  private readyFor(kind: OperationRequest['kind']): readonly string[] {
    const ready = this.names.filter((name) => {
      const n = this.sut.nodes.get(name)?.value;
      return n?.state === 'Discovered' && startsFrom[kind].includes(n.status);
    });
    return ready.length > 0 ? ready : this.names;
  }

  /** One node that comes, goes or changes sides: where two requests can break a rule together. */
  roleRequest(names: readonly string[]): OperationRequest {
    const d = this.dice;
    const kind = d.of(['commission', 'decommission', 'decommission', 'maintenance']);
    const nodes = [d.maybeOf(names) ?? ''];
    return kind === 'decommission'
      ? { kind, nodes }
      : { kind, nodes, hostGroup: d.of(['service-master', 'service-worker']) };
  }

  /** The code of its refusal; undefined: it was accepted. */
  async ask(r: OperationRequest): Promise<string | undefined> {
    this.steps += 1;
    try {
      const { job } = await this.call('inventory.operations.submit', { ...r, by: BY });
      this.accepted.add(job);
      return undefined;
    } catch (e) {
      return MusterError.from(e).code;
    }
  }

  /** All that stand, also those whose answer was lost. */
  async releaseClaims(): Promise<void> {
    const { items } = await this.sut.as('gateway').call('inventory.claims.list', {});
    for (const { id } of items) await this.call('inventory.claims.delete', { id, by: BY });
    this.claims.clear();
  }

  /** The instance that holds the conductor's lease. */
  async conductor(): Promise<string> {
    return (await this.sut.as('inventory').bucket<LeaseRecord>('leases').get('conductor'))?.value.holder ?? '';
  }

  private async request(r: OperationRequest): Promise<void> {
    const key = this.dice.chance(0.3) ? `k${this.dice.below(400)}` : undefined;
    // Now and then the same once more, as a client does that got no answer.
    const asked = (key !== undefined && this.keyed.get(key)) || r;
    if (key !== undefined) this.keyed.set(key, asked);
    const id = key === undefined ? undefined : keyedJobId(BY, key);
    try {
      const { job } = await this.call('inventory.operations.submit', {
        ...asked,
        by: BY,
        ...(key !== undefined && { key }),
      });
      this.accepted.add(job);
      if (id !== undefined) this.refused.delete(id);
    } catch (e) {
      const { code } = MusterError.from(e);
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
      if (!isAnswer(code)) {
        // Nobody knows what became of it.
        if (id !== undefined) this.refused.delete(id);
      } else if (id !== undefined && !this.accepted.has(id)) this.refused.add(id);
    }
  }

  private async cancel(): Promise<void> {
    const jobs = this.provisioner.open;
    const job = this.dice.chance(0.1) ? 'job-of-nobody' : this.dice.maybeOf(jobs)?.key;
    if (job !== undefined) await this.attempt('inventory.jobs.cancel', { id: job, by: BY });
  }

  /** An external monitor has lost a node, or hears it again. */
  private async hear(): Promise<void> {
    const name = this.dice.maybeOf(this.names) ?? '';
    const addr = this.sut.nodes.get(name)?.value.networks['management']?.address ?? '10.9.0.0';
    const event = this.dice.chance(0.2) ? 'disappeared' : 'discovered';
    const nodes = [{ label: name.split('-')[0] ?? '', serial: '1', addr }];
    await this.attempt('inventory.monitor.event', { by: BY, event, nodes });
  }

  private async claim(): Promise<void> {
    const own = [...this.claims][0];
    if (own !== undefined && this.dice.chance(0.6)) {
      this.claims.delete(own);
      await this.attempt('inventory.claims.delete', { id: own, by: BY });
      return;
    }
    const claim = await this.attempt('inventory.claims.create', { by: BY, owner: BY, count: 1 + this.dice.below(2) });
    if (claim) this.claims.add(claim.id);
  }

  private async attempt<V extends Attempted>(verb: V, request: RpcRequest<V>) {
    try {
      return await this.call(verb, request);
    } catch (e) {
      const { code } = MusterError.from(e);
      if (code === 'INTERNAL') throw e;
      return undefined;
    }
  }

  private call<V extends Attempted | 'inventory.operations.submit'>(verb: V, request: RpcRequest<V>) {
    return this.sut.as('gateway').call(verb, request, { timeoutMs: ANSWER_MS });
  }
}

type Attempted =
  'inventory.jobs.cancel' | 'inventory.monitor.event' | 'inventory.claims.create' | 'inventory.claims.delete';

/** The request was refused, rather than lost on the way. */
const isAnswer = (code: string): boolean =>
  !['TIMEOUT', 'BUS_UNAVAILABLE', 'NO_RESPONDER', 'REVISION_CONFLICT'].includes(code);
