import { join } from 'node:path';
import { execa } from 'execa';
import { MusterError } from '#contracts';
import { median } from './detect/kills.js';
import { metric, type BenchResult, type Metric } from './metric.js';

/** A checkout that is built, and what a figure of it is called. */
interface Side {
  dir: string;
  name: string;
}

/**
 * The same bench here and in another checkout by turns, since the machine is noisy: what disturbs the one soon disturbs the
 * other. Ours comes first in every other turn. Without the peers of others (`--own`).
 *
 * @param runs of each
 * @returns {@link compared}
 * @throws MusterError INTERNAL where a run gave no figures: a median of fewer runs would be another one
 */
export async function runAgainst(
  bench: string,
  [ours, theirs]: readonly [Side, Side],
  runs: number,
  flags: readonly string[],
  say: (line: string) => void,
): Promise<Metric[]> {
  const found = new Map<Side, BenchResult[]>([
    [ours, []],
    [theirs, []],
  ]);
  for (let turn = 0; turn < runs; turn++)
    for (const side of turn % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      say(`run ${turn + 1} of ${runs}: ${side.name}`);
      found.get(side)?.push(await runIn(side, bench, flags));
    }
  return compared(found.get(ours) ?? [], { name: theirs.name, results: found.get(theirs) ?? [] });
}

async function runIn({ dir, name }: Side, bench: string, flags: readonly string[]): Promise<BenchResult> {
  const program = join(dir, 'dist', 'bench', 'src', 'run-bench.js');
  const { stdout, exitCode } = await execa(process.execPath, [program, bench, '--json', '--own', ...flags], {
    cwd: dir,
    stdin: 'ignore',
    stderr: 'inherit',
    reject: false,
  });
  const last = stdout.trimEnd().split('\n').at(-1) ?? '';
  if (exitCode !== 0) throw new MusterError('INTERNAL', `The bench of ${name} ended with ${exitCode}: ${last}`);
  return JSON.parse(last) as BenchResult;
}

/** Of each figure that both have: the median of our runs, beside the median of theirs. */
export function compared(
  ours: readonly BenchResult[],
  theirs: { name: string; results: readonly BenchResult[] },
): Metric[] {
  const valuesOf = (results: readonly BenchResult[], name: string): number[] =>
    results.flatMap((r) => r.metrics.filter((m) => m.name === name).map((m) => m.value));
  return (ours[0]?.metrics ?? []).flatMap((m) => {
    const other = valuesOf(theirs.results, m.name);
    if (other.length === 0) return [];
    const runs = valuesOf(ours, m.name);
    const over = `median of ${runs.length} runs by turns: ${runs.join(', ')} beside ${other.join(', ')}`;
    const { goal } = m;
    return [
      metric(m.name, m.unit, median(runs), {
        ...(goal !== undefined && { goal }),
        over,
        peer: { name: theirs.name, value: median(other) },
      }),
    ];
  });
}
