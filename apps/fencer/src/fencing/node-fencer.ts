import type { Bus, Lease } from '#bus';
import {
  devicesMark,
  identityBasis,
  MusterError,
  READS,
  SETTINGS_KEY,
  type Clock,
  type ClusterSettings,
  type ErrorCode,
  type CommandLog,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
  type PowerVerb,
  type RpcAnswer,
} from '#contracts';
import { isTakenOver } from '#domain/incident/fencing-leader.js';
import type { FenceMemory } from '#domain/power/fence-step.js';
import { counts, isFor, slowAnswers, type RecheckAnswer } from '#domain/power/recheck-answer.js';
import { levelStart } from '#domain/power/levels.js';
import { mayPower } from '#domain/power/may-power.js';
import { nextPowerStep } from '#domain/power/next-step.js';
import type { PowerRead } from '#domain/power/power-read.js';
import { isForEarlierBoot, powerOf, powerWish, type PowerWish } from '#domain/power/power-wish.js';
import { switchOwner, type SwitchMemory } from '#domain/power/switch-step.js';
import {
  denialsAfter,
  deviceOwner,
  guidIsEnough,
  standsFor,
  type DeviceOwner,
  type Identified,
  type IdentityRead,
} from '#domain/power/whose-device.js';
import type { PowerDeadline } from '../drivers/power-driver.js';
import { bmcAddress } from '../drivers/power-driver.js';
import { Urgency, type BmcQueue } from '../power/bmc-queue.js';
import type { IdentifyingPower, TimedOutcome } from '../power/power-control.js';
import {
  toLevel,
  toPhase,
  withDenials,
  withEnd,
  withIntent,
  withProof,
  withReads,
  type Author,
} from './incident-log.js';

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

interface Given {
  device: PowerDevice;
  verb: PowerVerb | 'identify';
  limitMs: number;
}

/** After a failure of the bus the next look is this much later, ms. */
const RETRY_MS = 250;
/** What was seen of one attempt is forgotten with it. */
interface Attempt {
  key: string;
  sinceMs: number;
  reads: PowerRead[];
  /** Reads that are in the record. */
  recordedReads: number;
  endedMs: Record<string, number>;
  recheck?: RecheckAnswer;
  /** Who the devices said they are, as read here. */
  identities: IdentityRead[];
  /** The same as inventory knew it with its last answer that told of it. */
  handed: IdentityRead[];
}

const newAttempt = (key: string, sinceMs: number): Attempt => ({
  ...{ key, sinceMs, reads: [], recordedReads: 0, endedMs: {} },
  ...{ identities: [], handed: [] },
});

const identitiesOf = (a: Attempt): IdentityRead[] => [...a.handed, ...a.identities];

const identifiedBy = (node: NodeRecord | undefined, { denied }: CommandLog): Identified => ({
  ...(node?.powerIdentity !== undefined && { powerIdentity: node.powerIdentity }),
  ...(node?.hardware !== undefined && { hardware: node.hardware }),
  ...(denied !== undefined && { denied }),
});

/** By what is known of it, and what it said shortly before. */
function ownerOf(
  device: PowerDevice,
  wish: PowerWish,
  log: CommandLog,
  node: NodeRecord | undefined,
  attempt: Attempt,
): DeviceOwner {
  const m = { identified: identifiedBy(node, log), identities: identitiesOf(attempt) };
  return wish.verb === 'off' ? deviceOwner(m.identified, device, m.identities) : switchOwner(wish, log, device, m);
}

/** By its place, and who asks there, it is one of the node's as it is now. */
const isStillOf = (node: NodeRecord, device: PowerDevice): boolean =>
  node.powerLevels.flat().some((d) => d.id === device.id && identityBasis(d) === identityBasis(device));

/** @param askedMs inventory was asked then: what it had read was no younger than its age, counted from there */
const handedReads = (
  { ageMs, devices }: NonNullable<RpcAnswer<'inventory.incidents.recheck'>['identity']>,
  askedMs: number,
): IdentityRead[] =>
  devices.map(({ id, basis, seen }) => ({
    ...{ device: id, basis, seen, byOther: true },
    ...{ startedMs: askedMs - ageMs, endedMs: askedMs - ageMs },
  }));

