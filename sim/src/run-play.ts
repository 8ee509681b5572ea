import { MusterError } from '#contracts';
import {
  Tally,
  type FoundViolation,
  type Named,
  type Player,
  type PlayOptions,
  type PlaySummary,
  type SeriesOptions,
} from './play.js';
import type { PlaySeries } from './play-worker.js';
import { crashAt } from './process/crash-points.js';
import { coresAtHand, playInWorkers } from './play-workers.js';
import { seeded, type PlayerName } from './players.js';
import { progressOf, refuseBesideReplay, say, usageError, whole, type SimValues } from './sim-options.js';
import { EventHash } from './time/event-hash.js';

interface Seeded {
  name: string;
  seed: number;
}

/** Violations that are told in full. */
const TOLD = 20;

/** `sim -- hands`, `sim -- fleet`: @returns the exit code */
export async function runPlay<H extends Seeded, N extends Named<H>>(
  name: PlayerName,
  player: Player<H, N>,
  values: SimValues,
): Promise<number> {
  if (values.nodes !== undefined) throw usageError();
  if (values.every !== undefined && values.sweep === undefined) throw usageError();
  if (values.workers !== undefined && values.replay !== undefined) throw usageError();
  if (values.from !== undefined && values.replay !== undefined) throw usageError();
  refuseBesideReplay(values);
  if (values.replay !== undefined) return replay(player, values);
  const summary = await (values.sweep === undefined ? random(name, player, values) : sweepAll(name, player, values));
  if (values.json === true) say(JSON.stringify(summary));
  else print(summary, player.play.rules);
  const { least } = player.play;
  const rare = values.sweep === undefined && summary.histories >= least.histories ? rarelyMet(summary, least) : [];
  for (const line of rare) process.stderr.write(`${line}\n`);
  return summary.violations.length === 0 && rare.length === 0 ? 0 : 1;
}

const rarelyMet = ({ histories, probes }: PlaySummary, least: { probes: Readonly<Record<string, number>> }): string[] =>
  Object.entries(least.probes).flatMap(([probe, wanted]) => {
    const times = probes[probe] ?? 0;
    return times >= wanted ? [] : [`met too rarely in ${histories} histories: ${probe}: ${times} of ${wanted}`];
  });

/** As many processes as there are cores, unless it is said. None of its own where one is enough. */
function elsewhere(series: PlaySeries, values: SimValues): Pick<SeriesOptions, 'play'> {
  const workers = Math.max(1, whole(values.workers, coresAtHand()));
  return workers === 1 ? {} : { play: playInWorkers(series, workers) };
}

function random<H extends Seeded, N extends Named<H>>(
  name: PlayerName,
  player: Player<H, N>,
  values: SimValues,
): Promise<PlaySummary> {
  const histories = Math.max(1, whole(values.histories, 200));
  const progress = progressOf(histories);
  const seed = whole(values.seed, 1);
  return player.random(histories, seed, {
    ...elsewhere({ player: name, seed }, values),
    from: whole(values.from, 0),
    progress: (done, _of, found) => progress(done, found),
    found: printViolation,
  });
}

async function sweepAll<H extends Seeded, N extends Named<H>>(
  name: PlayerName,
  player: Player<H, N>,
  values: SimValues,
): Promise<PlaySummary> {
  const { named: all, namedSeed } = player.play;
  if (values.histories !== undefined) throw usageError();
  const every = Math.max(1, whole(values.every, 1));
  const names = values.sweep === 'all' ? Object.keys(all) : [values.sweep ?? ''];
  const hashed = new EventHash();
  const seed = values.seed ?? (names.length === 1 ? namedOf(player, names[0]).history.seed : namedSeed);
  const total: PlaySummary = { histories: 0, seed: Number(seed), violations: [], probes: {}, hash: '' };
  for (const swept of names) {
    const named = seededOf(player, swept, values);
    const { history } = named;
    const one = await player.sweep(named, {
      ...elsewhere({ player: name, seed: history.seed, sweep: swept }, values),
      every,
      from: whole(values.from, 0),
      progress: (done, of, found) => {
        if (done % 100 === 0) process.stderr.write(`  ${swept}: ${done} of ${of}, ${found} violations\n`);
      },
      found: printViolation,
    });
    total.histories += one.histories;
    total.violations.push(...one.violations.map((v) => ({ ...v, what: `${swept}: ${v.what}` })));
    for (const [probe, times] of Object.entries(one.probes)) total.probes[probe] = (total.probes[probe] ?? 0) + times;
    hashed.add(one.hash, 0);
  }
  total.hash = hashed.digest;
  return total;
}

async function replay<H extends Seeded, N extends Named<H>>(player: Player<H, N>, values: SimValues): Promise<number> {
  const told = (ms: number, line: string): void => say(`${ms.toFixed(0).padStart(7)}  ${line}`);
  const named = values.sweep === undefined ? undefined : seededOf(player, values.sweep, values);
  const history = named?.history ?? player.play.draw(whole(values.seed, 1), whole(values.replay, 0));
  const crash: PlayOptions =
    named === undefined || values.replay === 'none'
      ? {}
      : {
          plan: crashAt(whole(values.replay, 0)),
          reached: (p) => {
            if (p.index === Number(values.replay)) say(`         ${p.process} dies ${p.moment} ${p.call}`);
          },
        };
  const result = await player.one(history, { ...crash, told }, named);
  for (const v of result.violations)
    say(`${String(v.time).padStart(7)}  VIOLATION ${v.rule}: ${v.what} (${player.play.rules[v.rule]})`);
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
function seededOf<H extends Seeded, N extends Named<H>>(
  player: Player<H, N>,
  name: string | undefined,
  { seed }: SimValues,
): N {
  return seeded(namedOf(player, name), seed === undefined ? undefined : whole(seed, 0));
}

function namedOf<H extends Seeded, N extends Named<H>>(player: Player<H, N>, name: string | undefined): N {
  const all = player.play.named;
  const named = all[name ?? ''];
  if (named === undefined)
    throw new MusterError('BAD_REQUEST', `no history ${name}; there are all, ${Object.keys(all).join(', ')}`);
  return named;
}

const line = (v: FoundViolation): string => `history ${v.history} at ${v.time} ms, ${v.rule}: ${v.what}`;

const printViolation = (v: FoundViolation): void => void process.stderr.write(`  ${line(v)}\n`);

function print(s: PlaySummary, rules: Readonly<Record<string, string>>): void {
  say(`${s.histories} histories of seed ${s.seed}, hash ${s.hash}`);
  for (const [probe, times] of Object.entries(s.probes)) say(`  ${String(times).padStart(6)}  ${probe}`);
  for (const v of s.violations.slice(0, TOLD)) say(`${line(v)} (${rules[v.rule]})`);
  say(`${s.violations.length} violations`);
}
