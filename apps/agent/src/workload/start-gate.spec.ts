import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { listByCommand } from './running.js';
import { isGated } from './start-gate.js';

const UNIT = 'etc/systemd/system/db.service';
const DROP_IN = `${UNIT}.d/50-muster-gate.conf`;
const GATE = 'ExecStartPre=/usr/local/bin/muster-gate db --generation 3';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-gates-'));
  process.env['MUSTER_ROOT'] = root;
});
afterEach(async () => {
  delete process.env['MUSTER_ROOT'];
  await rm(root, { recursive: true, force: true });
});

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
};

it.each<[string, Record<string, string>, boolean]>([
  ['has it in its own file', { [UNIT]: `[Service]\n${GATE}\nExecStart=/usr/bin/db\n` }, true],
  ['has it in a drop-in', { 'lib/systemd/system/db.service': 'ExecStart=/usr/bin/db', [DROP_IN]: GATE }, true],
  ['has none', { [UNIT]: '[Service]\nExecStartPre=/usr/bin/true\nExecStart=/usr/bin/db\n' }, false],
  ['is not there at all', {}, false],
  ['has the gate of another workload', { [UNIT]: GATE.replace(' db ', ' web ') }, false],
  ['goes on when it refuses', { [UNIT]: GATE.replace('=/', '=-/') }, false],
  ['has lost it to a later drop-in', { [DROP_IN]: GATE, [`${UNIT}.d/60-own.conf`]: 'ExecStartPre=\n' }, false],
  [
    'had its list emptied before it, somewhere else',
    { 'usr/lib/systemd/system/db.service.d/10-own.conf': 'ExecStartPre=', [DROP_IN]: GATE },
    true,
  ],
  [
    'has it in a file that a stronger one stands for',
    { [UNIT]: 'ExecStart=/usr/bin/db', 'lib/systemd/system/db.service': GATE },
    false,
  ],
])('a unit that %s', async (_what, files, gated) => {
  for (const [path, text] of Object.entries(files)) await put(path, text);
  expect(await isGated('db.service', 'db')).toBe(gated);
});

it('of what a lister names, its word counts, then the unit of the last order; what was never ordered has no gate', async () => {
  await put('var/lib/muster/workloads/db.json', JSON.stringify({ name: 'db', generation: 3, unit: 'db.service' }));
  await put(DROP_IN, GATE);
  const names = [
    { name: 'db', generation: 3 },
    { name: 'own', generation: 1, gated: true },
    { name: 'vm 7', generation: 1 },
  ];
  expect(await listByCommand(systemClock, ['echo', JSON.stringify(names)])).toEqual([
    { name: 'db', generation: 3, gated: true },
    { name: 'own', generation: 1, gated: true },
    { name: 'vm 7', generation: 1, gated: false },
  ]);
});
