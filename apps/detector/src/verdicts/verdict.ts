import type { VerdictKind } from '#contracts';
import type { Tally, TargetFacts } from './quorum.js';

/** What is held of a node from one look to the next. */
export interface Judgement {
  verdict: VerdictKind;
  /** DEGRADED: the silent networks, sorted. */
  networks: string[];
  reason: string;
}

export const unexamined: Judgement = { verdict: 'UNKNOWN', networks: [], reason: 'It has not been examined yet.' };

const judged = (verdict: VerdictKind, reason: string, networks: string[] = []): Judgement => ({
  verdict,
  networks,
  reason,
});
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/**
 * The next judgement. With hysteresis: who was DOWN stays so until there is a sign of life, but no longer than enough
 * others report and most observers miss it: observers that restart do not take it back, evidence that is gone does.
 * Who was SUSPECT stays so until someone hears it, a network that was silent until it is heard and most do not miss it
 * any more.
 */
export function judge(was: Judgement, f: TargetFacts, t: Tally, leaveGrace: number): Judgement {
  if (t.blind) return judged('UNKNOWN', `Blind: only ${f.reporters} of ${f.members} members report.`);
  if (f.conflict) return judged('UNKNOWN', 'CONFLICT: two machines use this name.');
  if (f.leftMs !== undefined && f.leftMs < graceOf(f.left, leaveGrace))
    return judged('LEFT', `It said ${seconds(f.leftMs)} ago that it leaves.`);
  const life = f.ownFresh || f.ownProbe === 'echo' || t.hears > 0;
  if (t.down)
    return judged(
      'DOWN',
      `${t.accusers} of ${t.assigned} ${f.polled ? 'polled ' : ''}observers have no echo on any network; no report for ${seconds(f.ownSilenceMs)}${beside(f)}.`,
    );
  if (was.verdict === 'DOWN' && !life)
    return t.sighted && t.suspect
      ? was
      : judged('SUSPECT', `Nobody hears it, but what called it DOWN no longer stands${whatIsGone(f, t)}.`);
  if (t.suspect)
    return judged(
      'SUSPECT',
      `Most of ${f.votes.length} observers miss it on every network (${tallied(f, t)})${whyNotDown(f, t)}${whoIsMute(f)}.`,
    );
  if (!life)
    return was.verdict === 'SUSPECT'
      ? judged('SUSPECT', `Nobody hears it, and too few still say that it is silent (${tallied(f, t)})${whoIsMute(f)}.`)
      : judged('UNKNOWN', `Nobody hears it, and too few say that it is silent${whoIsMute(f)}.`);
  const held = was.verdict === 'DEGRADED' ? was.networks : [];
  const silent = f.networks.filter(
    (n) => t.silentNetworks.includes(n) || (held.includes(n) && !t.restoredNetworks.includes(n)),
  );
  const networks = [...silent].sort();
  if (networks.length > 0) return judged('DEGRADED', `Silent on ${networks.join(', ')}${mostMute(f)}.`, networks);
  return judged('UP', f.ownFresh ? 'It reports.' : `${t.hears} of ${f.votes.length} observers hear it.`);
}

/** ms; a host that goes down as planned comes back within `leaveGrace`. An agent alone that was stopped is no reason to wait. */
export const STOP_GRACE_MS = 60_000;
const graceOf = (left: TargetFacts['left'], leaveGrace: number): number =>
  left === 'stop' ? Math.min(STOP_GRACE_MS, leaveGrace) : leaveGrace;

const tallied = (f: TargetFacts, t: Tally): string =>
  f.polled
    ? `${t.accusers} of ${t.assigned} polled accuse, ${t.hears} hear it`
    : `${t.accusers} accuse, ${t.hears} hear it`;

/** What stands between SUSPECT and DOWN, for people. */
function whyNotDown(f: TargetFacts, t: Tally): string {
  if (!t.sighted)
    return f.members === 2
      ? '; with two members a witness must answer'
      : `; only ${f.otherReporters} other members report`;
  if (f.ownFresh) return '; its own reports still come';
  if (f.ownProbe === 'echo') return '; it echoes to the monitor';
  if (f.ownProbe === 'unknown') return '; the monitor itself could not look yet';
  return '';
}

/** Why a DOWN is not upheld, for people. */
function whatIsGone(f: TargetFacts, t: Tally): string {
  if (t.sighted) return `: too few of ${f.votes.length} observers say that it is silent${whoIsMute(f)}`;
  return whyNotDown(f, t);
}

/** Who could not send to it, for people: their silence is no word of it. */
function whoIsMute(f: TargetFacts): string {
  const on = f.networks
    .map((network) => ({ network, mute: f.votes.filter((v) => v.muteOn.includes(network)).length }))
    .filter(({ mute }) => mute > 0);
  return on
    .map(({ network, mute }) => `; ${mute} of ${f.votes.length} observers cannot send to it on ${network}`)
    .join('');
}

/** Which networks a DOWN was judged without, for people. */
const beside = (f: TargetFacts): string =>
  f.out.length === 0 ? '' : `; ${[...f.out].sort().join(', ')} does not count, for most cannot send there`;

/** Why it is silent there, for people. */
const mostMute = (f: TargetFacts): string =>
  f.out.length === 0 ? '' : `: most members cannot send to anybody on ${[...f.out].sort().join(', ')}`;

/** Whether the fleet must be told. */
export const isSame = (a: Judgement, b: Judgement): boolean =>
  a.verdict === b.verdict && a.networks.join() === b.networks.join();
