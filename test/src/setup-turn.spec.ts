import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, it } from 'vitest';

const turn = fileURLToPath(new URL('../../scripts/setup/turn.mjs', import.meta.url));

let dir: string;
let running: { kill: (signal: 'SIGKILL') => boolean }[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-turn-'));
  running = [];
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** One set-up: it says when it works and when it waits, and its work is done once `end` is called. */
function setUp(): { said: () => Promise<string>; end: () => Promise<unknown> } {
  const program = `import { once } from 'node:events';
import { inTurn } from ${JSON.stringify(turn)};
const say = (line) => process.stdout.write(line + '\\n');
await inTurn(say, async () => {
  say('works');
  await once(process.stdin.resume(), 'end');
}, ${JSON.stringify(dir)});`;
  const options = { buffer: false, reject: false, timeout: 60_000 } as const;
  const child = execa(process.execPath, ['--input-type=module', '--eval', program], options);
  running.push(child);
  const lines = child.iterable();
  return {
    said: async () => String((await lines.next()).value),
    end: async () => {
      child.stdin.end();
      return (await child).exitCode;
    },
  };
}

it('a set-up that another waits for ends with its work, and then the other one works', async () => {
  const first = setUp();
  expect(await first.said()).toBe('works');
  const second = setUp();
  expect(await second.said()).toContain('waiting for it');
  expect(await first.end()).toBe(0);
  expect(await second.said()).toBe('works');
  expect(await second.end()).toBe(0);
});
