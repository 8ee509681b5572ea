import { linkClass, type DetectionSettings, type LinkObservation, type Report } from '#contracts';
import { isLateForVotes, isNamesake, isSameProcess, type KeptReport } from '#domain/verdict/report-order.js';
import { isNewer } from '#domain/verdict/newer.js';
import { Punctuality } from './punctuality.js';

/** An older process beside a newer one, or one start in two boots: two machines under one name. Forgotten after this, ms. */
const CONFLICT_MS = 10_000;
/** So many growing reports of an older process, over so many report periods, are no late messages. */
const CONFLICT_REPORTS = 3;
const CONFLICT_PERIODS = 2;

/** The last word of one observer. */
export interface Heard {
  report: Report;
  /** When it was received, monotonic ms of this process: so long its sender has been silent at most. */
  at: number;
  /** When it was sent, as far as can be told; never later than `at`. What it says is as old as this. */
  spokenAt: number;
  /** Target → its links, in the order of the report's networks. */
  links: Map<string, LinkObservation[]>;
  /** When this process of the agent said that it leaves. */
  leftAt?: number;
  /** Two machines report under this name; until when, monotonic ms. */
  conflictUntil: number;
}

interface Observer extends Heard {
  older?: { epoch: number; seq: number; grown: number; since: number; at: number };
  punctuality: Punctuality;
}

/**
 * The last report of every observer. The same report comes over each network: the first counts. One identity has one
 * vote, whatever it sends; the caller has checked that the subject belongs to the name in it.
 */
export class ReportBook {
  private readonly observers = new Map<string, Observer>();

  of(node: string): Heard | undefined {
    return this.observers.get(node);
  }

  /** Forgets whoever is not watched any more. */
  keepOnly(watched: { has(node: string): boolean }): void {
    for (const node of this.observers.keys()) if (!watched.has(node)) this.observers.delete(node);
  }

  /**
   * Whom the report brings news about. Undefined: it is a copy, or an older one. Another machine's is news, and is not
   * kept: none of what it says counts.
   * @param now as of when it counts
   * @param readAt when it was read, where it may have waited since `now`
   */
  hear(report: Report, now: number, n: DetectionSettings, readAt = now): string[] | undefined {
    const was = this.observers.get(report.node);
    if (was && isNamesake(kept(was, now), report)) return this.refuse(was, now);
    if (was && this.isOlder(was, report, now, n)) return undefined;
    const sameProcess = was !== undefined && isSameProcess(was.report, report);
    const punctuality = was?.punctuality ?? new Punctuality();
    // What was read after a standstill tells nothing of its way.
    const known = report.sentMs !== undefined && readAt === now;
    const late = known ? punctuality.lateness(report.epoch, report.sentMs as number, now) : 0;
    const next: Observer = {
      report,
      at: now,
      spokenAt: now - late,
      punctuality,
      links: new Map(report.peers),
      conflictUntil: was?.conflictUntil ?? -Infinity,
      ...(was?.older && { older: was.older }),
      ...(report.leaving && { leftAt: (sameProcess ? was?.leftAt : undefined) ?? now }),
    };
    this.observers.set(report.node, next);
    return newsIn(was, next, now, n);
  }

  /** Two machines report one start, of which neither is believed: the node and whom it watched are looked at anew. */
  private refuse(was: Observer, now: number): string[] {
    const isKnown = now < was.conflictUntil;
    was.conflictUntil = now + CONFLICT_MS;
    return isKnown ? [] : [was.report.node, ...was.links.keys()];
  }

  /** Older than what we have; counts how many such come, for they may be another machine's, or those of a system set up anew. */
  private isOlder(was: Observer, report: Report, now: number, n: DetectionSettings): boolean {
    if (isNewer(report, was.report)) {
      this.judgeNewer(was, report, now);
      return false;
    }
    const isLate = isLateForVotes(kept(was, now), report);
    if (report.epoch === was.report.epoch) return isLate;
    const o = was.older;
    if (!o || o.epoch !== report.epoch || now - o.at > CONFLICT_MS)
      was.older = { epoch: report.epoch, seq: report.seq, grown: 0, since: now, at: now };
    else if (report.seq > o.seq) was.older = { ...o, seq: report.seq, grown: o.grown + 1, at: now };
    const { grown, since } = was.older as NonNullable<Observer['older']>;
    // What its connection still held of a process that has ended comes all at once.
    const isProof = grown >= CONFLICT_REPORTS && now - since >= CONFLICT_PERIODS * n.reportPeriod;
    if (!isLate) return report.bootId === was.report.bootId && !isProof;
    if (isProof || now < was.conflictUntil) was.conflictUntil = now + CONFLICT_MS;
    return true;
  }

  private judgeNewer(was: Observer, report: Report, now: number): void {
    // A new process while the old one's reports are not yet old: what still comes of the old one is watched.
    if (report.epoch > was.report.epoch)
      was.older = { epoch: was.report.epoch, seq: was.report.seq, grown: 0, since: now, at: now };
  }
}

const kept = ({ report, at }: Heard, now: number): KeptReport => ({ report, ageMs: now - at });

function newsIn(was: Observer | undefined, next: Observer, now: number, n: DetectionSettings): string[] {
  const { report } = next;
  const self = report.node;
  if (!was || !isSameVoice(was.report, report) || now - was.at > n.freshness) return [self, ...next.links.keys()];
  const changed: string[] = [];
  if (was.leftAt !== next.leftAt) changed.push(self);
  for (const [peer, links] of next.links) {
    const before = was.links.get(peer);
    if (!before || muteNetworksTo(was.report, peer) !== muteNetworksTo(report, peer)) changed.push(peer);
    else if (links.some((l, i) => !before[i] || linkClass(before[i][0], before[i][1], n) !== linkClass(l[0], l[1], n)))
      changed.push(peer);
  }
  return changed;
}

/** Whether all that it says counts as it did: a new process, abstention, other networks or send errors change that. */
function isSameVoice(a: Report, b: Report): boolean {
  if (!isSameProcess(a, b) || a.health.abstain !== b.health.abstain) return false;
  if (a.networks.length !== b.networks.length) return false;
  return b.networks.every((network, i) => network === a.networks[i] && errorsOn(a, network) === errorsOn(b, network));
}

/** Whether it can send there: how often it failed changes nothing. */
const errorsOn = (r: Report, network: string): boolean => (r.health.sendErrors[network] ?? 0) > 0;

/** On which networks it cannot send to this one. */
const muteNetworksTo = ({ health: { unsent } }: Report, peer: string): string => {
  if (unsent === undefined) return '';
  return Object.keys(unsent)
    .filter((network) => unsent[network]?.peers.includes(peer))
    .join();
};
