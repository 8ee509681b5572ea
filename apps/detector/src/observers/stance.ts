import {
  linkClass,
  type DetectionSettings,
  type LinkObservation,
  type ObserverEvidence,
  type Report,
} from '#contracts';
import { isMuteOn } from '#domain/verdict/networks-out.js';
import type { Heard } from './report-book.js';

/** How one observer counts for one target. */
export interface Vote {
  observer: string;
  /** `accuses`: silent on every shared network; `hears`: an echo on one at least; `absent`: stale, abstaining, or nothing known. */
  stance: 'accuses' | 'hears' | 'absent';
  /** On every shared network at least `suspectMisses` in a row; one that is out for most of the fleet is not asked for. */
  suspects: boolean;
  /** Networks on which it hears, and on which it misses `suspectMisses`, or `misses`, in a row. */
  heardOn: readonly string[];
  missingOn: readonly string[];
  silentOn: readonly string[];
  /** Networks on which its last probe was answered, and few of the last minute were not. */
  answeredOn: readonly string[];
  /** Networks on which it cannot send to the target, and so says nothing of it. */
  muteOn: readonly string[];
}

/** In a thousand, over a minute: from so many lost probes on, that the last one was answered is chance. */
const GAPS_PERMILLE = 200;
const NONE: readonly string[] = [];
const NOWHERE: ReadonlySet<string> = new Set();

/** Its last report is recent, it does not abstain, and no other machine uses its name. */
export const isHealthyReporter = (h: Heard | undefined, now: number, n: DetectionSettings): h is Heard =>
  h !== undefined &&
  now - h.spokenAt <= n.freshness &&
  !h.report.health.abstain &&
  h.report.leaving === undefined &&
  now >= h.conflictUntil;

/** Who does not count, and says nothing. */
export const absent = (observer: string): Vote => ({
  observer,
  stance: 'absent',
  suspects: false,
  heardOn: NONE,
  missingOn: NONE,
  silentOn: NONE,
  answeredOn: NONE,
  muteOn: NONE,
});

/** It cannot send to this one there, by its own word: what it hears, or does not hear, there says nothing of it. */
export const isMuteTo = (r: Pick<Report, 'health'>, target: string, network: string): boolean =>
  isMuteOn(r, network) || r.health.unsent?.[network]?.peers.includes(target) === true;

/**
 * @param networks of the target, as registered
 * @param out networks on which most of the fleet cannot send: of who cannot either, silence is asked for on the others
 */
export function voteOf(
  observer: string,
  heard: Heard | undefined,
  target: string,
  networks: readonly string[],
  now: number,
  n: DetectionSettings,
  out: ReadonlySet<string> = NOWHERE,
): Vote {
  const vote = absent(observer);
  const links = heard?.links.get(target);
  if (!links || !isHealthyReporter(heard, now, n)) return vote;
  // Nearly always, and in a large fleet ten thousands of times a second: both have the same networks, and all are well.
  if (hearsAll(heard, links, target, networks, n)) {
    vote.stance = 'hears';
    vote.heardOn = heard.report.networks;
    vote.answeredOn = links.every(isAnswered)
      ? vote.heardOn
      : vote.heardOn.filter((_n, i) => isAnswered(links[i] as LinkObservation));
    return vote;
  }
  const heardOn: string[] = [];
  const missingOn: string[] = [];
  const silentOn: string[] = [];
  const answeredOn: string[] = [];
  const muteOn: string[] = [];
  let asked = 0;
  heard.report.networks.forEach((network, i) => {
    if (!networks.includes(network)) return;
    if (isMuteTo(heard.report, target, network)) {
      muteOn.push(network);
      if (!out.has(network)) asked++;
      return;
    }
    asked++;
    const link = links[i];
    if (!link) return;
    const state = linkClass(link[0], link[1], n);
    if (state === 'heard') heardOn.push(network);
    if (state === 'heard' && isAnswered(link)) answeredOn.push(network);
    if (state === 'silent') silentOn.push(network);
    if (state === 'silent' || state === 'missing') missingOn.push(network);
  });
  Object.assign(vote, { heardOn, missingOn, silentOn, answeredOn, muteOn });
  if (asked === 0) return vote;
  vote.suspects = missingOn.length === asked;
  if (silentOn.length === asked) vote.stance = 'accuses';
  else if (heardOn.length > 0) vote.stance = 'hears';
  return vote;
}

const isAnswered = ([misses, , lost = 0]: LinkObservation): boolean => misses === 0 && lost < GAPS_PERMILLE;

function hearsAll(
  { report }: Heard,
  links: readonly LinkObservation[],
  target: string,
  networks: readonly string[],
  n: DetectionSettings,
): boolean {
  for (let i = 0; i < report.networks.length; i++) {
    const network = report.networks[i] as string;
    const link = links[i];
    if (!link || linkClass(link[0], link[1], n) !== 'heard' || !networks.includes(network)) return false;
    if (isMuteTo(report, target, network)) return false;
  }
  return report.networks.length > 0;
}

/** Who can send there, and hears the target there, is the word that it is not out for this one. */
export const outFor = (out: ReadonlySet<string>, votes: readonly Vote[]): ReadonlySet<string> =>
  out.size === 0 ? out : new Set([...out].filter((network) => !votes.some((v) => v.heardOn.includes(network))));

/** What the vote rests on, for the record; also of an observer that does not count. */
export function evidenceOf(
  { observer, stance }: Vote,
  heard: Heard | undefined,
  target: string,
  networks: readonly string[],
  now: number,
): ObserverEvidence[] {
  const links = heard?.links.get(target);
  if (!heard || !links) return [];
  return heard.report.networks.flatMap((network, i): ObserverEvidence[] => {
    const link = links[i];
    if (!link || !networks.includes(network)) return [];
    const [misses, rttUs, lostPermille] = link;
    const reportAgeMs = Math.round(now - heard.spokenAt);
    const abstains = heard.report.health.abstain && { abstains: true as const };
    const mute = isMuteTo(heard.report, target, network) && { mute: true as const };
    const measured = { ...(rttUs >= 0 && { rttUs }), ...(lostPermille !== undefined && { lostPermille }) };
    return [{ observer, network, misses, ...measured, reportAgeMs, stance, ...abstains, ...mute }];
  });
}
