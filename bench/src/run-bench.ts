import { accessSync, constants, existsSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { MusterError } from '#contracts';
import { runAgainst } from './against.js';
import { apiBench } from './api/api.bench.js';
import { Attempts, reasonOf } from './attempts.js';
import { describeCommit } from './commit.js';
import { conductorBench } from './conductor/conductor.bench.js';
import { detectBench } from './detect/detect.bench.js';
import { failoverBench } from './failover/failover.bench.js';
import { LastWord } from './last-word.js';
import { describeMachine, machine } from './machine.js';
import { reached, type Bench, type BenchResult, type Metric } from './metric.js';
import { returnBench } from './return/return.bench.js';
import { furnish, isInside, runInside } from './sandbox.js';
import { serverLossBench } from './server-loss/server-loss.bench.js';

/** `peers`: what `scripts/setup.mjs` installs for what it is compared with. */
const benches: Record<string, { run: Bench; sandbox?: true; peers?: string }> = {
  api: { run: apiBench },
  conductor: { run: conductorBench, sandbox: true },
  detect: { run: detectBench, sandbox: true },
  failover: { run: failoverBench, sandbox: true, peers: 'failover' },
  return: { run: returnBench, sandbox: true },
  'server-loss': { run: serverLossBench },
};

const ROOT = join(import.meta.dirname, '..', '..', '..');
const SETUP = join(ROOT, 'scripts', 'setup.mjs');
/** With `--against`, of each. */
const RUNS = 3;

const USAGE = `usage: npm run bench -- NAME [--quick] [--own | --against DIR] [--json] [--out FILE]
  ${Object.keys(benches).join(', ')}
  --quick                           fewer rounds, where a bench takes long; said beside each figure
  --own                             without the fleets of others that it is compared with: Serf's, Pacemaker's
  --against DIR                     ${RUNS} runs here and ${RUNS} in that checkout, by turns, with --own: DIR is built, and its bench
                                    has --own; a figure is the median of its runs, beside the other's
  npm run -s bench -- api --json    the last line is {bench, machine, metrics}; with {failed}, and exit 1, where a part failed
  npm run bench -- detect --out docs/results/bench-detect.json   with commit, date and machine`;

function table(metrics: Metric[]): string {
  const rows = metrics.map((m) => [
    m.name,
    `${m.value} ${m.unit}`,
    m.goal === undefined ? '' : `${m.goal} ${reached(m) === true ? 'reached' : 'MISSED'}`,
    m.over ?? '',
    m.peer === undefined ? '' : `${m.ratio} × ${m.peer.name} (${m.peer.value})`,
  ]);
  const all = [['metric', 'value', 'goal', 'over', 'beside'], ...rows];
  const widths = [0, 1, 2, 3].map((i) => Math.max(...all.map((r) => (r[i] as string).length)));
  return all
    .map((r) =>
      r
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

interface Options {
  name: string;
  json: boolean;
  quick: boolean;
  own: boolean;
  against: string | undefined;
  out: string | undefined;
}

function read(args: string[]): Options {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const text = { type: 'string' } as const;
    const options = { json: flag, quick: flag, own: flag, against: text, out: text } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0) throw new MusterError('BAD_REQUEST', 'one bench at a time');
    if (values.own && values.against !== undefined)
      throw new MusterError('BAD_REQUEST', '--against runs with --own anyway');
    return { name, ...values, against: values.against, out: values.out };
  } catch (e) {
    throw new MusterError('BAD_REQUEST', USAGE, {}, { cause: e });
  }
}

async function main(args: string[]): Promise<void> {
  const { name, json, quick, own, against, out } = read(args);
  const bench = benches[name];
  if (bench === undefined) throw new MusterError('BAD_REQUEST', USAGE);
  const both = against === undefined ? undefined : sides(against);
  if (bench.sandbox === true && both === undefined) {
    if (!isInside()) {
      if (bench.peers !== undefined && !own)
        await execa(process.execPath, [SETUP, '--for', bench.peers], { stdio: ['ignore', 2, 2] });
      process.exitCode = await runInside();
      return;
    }
    await furnish();
  }
  // What may be in the way of the file is found before all the work.
  const keep = out === undefined ? undefined : keeper(out, name, quick);
  const say = (line: string): boolean => process.stderr.write(`  ${line}\n`);
  const { failed, attempt } = new Attempts(say);
  const print = (result: BenchResult): void => {
    const shown = json ? JSON.stringify(result) : [result.machine, table(result.metrics), ...untold(result)].join('\n');
    writeSync(1, `${shown}\n`);
    keep?.(result);
  };
  const lastWord = new LastWord(failed, { bench: name, machine: machine() }, print);
  let metrics: Metric[] = [];
  // What ends all of it ends it with a result, too.
  await attempt(name, async () => {
    metrics =
      both === undefined
        ? await bench.run({ say, quick, own, attempt })
        : await runAgainst(name, both, RUNS, quick ? ['--quick'] : [], { say, attempt });
  });
  const result: BenchResult = { bench: name, machine: machine(), metrics, ...(failed.length > 0 && { failed }) };
  lastWord.isPrinted();
  print(result);
  // What a part that failed has left behind must not keep this process.
  process.exit(failed.length > 0 ? 1 : 0);
}

/** Beside the table, which has no line for what gave no figures. */
const untold = ({ failed = [] }: BenchResult): string[] => failed.map(({ part, why }) => `${part} FAILED: ${why}`);

/** This checkout and the other, each called by its commit. */
function sides(against: string): Parameters<typeof runAgainst>[1] {
  const dir = resolve(against);
  if (!existsSync(join(dir, 'dist', 'bench')))
    throw new MusterError('BAD_REQUEST', `${dir} is no checkout that is built: run npm run build in it.`);
  const side = (of: string): { dir: string; name: string } => ({
    dir: of,
    name: describeCommit(of).commit.slice(0, 7),
  });
  return [side(ROOT), side(dir)];
}

/** Writes a result as the long tests write theirs, with what it was found with and on. */
function keeper(file: string, bench: string, quick: boolean): (result: BenchResult) => void {
  const date = new Date();
  const begun = { name: `bench-${bench}`, ...describeCommit(), date: date.toISOString(), machine: describeMachine() };
  accessSync(dirname(file), constants.W_OK);
  return ({ metrics, failed }) => {
    const seconds = Math.round((Date.now() - date.getTime()) / 1000);
    const told = { ...begun, seconds, quick, metrics, ...(failed && { failed }) };
    writeFileSync(file, `${JSON.stringify(told, undefined, 2)}\n`);
  };
}

main(process.argv.slice(2)).catch((e: unknown) => {
  process.stderr.write(`${reasonOf(e)}\n`);
  process.exitCode = e instanceof MusterError && e.code === 'BAD_REQUEST' ? 2 : 1;
});
