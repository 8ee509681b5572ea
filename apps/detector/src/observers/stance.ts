import type { DetectionSettings, ObserverEvidence } from '#contracts';
import { linkState, type Heard } from './report-book.js';

/** How one observer counts for one target. */
export interface Vote {
  observer: string;
  /** `accuses`: silent on every shared network; `hears`: an echo on one at least; `absent`: stale, abstaining, or nothing known. */
  stance: 'accuses' | 'hears' | 'absent';
  /** On every shared network at least `suspectMisses` in a row. */
  suspects: boolean;
  /** Networks on which it hears, and on which it misses `suspectMisses`, or `misses`, in a row. */
  heardOn: string[];
  missingOn: string[];
  silentOn: string[];
  evidence: ObserverEvidence[];
}

/** Its last report is recent, it does not abstain, and no other machine uses its name. */
export const isHealthyReporter = (h: Heard | undefined, now: number, n: DetectionSettings): h is Heard =>
  h !== undefined &&
  now - h.at <= n.freshness &&
  !h.report.health.abstain &&
  h.report.leaving === undefined &&
  now >= h.conflictUntil;

/** @param networks of the target, as registered */
export function voteOf(
  observer: string,
  heard: Heard | undefined,
  target: string,
  networks: readonly string[],
  now: number,
  n: DetectionSettings,
): Vote {
  const vote: Vote = {
    observer,
    stance: 'absent',
    suspects: false,
    heardOn: [],
    missingOn: [],
    silentOn: [],
    evidence: [],
  };
  const links = heard?.links.get(target);
  if (!heard || !links) return vote;
  const shared = heard.report.networks
    .map((network, i) => ({ network, i }))
    .filter((s) => networks.includes(s.network));
  const healthy = isHealthyReporter(heard, now, n);
  for (const { network, i } of shared) {
    const link = links[i];
    if (!link) continue;
    // What it could not send says nothing of the target.
    const mute = (heard.report.health.sendErrors[network] ?? 0) > 0;
    const state = mute ? 'unknown' : linkState(link, n);
    if (state === 'heard') vote.heardOn.push(network);
    if (state === 'silent') vote.silentOn.push(network);
    if (state === 'silent' || state === 'missing') vote.missingOn.push(network);
    vote.evidence.push({
      observer,
      network,
      misses: link.misses,
      ...(link.rttUs >= 0 && { rttUs: link.rttUs }),
      reportAgeMs: Math.round(now - heard.at),
      stance: 'absent',
    });
  }
  if (healthy && shared.length > 0) {
    vote.suspects = vote.missingOn.length === shared.length;
    if (vote.silentOn.length === shared.length) vote.stance = 'accuses';
    else if (vote.heardOn.length > 0) vote.stance = 'hears';
  } else {
    vote.heardOn = [];
    vote.missingOn = [];
    vote.silentOn = [];
  }
  for (const e of vote.evidence) e.stance = vote.stance;
  return vote;
}
