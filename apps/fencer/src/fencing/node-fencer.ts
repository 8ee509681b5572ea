import type { Bus, Lease } from '#bus';
import { MusterError, type Clock, type IncidentRecord, type NodeRecord } from '#contracts';
import { isTakenOver } from '#domain/incident/fencing-leader.js';
import type { FenceMemory } from '#domain/power/fence-step.js';
import { levelStart } from '#domain/power/levels.js';
import { nextPowerStep } from '#domain/power/next-step.js';
import { powerOf, powerWish } from '#domain/power/power-wish.js';
import type { SwitchMemory } from '#domain/power/switch-step.js';
import { denialsAfter } from '#domain/power/whose-device.js';
import type { BmcQueue } from '../power/bmc-queue.js';
import type { IdentifyingPower } from '../power/power-control.js';
import { attemptKey, identitiesOf, newAttempt, unrecordedReads, type Attempt } from './attempt.js';
import { DeviceCommands } from './device-commands.js';
import { toDone, toFailed, toFenced, toLevel, withDenials, withReads, type Author } from './incident-log.js';
import { LeaseTerm } from './lease-term.js';
import { PowerHold } from './power-hold.js';
import { Rechecks } from './recheck.js';
import { RecordedCommands } from './recorded-commands.js';
import { identifiedBy, type Snapshot } from './snapshot.js';

export interface NodeFencerParts {
  bus: Bus;
  lease: Lease;
  /** Token of the term in which this one acts; a later term has its own. */
  token: number;
  power: IdentifyingPower;
  queue: BmcQueue;
  drivers: () => string[];
  fencer: string;
  /** When this process first saw the incident's last `off` as it stands, own monotonic clock, ms. */
  quietSince: (i: IncidentRecord) => number;
  /** Until when an `on` of before may be carried out; the same clock. */
  onUntil: (i: IncidentRecord) => number | undefined;
  /** Aborted when the lease is lost or the service stops. */
  signal: AbortSignal;
}

/** After a failure of the bus the next look is this much later, ms. */
const RETRY_MS = 250;
/** While commands are under way the next look is this much later, ms; one that ends wakes earlier. */
const COMMANDED_MS = 60_000;

/** Does the incident want anything of its node's power? */
export const concernsFencer = (i: IncidentRecord): boolean => powerWish(i) !== undefined;

/**
 * Carries one node's incident as far as it can, for one term of the lease: looks, lets {@link nextPowerStep} decide, does
 * that, looks again. It trusts nothing but the record as read just now, its own reads and its own clock.
 */
export class NodeFencer {
  private readonly term: LeaseTerm;
  private readonly hold: PowerHold;
  private readonly rechecks: Rechecks;
  private readonly commands: DeviceCommands;
  private attempt = newAttempt('', 0);
  private wakeUp: (() => void) | undefined;
  private woken = false;

  constructor(
    readonly node: string,
    private readonly parts: NodeFencerParts,
  ) {
    const { bus, lease, token, fencer, power, queue, signal } = parts;
    const term = new LeaseTerm({ lease, token, fencer, clock: bus.clock });
    const hold = new PowerHold(bus, node);
    const rechecks = new Rechecks({ bus, node, term });
    const recorded = new RecordedCommands({ bus, node, term, hold, rechecks, power, signal });
    const attempt = (): Attempt => this.attempt;
    const onEnd = (): void => this.wake();
    this.term = term;
    this.hold = hold;
    this.rechecks = rechecks;
    this.commands = new DeviceCommands({ bus, node, term, recorded, power, queue, attempt, signal, onEnd });
  }

  private get clock(): Clock {
    return this.parts.bus.clock;
  }

  /** The record has changed. */
  wake(): void {
    this.woken = true;
    this.wakeUp?.();
  }

  /** Ends when the incident no longer concerns the fencer, or the right to act is over. */
  async run(): Promise<void> {
    while (!this.parts.signal.aborted && !this.commands.replaced) {
      this.woken = false;
      try {
        if (!(await this.step())) break;
      } catch (error) {
        const failure = MusterError.from(error);
        if (failure.code === 'LEASE_LOST' || failure.code === 'STALE_TOKEN') {
          const { code, message: reason } = failure;
          this.parts.bus.log.warn({ node: this.node, code, reason }, 'fencing is left to another leader');
          break;
        }
        // Somebody wrote first: what was decided on is no longer so.
        if (failure.code === 'REVISION_CONFLICT') continue;
        this.parts.bus.log.warn(
          { node: this.node, code: failure.code, reason: failure.message },
          `fencing is delayed, and tried again: where that lasts, see muster incident get ${this.node}`,
        );
        await this.rest(this.clock.monotonicMs() + RETRY_MS);
      }
    }
    await this.commands.ended();
  }

