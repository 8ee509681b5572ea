import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const children = fileURLToPath(new URL('../../scripts/tests/children.mjs', import.meta.url));

describe('a run of specs that is ended from outside', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-interrupted-'));
    const put = (name: string, text: string): void => writeFileSync(join(dir, name), text);
    put('a.spec.mjs', `it('passes', () => undefined);\n`);
    put(
      'b.spec.mjs',
      `import { writeFileSync } from 'node:fs';
it('hangs', () => { writeFileSync(${JSON.stringify(join(dir, 'hangs'))}, ''); return new Promise(() => undefined); }, 600_000);\n`,
    );
    put(
      'vitest.config.mjs',
      `export default { test: { root: ${JSON.stringify(dir)}, globals: true, include: ['*.spec.mjs'], fileParallelism: false,
  sequence: { sequencer: class { shard(f) { return f; } sort(f) { return f.toSorted((x, y) => (x.moduleId < y.moduleId ? -1 : 1)); } } } } };\n`,
    );
    put(
      'run.mjs',
      `import { interruptedBy, specs, waitOnInterrupt } from ${JSON.stringify(children)};
waitOnInterrupt();
const { report, ...counts } = await specs(['--config', ${JSON.stringify(join(dir, 'vitest.config.mjs'))}]);
process.stdout.write(JSON.stringify({ ...counts, by: interruptedBy(), titles: report?.testResults.flatMap((f) => f.assertionResults.map((t) => [t.fullName, t.status])) }) + '\\n');\n`,
    );
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('tells what came of those that had ended, and the signal', async () => {
    const run = execa(process.execPath, [join(dir, 'run.mjs')], { reject: false });
    while (!existsSync(join(dir, 'hangs'))) await pause(50);
    run.kill('SIGTERM');
    const { stdout } = await run;
    const said = JSON.parse(stdout.split('\n').at(-1) ?? '') as {
      by: string;
      passed: number;
      failed: number;
      titles: unknown[];
    };
    expect(said).toMatchObject({ by: 'SIGTERM', passed: 1 });
    expect(said.failed).toBeGreaterThan(0);
    expect(said.titles).toContainEqual(['passes', 'passed']);
  });
});
