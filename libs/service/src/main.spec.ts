import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const programs = ['inventory', 'gateway'].map((service) => [
  service,
  fileURLToPath(new URL(`../../../dist/apps/${service}/src/main.js`, import.meta.url)),
]);

it.each(programs)(
  '%s refuses arguments in one line, before it looks for NATS',
  (service, program) => {
    const { status, stderr } = spawnSync(process.execPath, [program!, '--bogus'], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect([status, stderr.trim().split('\n')]).toEqual([
      2,
      [expect.stringContaining(`muster ${service}: "--bogus" is not understood`)],
    ]);
  },
  30_000,
);