  /** False: nothing is left to do here. */
  private async step(): Promise<boolean> {
    const { bus } = this.parts;
    const entry = await bus.bucket<IncidentRecord>('incidents').get(this.node);
    if (entry === undefined) return false;
    const { value: incident, revision } = entry;
    const node = (await bus.bucket<NodeRecord>('nodes').get(this.node))?.value;
    if (await this.recordDenials(incident, node, revision)) return true;
    const power = powerOf(incident);
    const { wish } = power;
    if (wish === undefined) return false;
    // Nobody else leads while this lease is held: the incident knows a token that its store has forgotten since.
    if (isTakenOver(incident, this.term.check()) && this.parts.lease.raise(incident.epoch ?? 0)) return false;
    const hold = wish.verb === 'off' ? undefined : await this.hold.reason(node, wish);
    const seen: Snapshot = { incident, revision, wish, node };
    this.remember(seen);
    const recorded = (by: Author): IncidentRecord => withReads(incident, unrecordedReads(this.attempt), by);
    const write = (record: IncidentRecord): Promise<number> =>
      bus.bucket<IncidentRecord>('incidents').update(this.node, record, revision);

    const now = this.clock.monotonicMs();
    const step = nextPowerStep(power, node?.powerLevels ?? [], this.memory(seen, hold), now);
    switch (step.do) {
      case 'idle':
        return false;
      case 'wait':
        await this.rest(step.untilMs);
        break;
      case 'recheck':
        await this.rechecks.ask(incident, this.attempt);
        break;
      case 'command':
        for (const c of step.commands) this.commands.start(c, seen);
        await this.rest(now + COMMANDED_MS);
        break;
      case 'fenced': {
        const by = this.term.author();
        await write(toFenced(recorded(by), step, by));
        bus.log.debug({ node: this.node, incident: incident.id, token: by.token, proof: step.proof.kind }, 'fenced');
        return false;
      }
      case 'failed': {
        const by = this.term.author();
        await write(toFailed(recorded(by), step, by));
        bus.log.debug({ node: this.node, incident: incident.id, detail: step.detail }, 'fencing failed');
        return false;
      }
      case 'next-level': {
        const by = this.term.author();
        // A read that ends during the write is not in it.
        const reads = this.attempt.reads.length;
        await write(toLevel(recorded(by), step.level, step.detail, by));
        this.attempt.recordedReads = reads;
        bus.log.debug({ node: this.node, incident: incident.id, detail: step.detail }, 'next fencing level');
        break;
      }
      case 'done': {
        const by = this.term.author();
        await write(toDone(recorded(by), wish, step, by));
        bus.log.info({ node: this.node, incident: incident.id, ok: step.ok }, step.detail);
        return false;
      }
    }
    return true;
  }

  /**
   * What devices said that are not the node's is written before anything else is decided: what they refuse to say
   * in another attempt, or to another leader, would stand for nothing but that. False: nothing is new.
   */
  private async recordDenials(i: IncidentRecord, node: NodeRecord | undefined, revision: number): Promise<boolean> {
    if (node === undefined) return false;
    const at = this.clock.wallMs();
    const identified = { ...identifiedBy(node, i), powerLevels: node.powerLevels };
    const denied = denialsAfter(identified, identitiesOf(this.attempt), at);
    if (denied === undefined) return false;
    const record = withDenials(i, denied, this.term.author(at));
    await this.parts.bus.bucket<IncidentRecord>('incidents').update(this.node, record, revision);
    return true;
  }

  private remember({ incident, wish, node }: Snapshot): void {
    const key = attemptKey(incident, wish);
    if (this.attempt.key === key) return;
    const sinceMs = this.clock.monotonicMs() - levelStart(incident.level, node?.powerLevels.length ?? 0);
    this.attempt = newAttempt(key, sinceMs);
  }

  /** @param hold what forbids to switch its power now, if anything */
  private memory({ incident, revision, wish, node }: Snapshot, hold: string | undefined): FenceMemory & SwitchMemory {
    const { sinceMs, reads, endedMs, recheck } = this.attempt;
    const onUntilMs = wish.verb === 'off' ? this.parts.onUntil(incident) : undefined;
    return {
      sinceMs,
      reads,
      endedMs,
      busy: this.commands.busy,
      revision,
      drivers: this.parts.drivers(),
      quietSinceMs: this.parts.quietSince(incident),
      identified: identifiedBy(node, incident),
      identities: identitiesOf(this.attempt),
      bootId: node?.bootId,
      ...(onUntilMs !== undefined && { onUntilMs }),
      ...(recheck !== undefined && { recheck }),
      ...(hold !== undefined && { hold }),
    };
  }

  private rest(untilMs: number): Promise<void> {
    if (this.woken || this.parts.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        timer.cancel();
        this.wakeUp = undefined;
        this.parts.signal.removeEventListener('abort', go);
        resolve();
      };
      const timer = this.clock.after(Math.max(1, untilMs - this.clock.monotonicMs()), go);
      this.wakeUp = go;
      this.parts.signal.addEventListener('abort', go);
    });
  }
}
