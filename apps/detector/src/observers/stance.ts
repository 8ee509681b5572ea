import type { DetectionSettings, LinkObservation, ObserverEvidence } from '#contracts';
import { linkState, type Heard } from './report-book.js';

/** How one observer counts for one target. */
export interface Vote {
  observer: string;
  /** `accuses`: silent on every shared network; `hears`: an echo on one at least; `absent`: stale, abstaining, or nothing known. */
  stance: 'accuses' | 'hears' | 'absent';
  /** On every shared network at least `suspectMisses` in a row. */
  suspects: boolean;
  /** Networks on which it hears, and on which it misses `suspectMisses`, or `misses`, in a row. */
  heardOn: readonly string[];
  missingOn: readonly string[];
  silentOn: readonly string[];
}

const NONE: readonly string[] = [];

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
});

/** @param networks of the target, as registered */
export function voteOf(
  observer: string,
  heard: Heard | undefined,
  target: string,
  networks: readonly string[],
  now: number,
  n: DetectionSettings,
): Vote {
  const vote = absent(observer);
  const links = heard?.links.get(target);
  if (!links || !isHealthyReporter(heard, now, n)) return vote;
  // Nearly always, and in a large fleet ten thousands of times a second: both have the same networks, and all are well.
  if (hearsAll(heard, links, networks, n)) {
    vote.stance = 'hears';
    vote.heardOn = heard.report.networks;
    return vote;
  }
  const heardOn: string[] = [];
  const missingOn: string[] = [];
  const silentOn: string[] = [];
  let shared = 0;
  heard.report.networks.forEach((network, i) => {
    if (!networks.includes(network)) return;
    shared++;
    const link = links[i];
    // What it could not send says nothing of the target.
    const mute = (heard.report.health.sendErrors[network] ?? 0) > 0;
    if (!link || mute) return;
    const state = linkState(link, n);
    if (state === 'heard') heardOn.push(network);
    if (state === 'silent') silentOn.push(network);
    if (state === 'silent' || state === 'missing') missingOn.push(network);
  });
  vote.heardOn = heardOn;
  vote.missingOn = missingOn;
  vote.silentOn = silentOn;
  if (shared === 0) return vote;
  vote.suspects = vote.missingOn.length === shared;
  if (vote.silentOn.length === shared) vote.stance = 'accuses';
  else if (vote.heardOn.length > 0) vote.stance = 'hears';
  return vote;
}

function hearsAll(
  { report }: Heard,
  links: readonly LinkObservation[],
  networks: readonly string[],
  n: DetectionSettings,
): boolean {
  for (let i = 0; i < report.networks.length; i++) {
    const network = report.networks[i] as string;
    const link = links[i];
    if (!link || linkState(link, n) !== 'heard' || !networks.includes(network)) return false;
    if ((report.health.sendErrors[network] ?? 0) > 0) return false;
  }
  return report.networks.length > 0;
}

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
    const mute = (heard.report.health.sendErrors[network] ?? 0) > 0 && { mute: true as const };
    const measured = { ...(rttUs >= 0 && { rttUs }), ...(lostPermille !== undefined && { lostPermille }) };
    return [{ observer, network, misses, ...measured, reportAgeMs, stance, ...abstains, ...mute }];
  });
}
