import { accessSync, constants, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { MusterError } from '#contracts';
import { apiBench } from './api/api.bench.js';
import { Attempts, reasonOf } from './attempts.js';
import { describeCommit } from './commit.js';
import { detectBench } from './detect/detect.bench.js';
import { failoverBench } from './failover/failover.bench.js';
import { describeMachine, machine } from './machine.js';
import { reached, type Bench, type BenchResult, type Metric } from './metric.js';
import { returnBench } from './return/return.bench.js';
import { furnish, isInside, runInside } from './sandbox.js';
import { serverLossBench } from './server-loss/server-loss.bench.js';

/** `peers`: what `scripts/setup.mjs` installs for what it is compared with. */
const benches: Record<string, { run: Bench; sandbox?: true; peers?: string }> = {
  api: { run: apiBench },
  detect: { run: detectBench, sandbox: true },
  failover: { run: failoverBench, sandbox: true, peers: 'failover' },
  return: { run: returnBench, sandbox: true },
  'server-loss': { run: serverLossBench },
};

const SETUP = join(import.meta.dirname, '..', '..', '..', 'scripts', 'setup.mjs');

const USAGE = `usage: npm run bench -- NAME [--quick] [--json] [--out FILE]
  ${Object.keys(benches).join(', ')}
  --quick                           fewer rounds, where a bench takes long; said beside each figure
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

function read(args: string[]): { name: string; json: boolean; quick: boolean; out: string | undefined } {
  try {
    const flag = { type: 'boolean', default: false } as const;
    const options = { json: flag, quick: flag, out: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [name, ...more] = positionals;
    if (name === undefined || more.length > 0) throw new MusterError('BAD_REQUEST', 'one bench at a time');
    return { name, json: values.json, quick: values.quick, out: values.out };
  } catch (e) {
    throw new MusterError('BAD_REQUEST', USAGE, {}, { cause: e });
  }
}

async function main(args: string[]): Promise<void> {
  const { name, json, quick, out } = read(args);
  const bench = benches[name];
  if (bench === undefined) throw new MusterError('BAD_REQUEST', USAGE);
  if (bench.sandbox === true) {
    if (!isInside()) {
      if (bench.peers !== undefined)
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
  let metrics: Metric[] = [];
  // What ends all of it ends it with a result, too.
  await attempt(name, async () => {
    metrics = await bench.run({ say, quick, attempt });
  });
  const result: BenchResult = { bench: name, machine: machine(), metrics, ...(failed.length > 0 && { failed }) };
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${result.machine}\n${table(metrics)}\n`);
  keep?.(result);
  if (failed.length > 0) process.exitCode = 1;
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
