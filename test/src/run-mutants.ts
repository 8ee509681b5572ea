import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MusterError } from '#contracts';
import { describeCommit } from '../../bench/src/commit.js';
import { describeMachine } from '../../bench/src/machine.js';
import { checkMutants } from './mutants/check.js';
import { contentOf } from './mutants/content.js';
import type { AreaMutant } from './mutants/mutant.js';
import { mutate } from './mutants/mutate.js';
import type { Kill, Outcome } from './mutants/outcome.js';
import { restOf, resultOf, type Entry, type Listed, type MutantsResult, type Tried } from './mutants/result.js';
import { Source } from './mutants/source.js';
import { FLOORS, mutants, SIMS } from './mutants/tables/index.js';
import { trials } from './mutants/trials.js';
import { Workshop } from './mutants/workshop.js';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const areas = [...new Set(mutants.map((m) => m.area))];

const USAGE = `usage: npm run mutants [-- AREA…] [--only TEXT…] [--share I/N] [--sims] [--out FILE [--rest]] [--minutes N] [--patience N] [--json] [--check]
  ${areas.map((a) => `${a} (${mutants.filter((m) => m.area === a).length})`).join(', ')}; all of them where none is named
  npm run mutants -- detect    breaks each safety line of detection in turn; \`ok\` says that a spec turned red
  --only TEXT   those that have this in their name; given several times, those that have one of them
  --share I/N   the I-th of N parts, a long area's or of all; those of one spec are neighbours
  --sims        those that name a simulation, tried by it alone; FILE keeps what came of it apart
  --out FILE    what came of each, with commit, date and machine; what FILE says of others stays
  --rest        without those that FILE says are killed, unless their file or their specs have changed since
  --minutes N   begins no other after so many
  --patience N  on a busy machine: N times as long for each test, spec and simulation until it is ended
  --json        the last line is {mutants: [{area, name, killedBy, why?, histories?}], passed, failed}
  --check       breaks nothing: each must be found in the code, and no area may have fewer than it had`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** One of so many parts. Those of one spec stay together: each part runs its specs first with nothing broken. */
function shareOf(list: readonly AreaMutant[], text: string | undefined): AreaMutant[] {
  if (text === undefined) return [...list];
  const [, part, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || of === undefined || part < 1 || part > of) throw new MusterError('BAD_REQUEST', USAGE);
  const guards = (m: AreaMutant): string => [...(m.specs ?? []), m.test ?? '', ...(m.sims ?? [])].join(' ');
  const sorted = list.toSorted((a, b) => guards(a).localeCompare(guards(b)));
  const first = (n: number): number => Math.round((n * sorted.length) / of);
  return sorted.slice(first(part - 1), first(part));
}

function chosen(named: readonly string[], o: { only?: string[]; share?: string; sims?: boolean }): AreaMutant[] {
  const unknown = named.filter((a) => !areas.includes(a));
  if (unknown.length > 0)
    throw new MusterError('BAD_REQUEST', `no area ${unknown.join(', ')}; there are ${areas.join(', ')}`);
  const wanted = mutants
    .filter((m) => named.length === 0 || named.includes(m.area))
    .filter((m) => o.only === undefined || o.only.some((text) => m.name.includes(text)))
    .filter((m) => o.sims !== true || m.sims !== undefined);
  return shareOf(wanted, o.share);
}

function outcomeOf(workshop: Workshop, m: AreaMutant, simsOnly: boolean): Outcome {
  const mutated = mutate(new Source(workshop.read(m.file)), m);
  if ('problem' in mutated) return { reason: `${m.file}: ${mutated.problem}` };
  const { specs = [], sims = [] } = m;
  if (simsOnly || specs.length === 0) return workshop.trySims(m.file, mutated.ok, sims);
  // Else its specs would run the whole one, and be green.
  if (m.built === true) workshop.build();
  const outcome = workshop.trySpecs(m.file, mutated.ok, specs, m.test);
  return 'killed' in outcome || sims.length === 0 ? outcome : workshop.trySims(m.file, mutated.ok, sims);
}

