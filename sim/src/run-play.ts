import { MusterError } from '#contracts';
import { crashAt } from '../process/crash-points.js';
import { progressOf, refuseBesideReplay, say, usageError, whole, type SimValues } from '../sim-options.js';
import { EventHash } from '../time/event-hash.js';
import { drawHands } from './hands-history.js';
import { HandsRules } from './hands-oracle.js';
import type { HandsOptions } from './hands-world.js';
import { NAMED_SEED, namedHistories, type NamedHistory } from './named-histories.js';
import { playHistory, playRandom, sweep, Tally, type HandsSummary } from './play-hands.js';

/** Violations that are told in full. */
const TOLD = 20;

/** `sim -- hands`: @returns the exit code */
export async function runHands(values: SimValues): Promise<number> {
  if (values.nodes !== undefined) throw usageError();
  if (values.every !== undefined && values.sweep === undefined) throw usageError();
  refuseBesideReplay(values);
  if (values.replay !== undefined) return replay(values);
  const summary = await (values.sweep === undefined ? random(values) : sweepAll(values));
  if (values.json === true) say(JSON.stringify(summary));
  else tell(summary);
  const rare = values.sweep === undefined && summary.histories >= WORTH_COUNTING ? rarelyMet(summary) : [];
  for (const line of rare) process.stderr.write(`${line}\n`);
  return summary.violations.length === 0 && rare.length === 0 ? 0 : 1;
}

/** Of random histories: so many say what they met. */
const WORTH_COUNTING = 200;

/** A rule that never met its case says nothing: what so many histories have to meet, at least. */
const LEAST_PROBES: Readonly<Record<string, number>> = {
  'fenced: read-back': 60,
  'read as off': 200,
  'a lease changed hands': 80,
  'a job was taken over': 12,
  'a pause acknowledged with an incident open': 1,
  'a command cut short, then another fencer took the lease': 5,
  'a playbook cut short, then another took its job over': 5,
};

const rarelyMet = ({ histories, probes }: HandsSummary): string[] =>
  Object.entries(LEAST_PROBES).flatMap(([probe, least]) => {
    const times = probes[probe] ?? 0;
    return times >= least ? [] : [`met too rarely in ${histories} histories: ${probe}: ${times} of ${least}`];
  });

function random(values: SimValues): Promise<HandsSummary> {
  const histories = Math.max(1, whole(values.histories, 200));
  const progress = progressOf(histories);
  return playRandom(histories, whole(values.seed, 1), { progress: (done, _of, found) => progress(done, found) });
}

async function sweepAll(values: SimValues): Promise<HandsSummary> {
  if (values.histories !== undefined) throw usageError();
  const every = Math.max(1, whole(values.every, 1));
  // A history in which a known fault shows is no ground for a sweep: it is red without a crash.
  const names =
    values.sweep === 'all' ? Object.keys(namedHistories).filter((n) => !namedHistories[n]?.knownRed) : [values.sweep];
  const hashed = new EventHash();
  const seed = values.seed ?? (names.length === 1 ? namedOf(names[0]).history.seed : NAMED_SEED);
  const total: HandsSummary = { histories: 0, seed: Number(seed), violations: [], probes: {}, hash: '' };
  for (const name of names) {
    const one = await sweep(seededOf(name, values), {
      every,
      progress: (done, of, found) => {
        if (done % 100 === 0) process.stderr.write(`  ${name}: ${done} of ${of}, ${found} violations\n`);
      },
    });
    total.histories += one.histories;
    total.violations.push(...one.violations.map((v) => ({ ...v, what: `${name}: ${v.what}` })));
    for (const [probe, times] of Object.entries(one.probes)) total.probes[probe] = (total.probes[probe] ?? 0) + times;
    hashed.add(one.hash, 0);
  }
  total.hash = hashed.digest;
  return total;
}

async function replay(values: SimValues): Promise<number> {
  const told = (ms: number, line: string): void => say(`${ms.toFixed(0).padStart(7)}  ${line}`);
  const named = values.sweep === undefined ? undefined : seededOf(values.sweep, values);
  const history = named?.history ?? drawHands(whole(values.seed, 1), whole(values.replay, 0));
  const crash: HandsOptions =
    named === undefined || values.replay === 'none'
      ? {}
      : {
          plan: crashAt(whole(values.replay, 0)),
          reached: (p) => {
            if (p.index === Number(values.replay)) say(`         ${p.process} dies ${p.moment} ${p.call}`);
          },
        };
  const result = await playHistory(history, { ...crash, ...(named?.bounds && { bounds: named.bounds }), told });
  for (const v of result.violations)
    say(`${String(v.time).padStart(7)}  VIOLATION ${v.rule}: ${v.what} (${HandsRules[v.rule]})`);
  const point = named === undefined ? undefined : Number(values.replay);
  // Number('none') is none, too.
  if (point !== undefined && point >= result.crashPoints)
    throw new MusterError('BAD_REQUEST', `${history.name} has ${result.crashPoints} crash points: 0 is the first.`);
  if (values.json === true) {
    const tally = new Tally();
    tally.add(Number.isNaN(point) ? -1 : Number(values.replay), result);
    say(JSON.stringify(tally.summary(named === undefined ? whole(values.seed, 1) : history.seed)));
  }
  return result.violations.length === 0 ? 0 : 1;
}

/** As it is named, on another seed where one is given. */
function seededOf(name: string | undefined, { seed }: SimValues): NamedHistory {
  const named = namedOf(name);
  if (seed === undefined) return named;
  return { ...named, history: { ...named.history, seed: whole(seed, 0) } };
}

function namedOf(name: string | undefined): NamedHistory {
  const named = namedHistories[name ?? ''];
  if (named === undefined)
    throw new MusterError(
      'BAD_REQUEST',
      `no history ${name}; there are all, ${Object.keys(namedHistories).join(', ')}`,
    );
  return named;
}

function tell(s: HandsSummary): void {
  say(`${s.histories} histories of seed ${s.seed}, hash ${s.hash}`);
  for (const [probe, times] of Object.entries(s.probes)) say(`  ${String(times).padStart(6)}  ${probe}`);
  for (const v of s.violations.slice(0, TOLD))
    say(`history ${v.history} at ${v.time} ms, ${v.rule}: ${v.what} (${HandsRules[v.rule]})`);
  say(`${s.violations.length} violations`);
}
