import type { DetectionSettings, ObserverEvidence } from '#contracts';
import { isMuteOn } from '#domain/verdict/networks-out.js';
import type { Heard } from '../observers/report-book.js';
import { absent, isHealthyReporter, type Vote } from '../observers/stance.js';
import type { PollWord } from './poll-book.js';

/** A single lost datagram is no silence: so many that went out and were not answered are, in one poll. */
const LEAST_SENT = 2;

/**
 * How one polled observer counts. It reports it down where nothing came back on any network that it shares with the
 * target; a network that it did not try, or could not send on, keeps it from that. What it says is believed only as
 * long as its reports are: fresh, willing, and of the same process.
 * @param networks of the target, as registered
 * @param out networks on which most of the fleet cannot send: of who cannot either, silence is asked for on the others
 */
export function pollVoteOf(
  observer: string,
  heard: Heard | undefined,
  word: PollWord | undefined,
  networks: readonly string[],
  now: number,
  n: DetectionSettings,
  out: ReadonlySet<string> = new Set(),
): Vote {
  const vote = absent(observer);
  if (!word || word.abstain || now - word.at > n.freshness) return vote;
  if (!isHealthyReporter(heard, now, n) || heard.report.epoch !== word.epoch) return vote;
  const shared = heard.report.networks.filter((network) => networks.includes(network));
  const answered = (network: string): boolean => (word.networks[network]?.answered ?? 0) > 0;
  const sent = (network: string): number => word.networks[network]?.sent ?? 0;
  vote.heardOn = shared.filter(answered);
  vote.silentOn = shared.filter((network) => !answered(network) && sent(network) >= LEAST_SENT);
  vote.missingOn = vote.silentOn;
  vote.muteOn = shared.filter((network) => sent(network) === 0 && isMuteOn(heard.report, network));
  const asked = shared.length - vote.muteOn.filter((network) => out.has(network)).length;
  if (vote.heardOn.length > 0) vote.stance = 'hears';
  else if (asked > 0 && vote.silentOn.length === asked) {
    vote.stance = 'accuses';
    vote.suspects = true;
  }
  return vote;
}

/** What the vote rests on, for the record. */
export function pollEvidenceOf(
  { observer, stance }: Vote,
  word: PollWord | undefined,
  now: number,
): ObserverEvidence[] {
  if (!word) return [];
  return Object.entries(word.networks).map(([network, { sent, answered }]) => ({
    observer,
    network,
    misses: answered > 0 ? 0 : sent,
    reportAgeMs: Math.round(now - word.at),
    stance,
    ...(word.abstain && { abstains: true as const }),
    polled: true as const,
  }));
}
