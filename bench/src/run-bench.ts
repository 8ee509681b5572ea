import { MusterError } from '#contracts';
import { apiBench } from './api/api.bench.js';
import { detectBench } from './detect/detect.bench.js';
import { machine } from './machine.js';
import { reached, type Bench, type BenchResult, type Metric } from './metric.js';
import { furnish, isInside, runInside } from './sandbox.js';

const benches: Record<string, { run: Bench; sandbox?: true }> = {
  api: { run: apiBench },
  detect: { run: detectBench, sandbox: true },
};

const USAGE = `usage: npm run bench -- NAME [--quick] [--json]
  ${Object.keys(benches).join(', ')}
  --quick                           fewer rounds, where a bench takes long; said beside each figure
  npm run -s bench -- api --json    the last line is {bench, machine, metrics}`;

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

async function main(args: string[]): Promise<void> {
  const [json, quick] = ['--json', '--quick'].map((option) => args.includes(option));
  const [name, ...more] = args.filter((a) => a !== '--json' && a !== '--quick');
  const bench = name === undefined ? undefined : benches[name];
  if (name === undefined || bench === undefined || more.length > 0) throw new MusterError('BAD_REQUEST', USAGE);
  if (bench.sandbox === true) {
    if (!isInside()) {
      process.exitCode = await runInside();
      return;
    }
    await furnish();
  }
  const metrics = await bench.run({ say: (line) => process.stderr.write(`  ${line}\n`), quick: quick === true });
  const result: BenchResult = { bench: name, machine: machine(), metrics };
  process.stdout.write(json === true ? `${JSON.stringify(result)}\n` : `${result.machine}\n${table(metrics)}\n`);
}

main(process.argv.slice(2)).catch((e: unknown) => {
  process.stderr.write(`${e instanceof Error ? e.message : String(e)}\n`);
  process.exitCode = e instanceof MusterError && e.code === 'BAD_REQUEST' ? 2 : 1;
});
