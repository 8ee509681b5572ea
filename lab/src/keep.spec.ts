import { afterEach, beforeEach, expect, it } from 'vitest';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { refuseDeadServices, startService } from './cluster.js';
import { LabFolder, type LabRecord } from './folder.js';
import { copyHostPrograms } from './hosts.js';
import { Processes } from './processes.js';
import { until } from './until.js';

let folder: LabFolder;
let processes: Processes;
const NAME = 'detector.1';
const record: LabRecord = { format: 1, mode: 'loopback', nodes: 1, port: 1, restart: 600, state: 'up', startedAt: 0 };

beforeEach(() => {
  folder = new LabFolder(join(mkdtempSync(join(tmpdir(), 'lab-keep-')), 'lab'));
  folder.begin(record);
  copyHostPrograms(folder);
  processes = new Processes(folder);
});
afterEach(async () => {
  for (const { name, alive } of processes.all()) if (alive) await processes.kill(name);
  rmSync(join(folder.path, '..'), { recursive: true });
});

it('a service that the lab starts again writes to the log of its own name, where a refusal finds its last words', async () => {
  const plan = folder.plan();
  // There is no etc/muster.yaml: each start ends with words about it.
  for (let start = 1; start <= 2; start++) {
    startService(folder, processes, plan, record, NAME);
    await until(`start ${start} to end`, 30_000, () => (words().length === start && !isAlive() ? true : undefined));
  }
  expect(() => refuseDeadServices(processes, plan)).not.toThrow();
  await processes.kill(`keep-${NAME}`);
  const why = `${NAME} has ended: ${words().at(-1)}; its log is ${folder.at('log', `${NAME}.log`)}`;
  expect(() => refuseDeadServices(processes, plan)).toThrow(why);
  expect(words().at(-1)).toContain('muster.yaml');
});

const isAlive = (): boolean => processes.alive(NAME) !== undefined;
const words = (): string[] => {
  const log = folder.at('log', `${NAME}.log`);
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').filter(Boolean) : [];
};