export const concernsFencer = (i: IncidentRecord): boolean => powerWish(i) !== undefined;

/**
 * Carries one node's incident as far as it can, for one term of the lease: looks, lets {@link nextPowerStep} decide, does
 * that, looks again. It trusts nothing but the record as read just now, its own reads and its own clock.
 */
export class NodeFencer {
  private attempt = newAttempt('', 0);
  private readonly busy = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private wakeUp: (() => void) | undefined;
  private woken = false;
  /** A later leader has written in the record. */
  private replaced = false;
  private loggedHold: string | undefined;
  private loggedStop: string | undefined;

  constructor(
    readonly node: string,
    private readonly parts: NodeFencerParts,
  ) {}

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
    while (!this.parts.signal.aborted && !this.replaced) {
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
    await Promise.all(this.running);
  }

  /** False: nothing is left to do here. */
  private async step(): Promise<boolean> {
    const { bus } = this.parts;
    const entry = await bus.bucket<IncidentRecord>('incidents').get(this.node);
    if (entry === undefined) return false;
    const i = entry.value;
    const node = (await bus.bucket<NodeRecord>('nodes').get(this.node))?.value;
    if (await this.recordDenials(i, node, entry.revision)) return true;
    const power = powerOf(i);
    const { wish } = power;
    if (wish === undefined) return false;
    // Nobody else leads while this lease is held: the incident knows a token that its store has forgotten since.
    if (isTakenOver(i, this.check()) && this.parts.lease.raise(i.epoch ?? 0)) return false;
    const levels = node?.powerLevels ?? [];
    const hold = wish.verb === 'off' ? undefined : await this.hold(node, wish);
    this.remember(i, wish, levels.length);
    const author = (): Author => ({ token: this.check(), fencer: this.parts.fencer, at: this.clock.wallMs() });
    const write = (record: IncidentRecord): Promise<number> =>
      bus.bucket<IncidentRecord>('incidents').update(this.node, record, entry.revision);
    const recorded = (by: Author): IncidentRecord => withReads(i, this.unrecordedReads(), by);

    const now = this.clock.monotonicMs();
    const memory = this.memory(i, wish, entry.revision, node);
    const seen = { ...memory, bootId: node?.bootId, ...(hold !== undefined && { hold }) };
    const step = nextPowerStep(power, levels, seen, now);
    switch (step.do) {
      case 'idle':
        return false;
      case 'wait':
        await this.rest(step.untilMs);
        break;
      case 'recheck':
        await this.recheck(i, this.attempt);
        break;
      case 'command':
        for (const c of step.commands) this.give(c, wish, i, entry.revision, node);
        await this.rest(now + 60_000);
        break;
      case 'fenced': {
        const by = author();
        await write(withProof(toPhase(recorded(by), 'fenced', step.detail, by), step.proof, by.at));
        bus.log.debug({ node: this.node, incident: i.id, token: by.token, proof: step.proof.kind }, 'fenced');
        return false;
      }
      case 'failed': {
        const by = author();
        const { lacking } = step;
        const failed = { ...toPhase(recorded(by), 'failed', step.detail, by), retryAt: by.at + step.retryInMs };
        await write({ ...failed, ...(lacking.length > 0 && { lacking }) });
        bus.log.debug({ node: this.node, incident: i.id, detail: step.detail }, 'fencing failed');
        return false;
      }
      case 'next-level': {
        const by = author();
        await write(toLevel(recorded(by), step.level, step.detail, by));
        this.attempt.recordedReads = this.attempt.reads.length;
        bus.log.debug({ node: this.node, incident: i.id, detail: step.detail }, 'next fencing level');
        break;
      }
      case 'done': {
        const by = author();
        const outcome = { done: true, ok: step.ok, detail: step.detail };
        const dealtWith =
          wish.orderer === 'operator'
            ? { order: { ...wish.order, ...outcome } }
            : { powerOn: { wanted: true, requestedAt: by.at, ...i.powerOn, ...outcome } };
        await write({ ...recorded(by), ...dealtWith, epoch: by.token, updatedAt: by.at });
        bus.log.info({ node: this.node, incident: i.id, ok: step.ok }, step.detail);
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
    const by = { token: this.check(), fencer: this.parts.fencer, at };
    await this.parts.bus.bucket<IncidentRecord>('incidents').update(this.node, withDenials(i, denied, by), revision);
    return true;
  }

  /**
   * As of now: nobody writes the incident when a node is cordoned or a pause ends. A cordon does not stand against an
   * operator's own order.
   */
  private async hold(node: NodeRecord | undefined, wish: PowerWish): Promise<string | undefined> {
    const settings = await this.parts.bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY);
    const orderer = wish.orderer === 'operator' ? 'operator' : 'system';
    const permission = mayPower(orderer, settings?.value.fencing, node, this.clock.wallMs());
    const hold = permission.may ? undefined : permission.detail;
    if (hold !== undefined && hold !== this.loggedHold)
      this.parts.bus.log.info({ node: this.node, reason: hold }, 'its power is not switched for now');
    this.loggedHold = hold;
    return hold;
  }

  private remember(i: IncidentRecord, wish: PowerWish, levels: number): void {
    const key = `${i.id}/${i.attempt}/${wish.orderer}/${wish.orderer === 'operator' ? wish.order.at : 0}`;
    if (this.attempt.key === key) return;
    const sinceMs = this.clock.monotonicMs() - levelStart(i.level, levels);
    this.attempt = newAttempt(key, sinceMs);
  }

  private memory(
    i: IncidentRecord,
    wish: PowerWish,
    revision: number,
    node: NodeRecord | undefined,
  ): FenceMemory & SwitchMemory {
    const { sinceMs, reads, endedMs, recheck } = this.attempt;
    const onUntilMs = wish.verb === 'off' ? this.parts.onUntil(i) : undefined;
    return {
      sinceMs,
      reads,
      endedMs,
      busy: [...this.busy],
      revision,
      drivers: this.parts.drivers(),
      quietSinceMs: this.parts.quietSince(i),
      identified: identifiedBy(node, i),
      identities: identitiesOf(this.attempt),
      ...(onUntilMs !== undefined && { onUntilMs }),
      ...(recheck === undefined ? {} : { recheck }),
    };
  }

  private unrecordedReads(): PowerRead[] {
    return this.attempt.reads.slice(this.attempt.recordedReads);
  }

  /** The token, where the term in which this one was started still holds. */
  private check(): number {
    const token = this.parts.lease.check();
    if (token !== this.parts.token) throw new MusterError('LEASE_LOST', 'this term of the fencing lease is over');
    return token;
  }

  /** Does the incident still stand, on the verdict as of now? No answer is a no. */
  private async recheck(i: IncidentRecord, attempt: Attempt): Promise<RecheckAnswer> {
    const settings = await this.settingsRevision();
    const atMs = this.clock.monotonicMs();
    let answer: Pick<RpcAnswer<'inventory.incidents.recheck'>, 'go' | 'reason' | 'revision' | 'identity'>;
    try {
      const request = { node: this.node, incident: i.id, epoch: this.check(), reads: READS.powerRecords };
      answer = await this.parts.bus.call('inventory.incidents.recheck', request);
    } catch (error) {
      const failure = MusterError.from(error);
      if (failure.code === 'LEASE_LOST') throw failure;
      answer = { go: false, reason: `inventory cannot be asked: ${failure.message}`, revision: 0 };
    }
    const { go, reason, revision } = answer;
    const slow = slowAnswers(attempt.recheck, this.clock.monotonicMs() - atMs);
    const recheck: RecheckAnswer = { atMs, go, reason, revision, settings, slow };
    attempt.recheck = recheck;
    if (answer.identity !== undefined) attempt.handed = handedReads(answer.identity, atMs);
    if (!go && reason !== this.loggedStop)
      this.parts.bus.log.info({ node: this.node, reason }, 'fencing is not to go on now');
    this.loggedStop = go ? undefined : reason;
    return recheck;
  }

  private async settingsRevision(): Promise<number> {
    return (await this.parts.bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY))?.revision ?? 0;
  }

