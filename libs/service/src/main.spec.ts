import { expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { fileURLToPath } from 'node:url';

const programs = ['inventory', 'gateway'].map((service) => [
  service,
  fileURLToPath(new URL(`../../../dist/apps/${service}/src/main.js`, import.meta.url)),
]);

it.each(programs)('%s refuses arguments in one line, before it looks for NATS', (service, program) => {
  const { exitCode, stderr } = execaSync(process.execPath, [program!, '--bogus'], { reject: false });
  expect([exitCode, stderr.split('\n')]).toEqual([
    2,
    [expect.stringContaining(`muster ${service}: "--bogus" is not understood`)],
  ]);
});

it('a service ends in one line where no NATS server answers', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-main-'));
  try {
    const env = { MUSTER_NATS: 'nats://127.0.0.1:1', MUSTER_DATA_DIR: dir };
    const { exitCode, stderr } = execaSync(process.execPath, [programs[0]![1]!], { env, reject: false });
    expect([exitCode, stderr.split('\n')]).toEqual([
      1,
      [expect.stringContaining('no NATS server answered at nats://127.0.0.1:1')],
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('a service ends in one line at a setting that there is not', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-main-'));
  try {
    const config = join(dir, 'muster.yaml');
    writeFileSync(config, 'cluster: x\nhttp: { listn: 1 }\n');
    const { exitCode, stderr } = execaSync(process.execPath, [programs[1]![1]!], {
      env: { MUSTER_CONFIG: config },
      reject: false,
    });
    expect([exitCode, stderr.split('\n')]).toEqual([1, [expect.stringContaining('listn is not a setting')]]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
