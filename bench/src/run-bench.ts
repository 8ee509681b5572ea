import { MusterError } from '#contracts';
import { apiBench } from './api/api.bench.js';
import { machine, reached, type Bench, type BenchResult, type Metric } from './metric.js';

const benches: Record<string, Bench> = { api: apiBench };

const USAGE = `usage: npm run bench -- NAME [--json]
  ${Object.keys(benches).join(', ')}
  npm run -s bench -- api --json    the last line is {bench, machine, metrics}`;

function table(metrics: Metric[]): string {
  const rows = metrics.map((m) => [
    m.name,
    `${m.value} ${m.unit}`,
    m.goal === undefined ? '' : `${m.goal} ${reached(m) === true ? 'reached' : 'MISSED'}`,
    m.peer === undefined ? '' : `${m.ratio} × ${m.peer.name} (${m.peer.value})`,
  ]);
  const all = [['metric', 'value', 'goal', 'beside'], ...rows];
  const widths = [0, 1, 2].map((i) => Math.max(...all.map((r) => (r[i] as string).length)));
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
  const json = args.includes('--json');
  const [name, ...more] = args.filter((a) => a !== '--json');
  const bench = name === undefined ? undefined : benches[name];
  if (name === undefined || bench === undefined || more.length > 0) throw new MusterError('BAD_REQUEST', USAGE);
  const metrics = await bench((line) => process.stderr.write(`  ${line}\n`));
  const result: BenchResult = { bench: name, machine: machine(), metrics };
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${result.machine}\n${table(metrics)}\n`);
}

main(process.argv.slice(2)).catch((e: unknown) => {
  process.stderr.write(`${e instanceof Error ? e.message : String(e)}\n`);
  process.exitCode = e instanceof MusterError && e.code === 'BAD_REQUEST' ? 2 : 1;
});