  /**
   * Right before the intent of an `off`, which may have waited long for its turn: an answer that has aged, or that was
   * given before the settings were changed, is asked for anew.
   */
  private async mayPowerOff(i: IncidentRecord, revision: number, attempt: Attempt): Promise<boolean> {
    const settings = await this.settingsRevision();
    let answer = attempt.recheck;
    if (answer?.settings !== settings || !counts(answer, this.clock.monotonicMs()))
      answer = await this.recheck(i, attempt);
    return isFor(answer, revision) && counts(answer, this.clock.monotonicMs());
  }

  /** The same after the intent: the store may have tried for seconds to write it. */
  private async stillMayPowerOff(i: IncidentRecord, attempt: Attempt): Promise<boolean> {
    if (counts(attempt.recheck, this.clock.monotonicMs())) return true;
    const answer = await this.recheck(i, attempt);
    return counts(answer, this.clock.monotonicMs());
  }

  /** Starts a command beside the loop, which goes on when it has ended. */
  private give(c: Given, wish: PowerWish, i: IncidentRecord, revision: number, node: NodeRecord | undefined): void {
    this.busy.add(c.device.id);
    const task: Promise<void> = this.carryOut(c, wish, i, revision, node)
      .catch((error: unknown) => {
        const failure = MusterError.from(error);
        this.replaced ||= failure.code === 'STALE_TOKEN';
        if (failure.code !== 'REVISION_CONFLICT' && failure.code !== 'LEASE_LOST')
          this.parts.bus.log.warn(
            { node: this.node, device: c.device.id, code: failure.code, reason: failure.message },
            `command not given, and decided anew: where that lasts, see muster incident get ${this.node}`,
          );
      })
      .finally(() => {
        this.busy.delete(c.device.id);
        this.running.delete(task);
        this.wake();
      });
    this.running.add(task);
  }

