import { POWER_QUARANTINE_MS, type IncidentRecord, type PowerCommand } from '#contracts';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import type { Chassis } from '../hands/chassis.js';
import { freshIntents, intentKey, isPowerOwed, SLOWEST } from '../hands/hands-oracle.js';
import type { SentCommand } from '../hands/played-power.js';
import type { Findings } from './fleet-rules.js';

export interface PowerWorld {
  chassis: ReadonlyMap<string, Chassis>;
  /** The monitor's last word of a machine is that it is well. */
  isCalledUp: (node: string) => boolean;
}

/** What is so little past the end of the quarantine, ms, is right at it. */
const JUST_OVER_MS = 1_000;

/** From when a power-on is wanted until its node is read as on, at most, ms: the quarantine, a slow BMC, and one that is asked again. */
const POWER_ON_WITHIN_MS = POWER_QUARANTINE_MS + 15_000;

/** What may be done to the power of a node after what was ordered, acknowledged or given before. Times in virtual ms. */
export class PowerOracle {
  /** Incident → what was acknowledged: no intent is written in it any more, but a power-on where that follows. */
  private readonly over = new Map<string, string>();
  /** Incident → when a person last wanted its node off: ordered it, ordered it too, or released it. */
  private readonly wantedMs = new Map<string, number>();
  /** Incident → when an off of it was last sent. */
  private readonly offSentMs = new Map<string, number>();
  /** Node → its last `off` as it stands in the record, see {@link offKey}, and since when. */
  private readonly offs = new Map<string, { key: string; sinceMs: number }>();
  /** Incident → since when the power-on of its node is wanted. */
  private readonly onWantedMs = new Map<string, number>();

  constructor(
    private readonly f: Findings,
    private readonly w: PowerWorld,
  ) {}

  /** An order was acknowledged after which the incident that was open then gives no command. */
  acknowledged(incident: string, order: string): void {
    this.over.set(incident, order);
  }

  commandSent(node: string, c: SentCommand, i: IncidentRecord | undefined): void {
    if (c.verb === 'on') this.judgeOn(node, c);
    if (c.verb === 'off' && i !== undefined) this.offSentMs.set(i.id, this.f.now());
  }

  /**
   * A person wants it off although it lives. That lasts as long as the order is carried out. What has booted since the order
   * was not meant by it, unless the monitor heard the machine then and no off was sent in between.
   */
  isWanted(node: string, i: IncidentRecord, livesSinceMs: number): boolean {
    const wantedMs = this.wantedMs.get(i.id);
    const isForced = i.released?.force === true;
    if (wantedMs === undefined || (i.cause !== 'manual' && !isForced)) return false;
    const wasOffSent = (this.offSentMs.get(i.id) ?? -Infinity) > wantedMs;
    const isMeant = livesSinceMs <= wantedMs || (isHeardVerdict(i.wantedAt) && !wasOffSent);
    // Who released it with force did not care whether it lives. Was it silent then, that it is called up by now ends it.
    const isByWord = isMeant || (isForced && !this.w.isCalledUp(node));
    if (isByWord) this.f.probe('off to a machine that lives by the word of a person');
    return isByWord;
  }

  private judgeOn(node: string, { fencer, begunMs }: SentCommand): void {
    const off = this.offs.get(node);
    if (off === undefined) return;
    const forMs = begunMs - off.sinceMs;
    // The clock of a host may gain so much on ours.
    const overMs = forMs - POWER_QUARANTINE_MS * SLOWEST;
    if (overMs < 0)
      this.f.violate(
        'on-in-quarantine',
        `${fencer} gave on to ${node} ${Math.round(forMs)} ms after the last word of an off`,
      );
    else if (overMs < JUST_OVER_MS) this.f.probe('powered on right as the quarantine ends');
  }

  incidentWritten(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    if (isWantedAnew(i, before)) this.wantedMs.set(i.id, this.f.now());
    if (i.powerOn?.wanted === true && (before?.id !== i.id || before.powerOn?.wanted !== true))
      this.onWantedMs.set(i.id, this.f.now());
    this.judgeOnTold(node, i, before);
    const key = offKey(i);
    if (key !== undefined && this.offs.get(node)?.key !== key) this.offs.set(node, { key, sinceMs: this.f.now() });
    // Its word was that the node is down. It was not, and may die again.
    const isRefuted = i.contradiction !== undefined && before?.contradiction?.at !== i.contradiction.at;
    if (isRefuted && this.over.get(i.id) === 'confirm') this.over.delete(i.id);
    this.judgeIntents(node, i, before);
  }

  private judgeOnTold(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    const known = before?.id === i.id ? before : undefined;
    const bySystem = i.powerOn?.ok === true && known?.powerOn?.ok !== true;
    const byOrder = i.order?.action === 'on' && i.order.ok === true && known?.order?.ok !== true;
    if (!bySystem && !byOrder) return;
    const chassis = this.w.chassis.get(node);
    const byHand = chassis?.changes.at(-1)?.by === 'by hand';
    if (chassis?.on === true || byHand) this.f.probe('told as powered on');
    else this.f.violate('on-told-early', `${node} is told as powered on, and is off`);
  }

  private judgeIntents(node: string, i: IncidentRecord, before: IncidentRecord | undefined): void {
    const order = this.over.get(i.id);
    if (order === undefined) return;
    // What a person orders later, of a node whose incident is over, stands in the same record.
    const isOrdered = (c: PowerCommand): boolean => c.verb === i.order?.action && c.n > i.order.after;
    // By a confirmation it is recovered, and what is recovered is powered on again.
    const isRecovery = (c: PowerCommand): boolean => c.verb === 'on' && order === 'confirm';
    for (const c of freshIntents(before, i))
      if (!isOrdered(c) && !isRecovery(c))
        this.f.violate('intent-after-order', `${c.verb} of ${node} was written after its ${order} was acknowledged`);
  }

  /**
   * By when each power-on that the system owes is dealt with: a fencing that was tried again wants it late.
   * @param incidents the last of each node
   */
  onsDueMs(incidents: Iterable<IncidentRecord>): number {
    const owed = [...incidents].filter((i) => isPowerOwed(i) && i.powerOn?.wanted === true);
    return Math.max(0, ...owed.map(({ id }) => (this.onWantedMs.get(id) ?? 0) + POWER_ON_WITHIN_MS));
  }
}

/**
 * The last off that was ordered of a node, as it stands: it may still be carried out after it was given, and again after
 * it has ended. Undefined: there is none.
 */
function offKey(i: IncidentRecord): string | undefined {
  const off = i.commands.findLast((c) => c.verb === 'off');
  return off && `${intentKey(i.id, off)}, ${off.endedAt === undefined ? 'given' : 'ended'}`;
}

/** By this write: whoever orders what is ordered already is noted in its story. */
function isWantedAnew(i: IncidentRecord, before: IncidentRecord | undefined): boolean {
  if (before?.id !== i.id) return i.wantedAt !== undefined;
  const orders = ({ steps }: IncidentRecord): number => steps.filter((s) => / ordered it too: /.test(s.detail)).length;
  return before.released?.at !== i.released?.at || orders(before) < orders(i);
}
