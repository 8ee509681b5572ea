import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holds, seconds, type Check } from './check.js';
import { NATS_IMAGE } from './base-images.js';

/** What the bus needs of a server: the same for the played one of simulations, the system's, and this one. */
const SPEC = 'sim/src/nats/contract/system.spec.ts';

interface Report {
  success: boolean;
  numPassedTests: number;
  testResults: {
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Specs of the bus, on the nats-server of the composition. */
export const busChecks: readonly Check[] = [
  {
    name: 'bus',
    title:
      'the composition’s nats-server does what the bus needs: the contract’s specs, on its image by Testcontainers',
    needs: [],
    async run({ machine, composition: { engine }, root }) {
      const since = performance.now();
      const from = Math.floor(Date.now() / 1000);
      const env = Object.entries({ ...engine.env, NATS_IMAGE, MUSTER_TEST_NATS: 'docker' });
      const folder = mkdtempSync(join(tmpdir(), 'muster-compose-bus-'));
      const file = join(folder, 'report.json');
      const vitest = ['node_modules/vitest/vitest.mjs', 'run', SPEC, '--reporter=json', `--outputFile=${file}`];
      // On the machine: there the engine publishes the ports of its containers.
      await machine.answer('machine', 'env', [
        ...['-C', root],
        ...env.map(([name, value]) => `${name}=${value}`),
        ...[process.execPath, ...vitest],
      ]);
      const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
      rmSync(folder, { recursive: true });
      const failed = report.testResults.flatMap(({ message, assertionResults }) => [
        ...(message === '' ? [] : [message]),
        ...assertionResults
          .filter(({ status }) => status !== 'passed')
          .map(({ fullName, status, failureMessages }) => `${fullName}: ${status} ${failureMessages[0] ?? ''}`),
      ]);
      holds(failed.join('; '), failed.length === 0);
      holds('no spec ran', report.success && report.numPassedTests > 0);
      // That it was this image, the engine tells.
      const until = String(Math.ceil(Date.now() / 1000));
      const span = ['--since', String(from), '--until', until];
      const filters = ['event=create', `image=${NATS_IMAGE}`].flatMap((filter) => ['--filter', filter]);
      const made = (await engine.docker('events', ...span, ...filters)).split('\n').filter(Boolean).length;
      holds(`no container of ${NATS_IMAGE} was made`, made > 0);
      return `${report.numPassedTests} specs, ${made} containers of ${NATS_IMAGE}, ${seconds(since)}`;
    },
  },
];
