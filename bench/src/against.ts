import { join } from 'node:path';
import { execa } from 'execa';
import { MusterError } from '#contracts';
import { median } from './detect/kills.js';
import { metric, type BenchOptions, type BenchResult, type Metric } from './metric.js';

/** A checkout that is built, and what a figure of it is called. */
interface Side {
  dir: string;
  name: string;
}

/** By so much a change may make a figure worse, where it is to make none worse: the noise of this kind of machine. */
const WORSE = '≤ 1.1';

/**
 * The same bench here and in another checkout by turns, since the machine is noisy: what disturbs the one soon disturbs the
 * other. Ours comes first in every other turn. Without the peers of others (`--own`).
 *
 * @param runs of each
 * @returns {@link compared}
 */
export async function runAgainst(
  bench: string,
  [ours, theirs]: readonly [Side, Side],
  runs: number,
  flags: readonly string[],
  { say, attempt }: Pick<BenchOptions, 'say' | 'attempt'>,
): Promise<Metric[]> {
  const found = new Map<Side, BenchResult[]>([
    [ours, []],
    [theirs, []],
  ]);
  for (let turn = 0; turn < runs; turn++)
    for (const side of turn % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const run = `run ${turn + 1} of ${runs}: ${side.name}`;
      say(run);
      // A run that fails is in the result by its name; the figures of the others stand, and say of how many they are.
      await attempt(run, async () => void found.get(side)?.push(await runIn(side, bench, flags)));
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

/**
 * Of each figure that both have in every run: the median of ours, beside the median of theirs. A figure of times has a
 * ratio as a metric of its own, with its goal.
 */
export function compared(
  ours: readonly BenchResult[],
  theirs: { name: string; results: readonly BenchResult[] },
): Metric[] {
  const valuesOf = (results: readonly BenchResult[], name: string): number[] =>
    results.flatMap((r) => r.metrics.filter((m) => m.name === name).map((m) => m.value));
  return (ours[0]?.metrics ?? []).flatMap((m) => {
    const [here, there] = [valuesOf(ours, m.name), valuesOf(theirs.results, m.name)];
    if (there.length === 0 || here.length < ours.length || there.length < theirs.results.length) return [];
    const over = `by turns: ${here.join(', ')} beside ${there.join(', ')}`;
    const value = median(here);
    const peer = { name: theirs.name, value: median(there) };
    const { goal } = m;
    const own = metric(m.name, m.unit, value, {
      ...(goal !== undefined && { goal }),
      over,
      ...(peer.value !== 0 && { peer }),
    });
    // A median of figures that are each a median; the longest and the shortest of a few deaths are chance.
    if (m.unit !== 'ms' || !m.name.includes('p50')) return [own];
    const ratio = metric(`ratio_of_${m.name}`, '', value / peer.value, { goal: WORSE, over: `to ${peer.name}` });
    return [own, ratio];
  });
}
