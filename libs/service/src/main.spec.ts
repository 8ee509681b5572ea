import { expect, it } from 'vitest';
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