const told = (kill: Kill): { killedBy: string; why?: string; histories?: number } =>
  'sim' in kill
    ? { killedBy: `sim ${kill.sim} --seed ${kill.seed}`, histories: kill.histories }
    : { killedBy: `${kill.spec} › ${kill.test}`, why: kill.why };

/** All mutants, as a result counts them. */
const listed = (): Listed[] => mutants.map((m) => ({ ...m, content: contentOf(folder, m) }));

/** Writes what came of each after each, so that a run that is ended leaves what it has found. */
class Keeper {
  /** What was found, in the order in which it was: before this run, and in it. */
  readonly tried: { mutants: Entry[]; bySims: Entry[] };
  private readonly run = { ...describeCommit(), date: new Date().toISOString(), machine: describeMachine() };
  private readonly tables = listed();

  constructor(private readonly file: string) {
    // What may be in the way of the file is found before all the work.
    accessSync(dirname(file), constants.W_OK);
    const before = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as MutantsResult) : undefined;
    this.tried = { mutants: [...(before?.mutants ?? [])], bySims: [...(before?.bySims ?? [])] };
  }

  keep(list: keyof Keeper['tried'], tried: Tried, content: string, seconds: number): void {
    const { commit, dirty } = this.run;
    this.tried[list].push({ ...tried, commit, dirty, content, seconds: Math.round(seconds * 10) / 10 });
    writeFileSync(this.file, `${JSON.stringify(resultOf(this.tried, this.tables, this.run), undefined, 2)}\n`);
  }
}

function check(): number {
  const problems = checkMutants({ folder, mutants, floors: FLOORS, sims: SIMS });
  for (const problem of problems) process.stderr.write(`mutants: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true },
      share: { type: 'string' },
      sims: { type: 'boolean' },
      out: { type: 'string' },
      rest: { type: 'boolean' },
      minutes: { type: 'string' },
      patience: { type: 'string' },
      json: { type: 'boolean' },
      check: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    say(USAGE);
    return 0;
  }
  if (values.check) return check();
  const simsOnly = values.sims === true;
  const list = simsOnly ? 'bySims' : 'mutants';
  const keeper = values.out === undefined ? undefined : new Keeper(values.out);
  const asked = chosen(positionals, values).map((m) => ({ ...m, content: contentOf(folder, m, simsOnly) }));
  const minutes = Number(values.minutes ?? Infinity);
  const patience = Number(values.patience ?? 1);
  if (Number.isNaN(minutes) || !(patience >= 1) || (values.rest === true && keeper === undefined))
    throw new MusterError('BAD_REQUEST', USAGE);
  if (asked.length === 0) throw new MusterError('BAD_REQUEST', 'no mutant fits what was asked for');
  const wanted = values.rest === true ? restOf(asked, keeper?.tried[list] ?? []) : asked;
  const workshop = new Workshop(folder, patience);
  process.on('exit', () => workshop.close());
  process.on('SIGINT', () => process.exit(130));
  process.on('SIGTERM', () => process.exit(143));
  const results: Tried[] = [];
  const end = performance.now() + minutes * 60_000;
  const tried = trials(wanted, (m) => outcomeOf(workshop, m, simsOnly));
  for await (const { item: m, result: outcome, seconds } of tried) {
    const { area, name } = m;
    if ('killed' in outcome) {
      const kill = told(outcome.killed);
      results.push({ area, name, ...kill });
      say(`ok   ${area.padEnd(8)} ${name}${kill.histories === undefined ? '' : `: history ${kill.histories}`}`);
    } else {
      results.push({ area, name, killedBy: null, reason: outcome.reason });
      say(`FAIL ${area.padEnd(8)} ${name}: ${outcome.reason}`);
    }
    keeper?.keep(list, results.at(-1) as Tried, m.content, seconds);
    if (performance.now() > end) break;
  }
  const passed = results.filter((r) => r.killedBy !== null).length;
  const failed = results.length - passed;
  say(values.json ? JSON.stringify({ mutants: results, passed, failed }) : `${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (e) {
  process.stderr.write(`mutants: ${e instanceof Error ? e.message : String(e)}\n`);
  process.exitCode = 2;
}
