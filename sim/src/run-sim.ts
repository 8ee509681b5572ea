import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { MusterError } from '#contracts';
import { simulateDetection, type DetectResult } from './detect.js';
import { drawHistory } from './history.js';
import { storyOf } from './story.js';

const USAGE = `usage: npm run sim -- detect [--histories N] [--seed S] [--nodes N|LEAST-MOST] [--json]
  npm run sim -- detect --histories 10000 --seed 1 --json   the last line is {histories, seed, commit, violations, coverage}
  npm run sim -- detect --seed 1 --replay INDEX             the story of one history`;

/** Of each class there must be so many histories at least: a property that never met its case says nothing. */
const LEAST_COVERAGE = 0.01;
/** Violations that are told in full. */
const TOLD = 20;

function commit(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '-dirty'}`;
  } catch {
    return 'unknown';
  }
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw new MusterError('BAD_REQUEST', USAGE);
  return Number(text);
}

function sizesOf(text: string | undefined): { least: number; most: number } | undefined {
  if (text === undefined) return undefined;
  const [, least, most] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const sizes = { least: Number(least), most: Number(most ?? least) };
  if (!(sizes.least >= 2 && sizes.most >= sizes.least)) throw new MusterError('BAD_REQUEST', USAGE);
  return sizes;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function summary({ histories, seed, violations, coverage }: DetectResult, seconds: number): void {
  say(
    `${histories} histories of seed ${seed} in ${seconds.toFixed(1)} s (${Math.round(histories / seconds)} a second)`,
  );
  say(
    `coverage: ${Object.entries(coverage)
      .map(([kind, share]) => `${kind} ${(share * 100).toFixed(1)} %`)
      .join(', ')}`,
  );
  for (const v of violations.slice(0, TOLD)) say(`history ${v.history}, ${v.node} at ${v.time} ms: ${v.what}`);
  say(`${violations.length} violations`);
}

function main(args: string[]): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      histories: { type: 'string' },
      seed: { type: 'string' },
      nodes: { type: 'string' },
      replay: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    say(USAGE);
    return 0;
  }
  if (positionals.length !== 1 || positionals[0] !== 'detect') throw new MusterError('BAD_REQUEST', USAGE);
  const seed = whole(values.seed, 1);
  const sizes = sizesOf(values.nodes);
  if (values.replay !== undefined) {
    const { lines, violations } = storyOf(drawHistory(seed, whole(values.replay, 0), sizes));
    for (const line of lines) say(line);
    return violations === 0 ? 0 : 1;
  }
  const histories = Math.max(1, whole(values.histories, 1000));
  const began = performance.now();
  const every = Math.max(1, Math.floor(histories / 20));
  const result = simulateDetection({
    histories,
    seed,
    ...(sizes && { sizes }),
    progress: (done, found) => {
      if (done % every === 0)
        process.stderr.write(
          `  ${done} of ${histories}, ${found} violations, ${Math.round((performance.now() - began) / 1000)} s\n`,
        );
    },
  });
  if (values.json)
    say(
      JSON.stringify({ histories, seed, commit: commit(), violations: result.violations, coverage: result.coverage }),
    );
  else summary(result, (performance.now() - began) / 1000);
  const rare = Object.entries(result.coverage).filter(([, share]) => share < LEAST_COVERAGE);
  for (const [kind, share] of rare) process.stderr.write(`too few histories of class ${kind}: ${share}\n`);
  return result.violations.length === 0 && rare.length === 0 ? 0 : 1;
}

try {
  process.exitCode = main(process.argv.slice(2));
} catch (e) {
  process.stderr.write(`${e instanceof Error ? e.message : String(e)}\n`);
  process.exitCode = 2;
}
