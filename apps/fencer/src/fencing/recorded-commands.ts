import type { Bus } from '#bus';
import {
  identityBasis,
  type ErrorCode,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
  type PowerVerb,
} from '#contracts';
import { isForEarlierBoot } from '#domain/power/power-wish.js';
import { standsFor } from '#domain/power/whose-device.js';
import { areOtherDevices } from '#domain/power/ordered-devices.js';
import type { IdentifyingPower, TimedOutcome } from '../power/power-control.js';
import { identitiesOf, unrecordedReads, type Attempt } from './attempt.js';
import { withEnd, withIntent } from './incident-log.js';
import type { LeaseTerm } from './lease-term.js';
import type { PowerHold } from './power-hold.js';
import type { Rechecks } from './recheck.js';
import { ownerOf, type Snapshot } from './snapshot.js';

/** A command that changes the power of a device. */
export interface RecordedCommand {
  device: PowerDevice;
  verb: Exclude<PowerVerb, 'status'>;
  /** It may run for so long, ms. */
  limitMs: number;
}

export interface RecordedCommandsParts {
  bus: Bus;
  /** Whose devices they are. */
  node: string;
  term: LeaseTerm;
  hold: PowerHold;
  rechecks: Rechecks;
  power: IdentifyingPower;
  /** Kills a command that runs. */
  signal: AbortSignal;
}

/**
 * Commands that change power: `off`, `on` and `soft`. Each is in the incident's record before it is given, as an intent
 * over the revision that it was decided on, and its end is written after it. What may forbid it is asked twice: before
 * the intent, and after it, as the store may have tried for seconds to write it.
 */
export class RecordedCommands {
  constructor(private readonly parts: RecordedCommandsParts) {}

  /**
   * Gives the command where nothing stands against it. Where something does, nothing is written before the intent, and
   * after it the record says why the command was not given.
   * @throws LEASE_LOST, STALE_TOKEN; REVISION_CONFLICT where the incident was written since
   */
  async give(c: RecordedCommand, s: Snapshot, attempt: Attempt): Promise<void> {
    const { bus, node, term, power, signal } = this.parts;
    const { incident, revision, wish } = s;
    const incidents = bus.bucket<IncidentRecord>('incidents');
    // It may have waited long for its turn.
    if (c.verb === 'off') {
      if (!(await this.parts.rechecks.mayPowerOff(s, attempt))) return;
    } else {
      const now = await bus.bucket<NodeRecord>('nodes').get(node);
      if ((await this.parts.hold.reason(now?.value, wish)) !== undefined) return;
    }
    if (!standsFor(ownerOf(c.device, s, identitiesOf(attempt)), bus.clock.monotonicMs())) return;
    const by = term.author();
    // The limit counts from before the intent: nobody needs to wait longer than that after having seen it.
    const deadline = term.deadline(c.limitMs);
    const reads = attempt.reads.length;
    const command = { device: c.device.id, verb: c.verb, level: incident.level };
    const intent = withIntent(incident, command, unrecordedReads(attempt), by);
    await incidents.update(node, intent.record, revision);
    attempt.recordedReads = reads;
    const facts = { node, incident: incident.id, token: by.token, device: c.device.id, n: intent.n };
    let outcome: TimedOutcome;
    try {
      const withheld = await this.withheld(c, s, attempt);
      term.check();
      if (withheld === undefined) {
        bus.log.info(facts, `power ${c.verb} is given`);
        outcome = await power.run(c.device, c.verb, deadline, signal);
      } else outcome = withheld;
    } finally {
      attempt.endedMs[c.device.id] = bus.clock.monotonicMs();
    }
    const { ok, code, tookMs } = outcome;
    bus.log.info({ ...facts, ok, code, tookMs }, `power ${c.verb} ended`);
    const id = { incident: incident.id, n: intent.n, epoch: by.token };
    await incidents.mutate(node, (now) =>
      now === undefined ? undefined : withEnd(now.value, id, outcome, bus.clock.wallMs()),
    );
  }

  /**
   * What comes of a command that is not given after all. Asked once the intent is written: an edit that comes later finds
   * a command under way.
   */
  private async withheld(c: RecordedCommand, s: Snapshot, attempt: Attempt): Promise<TimedOutcome | undefined> {
    const { bus, rechecks } = this.parts;
    const { device, verb } = c;
    const { incident, wish } = s;
    const node = (await bus.bucket<NodeRecord>('nodes').get(this.parts.node))?.value;
    if (node === undefined) return notGiven('its node is not registered any more', 'INCIDENT_STATE');
    const isEdited = areOtherDevices(incident, node.powerLevels);
    if (verb === 'off' ? isEdited : !isStillOf(node, device)) return notGiven('its power devices were edited');
    if (verb === 'off' && !(await rechecks.stillMayPowerOff(incident, attempt)))
      return notGiven(attempt.recheck?.reason ?? '', 'INCIDENT_STATE');
    // The store may have tried for seconds: a pause or a cordon that was acknowledged meanwhile holds.
    const hold = verb === 'off' ? undefined : await this.parts.hold.reason(node, wish);
    if (hold !== undefined) return notGiven(hold, 'INCIDENT_STATE');
    if (isForEarlierBoot(wish, node.bootId)) return notGiven('its node has rebooted since', 'INCIDENT_STATE');
    const owner = ownerOf(device, { ...s, node }, identitiesOf(attempt));
    if (standsFor(owner, bus.clock.monotonicMs())) return undefined;
    if (owner.is === 'other') return notGiven(owner.why, 'IDENTITY_MISMATCH');
    return notGiven('it did not say in time who it is', 'IDENTITY_UNREAD');
  }
}

const notGiven = (detail: string, code?: ErrorCode): TimedOutcome => ({
  ok: false,
  ...(code !== undefined && { code }),
  detail: `not given: ${detail}`,
  tookMs: 0,
});

/** By its place, and who asks there, it is one of the node's as it is now. */
const isStillOf = (node: NodeRecord, device: PowerDevice): boolean =>
  node.powerLevels.flat().some((d) => d.id === device.id && identityBasis(d) === identityBasis(device));
