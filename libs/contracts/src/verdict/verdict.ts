import type { AlarmCode, AlarmRecord } from '../alarms/alarm.js';
import type { Leaving } from '../wire/report.js';
import type { LifeObservation, SshSign } from '../wire/life-signs.js';

export const VerdictKinds = ['UP', 'DEGRADED', 'SUSPECT', 'DOWN', 'LEFT', 'UNKNOWN'] as const;
export type VerdictKind = (typeof VerdictKinds)[number];

/** What one observer says of the target on one network. */
export interface ObserverEvidence {
  observer: string;
  network: string;
  /** Consecutive probes that were due while the observer ran and were not answered. */
  misses: number;
  rttUs?: number;
  /** Age of the observer's report at the time of the verdict, ms, on the detector's monotonic clock. */
  reportAgeMs: number;
  /** How this observer counted: reports it down (`accuses`), hears it, or does not count (stale, abstaining). */
  stance: 'accuses' | 'hears' | 'absent';
  /** Its report says that its own silence means nothing now. */
  abstains?: true;
  /** It cannot send on this network itself: that it hears nothing there says nothing of the target. */
  mute?: true;
  /** It was asked by the monitor, and is not assigned to the target. */
  polled?: true;
  /** In a thousand of about the last minute's probes; absent: none. */
  lostPermille?: number;
}

/**
 * Why an observer says nothing of the target. `never-heard`: the detector has had no report of it since it began to
 * listen. `no-word`: its last report does not speak of the target, or shares no network with it. `no-answer`: it was
 * asked in a poll, and has not answered.
 */
export type Wordless = 'never-heard' | 'no-word' | 'no-answer';

/** An observer that counts among those whose majority must report it down, and has nothing to show for or against. */
export interface WordlessObserver {
  observer: string;
  why: Wordless;
  /** Of its last report, ms; absent: never heard. */
  reportAgeMs?: number;
  polled?: true;
}

/** The monitor's own look at the target, taken at SUSPECT and renewed while it lasts. */
export interface OwnProbe extends Partial<Omit<LifeObservation, 'ssh'>> {
  /** Networks on which the target's agent echoed to the monitor. */
  echo: string[];
  ssh: SshSign;
  /** ms before the verdict, monotonic. */
  ageMs: number;
}

export interface VerdictEvidence {
  observers: ObserverEvidence[];
  /** The others that were to speak: with `observers` these are all. Absent: there are none. */
  wordless?: WordlessObserver[];
  /** Observers whose majority must report it down: the assigned ones, or those that were polled. */
  assigned: number;
  accusers: number;
  /**
   * Networks of the node on which most members that report cannot send to anybody: it was judged by the others, and by
   * the fewer. Absent: none.
   */
  networksOut?: string[];
  /** Enrolled nodes minus cordoned minus confirmed off. */
  members: number;
  /** Members other than the target that report freshly and do not abstain. */
  sightedReporters: number;
  /** Enough of them to call the target's silence a death. Absent: said by a detector that did not say it. */
  sighted?: boolean;
  /** ms since the target's own last report; absent: none was seen by this detector. */
  ownReportAgeMs?: number;
  ownProbe?: OwnProbe;
  /** What observers saw that were asked to look beside the monitor. Absent: nobody was asked. */
  lifeLooks?: LifeObservation[];
  /** Its agent's last word was that it goes, and why. Absent: it fell silent without a word. */
  left?: Leaving['kind'];
}

/** Published on `muster.verdict.<node>`; ordered by (epoch, seq), lower ones are refused. */
export interface Verdict {
  node: string;
  verdict: VerdictKind;
  /** DEGRADED: the silent networks. */
  networks: string[];
  /** Token of the detector's lease. */
  epoch: number;
  /** Grows with every verdict of this epoch, over all nodes. */
  seq: number;
  /** Wall clock, ms: for people, never for decisions. */
  at: number;
  /** The boot that the node's own reports last named. */
  bootId?: string;
  /** The process of its agent that last reported: a new one is news, also of a node that is UP all the time. */
  agentEpoch?: number;
  /**
   * Its own report of a moment ago is of another boot than the one whose end was proven: its power is on, and it is a
   * member again, also where the verdict is UNKNOWN. Absent: it does not count as powered off, or has not spoken since.
   */
  poweredOn?: true;
  /** One sentence. */
  reason: string;
  evidence: VerdictEvidence;
}

/** A member of the fleet that is not all well by the last word on it. */
export interface UnhealthyNode {
  node: string;
  /** `SUSPECT`: it is being looked at, and either lives or is dead within seconds. */
  verdict: Extract<VerdictKind, 'DEGRADED' | 'SUSPECT' | 'DOWN'>;
  /** DEGRADED: the silent networks. */
  networks: string[];
}

/** Conditions that a beacon carries at most: the worst come first. */
export const MOST_CONDITIONS = 100;

/** Something beside the verdicts that the detector sees and people shall know: an alarm for as long as beacons carry it. */
export interface DetectorCondition {
  code: Extract<
    AlarmCode,
    'link-down' | 'partly-heard' | 'link-quality' | 'auth-failure' | 'agent-health' | 'peer-list' | 'life-sign-weak'
  >;
  /** Node, `a~b` for the link between two, network, or `fleet`. */
  subject: string;
  severity: AlarmRecord['severity'];
  message: string;
}

/** The end of a blindness by missing reports. */
export interface BlindnessEnd {
  /** Of the last verdict before the blindness ended; 0: it ended before the first of this term. */
  seq: number;
  /** Members whose reports were still missing. */
  silent: string[];
}

/** The active detector's heartbeat. */
export interface Beacon {
  epoch: number;
  seq: number;
  instance: string;
  sighted: boolean;
  /**
   * Why it is not sighted. `reports`: it was, or has listened for longer than agents need to come back, and too few
   * reports come. `own`: it has only just begun to listen, at its start or after the bus was away. Absent: sighted, or said
   * by a detector that does not say it.
   */
  blindBy?: 'reports' | 'own';
  /** A blindness by missing reports has ended in the last {@link STORM_NEWS_MS}: who began to listen after it learns of it so. */
  blindnessEnded?: BlindnessEnd;
  members: number;
  sightedReporters: number;
  /** Every node that is not plainly UP, with the seq of its verdict: a reader that missed one asks for it. */
  notUp: Record<string, { verdict: VerdictKind; seq: number }>;
  /** Absent: it has not looked for long enough, and says nothing of what was told before. */
  conditions?: DetectorCondition[];
  /** By which keys it proves its own datagrams, see `keyId`; the first signs. Absent: a detector of an earlier Muster. */
  keys?: string[];
}

export const BEACON_PERIOD_MS = 1000;
/** What befell the fleet is told for this long, ms: a new conductor of a cluster takes over within 18 s, and hears a beacon. */
export const STORM_NEWS_MS = 20_000;
/** Without a beacon for this long every verdict is UNKNOWN. */
export const BEACON_FRESH_MS = 3000;