  private async carryOut(
    c: Given,
    wish: PowerWish,
    i: IncidentRecord,
    revision: number,
    node: NodeRecord | undefined,
  ): Promise<void> {
    const urgency = c.verb === 'off' ? Urgency.off : Urgency.proof;
    const turn = await this.parts.queue.turn(bmcAddress(c.device), urgency, this.parts.signal);
    if (turn === undefined) return;
    try {
      if (c.verb === 'status') await this.read(c, i.level);
      else if (c.verb === 'identify') await this.identify(c, node ?? {});
      else await this.order({ ...c, verb: c.verb }, wish, i, revision, node);
    } finally {
      turn.end();
    }
  }

  private limitNs(c: Given): bigint {
    return this.clock.monotonicNs() + BigInt(Math.round(c.limitMs * 1e6));
  }

  private async read(c: Given, level: number): Promise<void> {
    const attempt = this.attempt;
    const limitNs = this.limitNs(c);
    this.check();
    const at = this.clock.wallMs();
    const startedMs = this.clock.monotonicMs();
    const outcome = await this.parts.power.run(c.device, 'status', this.deadline(limitNs), this.parts.signal);
    attempt.reads.push({
      device: c.device.id,
      level,
      power: outcome.power ?? 'unknown',
      ...(outcome.code === undefined ? {} : { code: outcome.code }),
      ...(outcome.detail === undefined ? {} : { detail: outcome.detail }),
      startedMs,
      endedMs: this.clock.monotonicMs(),
      at,
    });
  }

  /** Who does the device say it is? Neither its power nor the record is changed. */
  private async identify(c: Given, node: Pick<NodeRecord, 'powerIdentity'>): Promise<void> {
    const { device } = c;
    const attempt = this.attempt;
    const deadline = this.deadline(this.limitNs(c));
    this.check();
    const startedMs = this.clock.monotonicMs();
    const { signal } = this.parts;
    const said = await this.parts.power.identify(device, { deadline, quick: guidIsEnough(node, device), signal });
    const before = attempt.identities.findLast((r) => r.device === device.id);
    attempt.identities.push({
      device: device.id,
      basis: identityBasis(device),
      ...(said.seen === undefined ? { code: said.code, detail: said.detail } : { seen: said.seen }),
      startedMs,
      endedMs: this.clock.monotonicMs(),
    });
    if (said.seen === undefined && said.code !== before?.code)
      this.parts.bus.log.info(
        { node: this.node, device: device.id, code: said.code, reason: said.detail },
        'the power device did not say who it is',
      );
  }

