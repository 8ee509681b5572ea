import type { VerdictKind } from '#contracts';
import type { Tally, TargetFacts } from './quorum.js';
import {
  gapsAfterSuspicion,
  isHeardInMoments,
  isSuspectedForLong,
  standingOf,
  stillSilent,
  type Standing,
} from './way-up.js';

/** What is held of a node from one look to the next. */
export interface Judgement {
  verdict: VerdictKind;
  /** DEGRADED: the silent networks, sorted. */
  networks: string[];
  reason: string;
  /** Of one that was judged by what its observers say. */
  standing?: Standing;
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
 * Who was SUSPECT stays so until all are answered at once, or most do not miss it for the silence timeout; a network
 * that was silent until most are answered there for as long. Who is DEGRADED is no suspect at once: a node that loses
 * most of what it sends stays DEGRADED, instead of being lost and found with each datagram.
 */
export function judge(was: Judgement, f: TargetFacts, t: Tally, leaveGrace: number): Judgement {
  const life = f.ownFresh || f.ownProbe === 'echo' || t.hears > 0;
  const standing = standingOf(was.standing, f, t, life);
  return { ...byRule(was, standing, f, t, { life, leaveGrace }), standing };
}

function byRule(
  was: Judgement,
  s: Standing,
  f: TargetFacts,
  t: Tally,
  { life, leaveGrace }: { life: boolean; leaveGrace: number },
): Judgement {
  if (t.withoutQuorum) return judged('UNKNOWN', `No quorum: only ${f.reporters} of ${f.members} members report.`);
  if (f.conflict) return judged('UNKNOWN', 'CONFLICT: two machines use this name.');
  if (f.leftMs !== undefined && f.leftMs < graceOf(f.left, leaveGrace))
    return judged('LEFT', `It said ${seconds(f.leftMs)} ago that it leaves.`);
  if (t.down && !(was.verdict === 'DEGRADED' && isHeardInMoments(s, f, t)))
    return judged(
      'DOWN',
      `${t.accusers} of ${t.assigned} ${f.polled ? 'polled ' : ''}observers have no echo on any network; no report for ${seconds(f.ownSilenceMs)}${beside(f)}.`,
    );
  if (was.verdict === 'DOWN' && !life)
    return t.sighted && t.suspect
      ? was
      : judged('SUSPECT', `Nobody hears it, but what called it DOWN no longer stands${whatIsGone(f, t)}.`);
  const doubt = was.verdict === 'DEGRADED' && !isSuspectedForLong(s, f) ? undefined : doubted(was.verdict, f, t, life);
  if (doubt) return doubt;
  const held = was.verdict === 'SUSPECT' ? gapsAfterSuspicion(s, f, t) : stillSilent(was.networks, s, f);
  if (held === undefined)
    return judged(
      'SUSPECT',
      `It is heard now and then (${tallied(f, t)}), and not yet for long enough${whoIsMute(f)}.`,
    );
  const networks = f.networks.filter((n) => t.silentNetworks.includes(n) || held.includes(n)).sort();
  if (networks.length > 0) return judged('DEGRADED', silentOn(networks, f, t), networks);
  return judged('UP', f.ownFresh ? 'It reports.' : `${t.hears} of ${f.votes.length} observers hear it.`);
}

/** Most miss it on every network, or nobody hears it. */
function doubted(was: VerdictKind, f: TargetFacts, t: Tally, life: boolean): Judgement | undefined {
  if (t.suspect)
    return judged(
      'SUSPECT',
      `Most of ${f.votes.length} observers miss it on every network (${tallied(f, t)})${whyNotDown(f, t)}${whoIsMute(f)}.`,
    );
  if (life) return undefined;
  return was === 'SUSPECT'
    ? judged('SUSPECT', `Nobody hears it, and too few still say that it is silent (${tallied(f, t)})${whoIsMute(f)}.`)
    : judged('UNKNOWN', `Nobody hears it, and too few say that it is silent${whoIsMute(f)}.`);
}

/** ms; a host that goes down as planned comes back within `leaveGrace`. An agent alone that was stopped is no reason to wait. */
const STOP_GRACE_MS = 60_000;
const graceOf = (left: TargetFacts['left'], leaveGrace: number): number =>
  left === 'stop' ? Math.min(STOP_GRACE_MS, leaveGrace) : leaveGrace;

const tallied = (f: TargetFacts, t: Tally): string =>
  f.polled
    ? `${t.accusers} of ${t.assigned} polled report it down, ${t.hears} hear it`
    : `${t.accusers} report it down, ${t.hears} hear it`;

/** What stands between SUSPECT and DOWN, for people. */
function whyNotDown(f: TargetFacts, t: Tally): string {
  if (!t.sighted)
    return f.members === 2 ? `; with two members ${witnessText(f)}` : `; only ${f.otherReporters} other members report`;
  if (f.ownFresh) return '; its own reports still come';
  if (f.ownProbe === 'echo') return '; it echoes to the monitor';
  if (f.ownProbe === 'unknown') return '; the monitor itself could not look yet';
  return '';
}

const witnessText = ({ witness, witnessAt }: TargetFacts): string =>
  witnessAt === ''
    ? 'a witness must answer, and none is set (muster settings set witness=HOST:PORT)'
    : witness
      ? `and witness ${witnessAt}, which answers, the other one must report`
      : `witness ${witnessAt} must answer, and has not`;

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

/** Where it is silent now, and where it was and is heard with gaps, for people. */
function silentOn(networks: readonly string[], f: TargetFacts, t: Tally): string {
  const silent = networks.filter((n) => t.silentNetworks.includes(n));
  const gaps = networks.filter((n) => !silent.includes(n));
  const said = [
    ...(silent.length > 0 ? [`Silent on ${silent.join(', ')}${mostMute(f)}`] : []),
    ...(gaps.length > 0 ? [`heard with gaps on ${gaps.join(', ')}`] : []),
  ].join('; ');
  return `${said[0]?.toUpperCase()}${said.slice(1)}.`;
}

/** Why it is silent there, for people. */
const mostMute = (f: TargetFacts): string =>
  f.out.length === 0 ? '' : `: most members cannot send to anybody on ${[...f.out].sort().join(', ')}`;

/** Whether the fleet must be told. */
export const isSame = (a: Judgement, b: Judgement): boolean =>
  a.verdict === b.verdict && a.networks.join() === b.networks.join();