  private async order(
    c: Given & { verb: Exclude<PowerVerb, 'status'> },
    wish: PowerWish,
    i: IncidentRecord,
    revision: number,
    node: NodeRecord | undefined,
  ): Promise<void> {
    const attempt = this.attempt;
    const incidents = this.parts.bus.bucket<IncidentRecord>('incidents');
    // It may have waited long for its turn.
    if (c.verb === 'off') {
      if (!(await this.mayPowerOff(i, revision, attempt))) return;
    } else {
      const now = await this.parts.bus.bucket<NodeRecord>('nodes').get(this.node);
      if ((await this.hold(now?.value, wish)) !== undefined) return;
    }
    if (!standsFor(ownerOf(c.device, wish, i, node, attempt), this.clock.monotonicMs())) return;
    const by: Author = { token: this.check(), fencer: this.parts.fencer, at: this.clock.wallMs() };
    // The limit counts from before the intent: nobody needs to wait longer than that after having seen it.
    const limitNs = this.limitNs(c);
    const reads = attempt.reads.length;
    const intent = withIntent(i, { device: c.device.id, verb: c.verb, level: i.level }, this.unrecordedReads(), by);
    await incidents.update(this.node, intent.record, revision);
    attempt.recordedReads = reads;
    const facts = { node: this.node, incident: i.id, token: by.token, device: c.device.id, n: intent.n };
    let outcome: TimedOutcome;
    try {
      const withheld = await this.withheld(c, wish, i, attempt);
      this.check();
      if (withheld === undefined) {
        this.parts.bus.log.info(facts, `power ${c.verb} is given`);
        outcome = await this.parts.power.run(c.device, c.verb, this.deadline(limitNs), this.parts.signal);
      } else outcome = withheld;
    } finally {
      attempt.endedMs[c.device.id] = this.clock.monotonicMs();
    }
    this.parts.bus.log.info(
      { ...facts, ok: outcome.ok, code: outcome.code, tookMs: outcome.tookMs },
      `power ${c.verb} ended`,
    );
    const id = { incident: i.id, n: intent.n, epoch: by.token };
    await incidents.mutate(this.node, (now) =>
      now === undefined ? undefined : withEnd(now.value, id, outcome, this.clock.wallMs()),
    );
  }

  /**
   * What comes of a command that is not given after all. Asked once the intent is written: an edit that comes later finds a
   * command under way.
   */
  private async withheld(
    { device, verb }: Given,
    wish: PowerWish,
    i: IncidentRecord,
    attempt: Attempt,
  ): Promise<TimedOutcome | undefined> {
    const not = (detail: string, code?: ErrorCode): TimedOutcome => ({
      ok: false,
      ...(code !== undefined && { code }),
      detail: `not given: ${detail}`,
      tookMs: 0,
    });
    const node = (await this.parts.bus.bucket<NodeRecord>('nodes').get(this.node))?.value;
    if (node === undefined) return not('its node is not registered any more', 'INCIDENT_STATE');
    const isEdited = i.devices !== undefined && i.devices !== devicesMark(node.powerLevels);
    if (verb === 'off' ? isEdited : !isStillOf(node, device)) return not('its power devices were edited');
    if (verb === 'off' && !(await this.stillMayPowerOff(i, attempt)))
      return not(attempt.recheck?.reason ?? '', 'INCIDENT_STATE');
    // The store may have tried for seconds: a pause or a cordon that was acknowledged meanwhile holds.
    const hold = verb === 'off' ? undefined : await this.hold(node, wish);
    if (hold !== undefined) return not(hold, 'INCIDENT_STATE');
    if (isForEarlierBoot(wish, node.bootId)) return not('its node has rebooted since', 'INCIDENT_STATE');
    const owner = ownerOf(device, wish, i, node, attempt);
    if (standsFor(owner, this.clock.monotonicMs())) return undefined;
    if (owner.is === 'other') return not(owner.why, 'IDENTITY_MISMATCH');
    return not('it did not say in time who it is', 'IDENTITY_UNREAD');
  }

  /** Never later than the lease of this term, which may be renewed while the command runs. */
  private deadline(limitNs: bigint): PowerDeadline {
    return {
      atNs: () => {
        const { lease, token } = this.parts;
        const until = lease.held && lease.token === token ? lease.validUntil : 0n;
        return until < limitNs ? until : limitNs;
      },
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
