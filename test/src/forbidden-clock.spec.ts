import { execa } from 'execa';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Puts each of these into a file of its room, and tells which are not complained about. */
async function accepted(folder: string, rooms: Readonly<Record<string, readonly string[]>>): Promise<string[]> {
  const files = Object.entries(rooms).flatMap(([room, sources]) =>
    sources.map((text, i) => ({ file: join(room, `${i}.ts`), text, told: `${room}: ${text}` })),
  );
  for (const room of Object.keys(rooms)) await mkdir(join(folder, room), { recursive: true });
  for (const { file, text } of files) await writeFile(join(folder, file), `${text}\n`);
  const bin = join(process.cwd(), 'node_modules', '.bin', 'oxlint');
  const { stdout } = await execa(bin, ['--format', 'json', ...Object.keys(rooms)], { cwd: folder, reject: false });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code?: string }[] };
  const refused = diagnostics.filter((d) => /no-restricted|clock\(/.test(d.code ?? ''));
  return files.flatMap(({ file, told }) => (refused.some((d) => d.filename.endsWith(file)) ? [] : [told]));
}

const CLOCK = [
  'export const a = () => performance.now();',
  'export const a = performance;',
  "export { performance } from 'node:perf_hooks';",
  'export const a = () => process.hrtime.bigint();',
  'const { hrtime } = process; export const a = hrtime;',
  "import { hrtime } from 'node:process'; export const a = hrtime;",
  "import process from 'node:process'; export const a = process.hrtime;",
  'export const a = () => process.uptime();',
  "import { uptime } from 'node:os'; export const a = uptime;",
  'export const a = () => Date.now();',
  "export const a = () => Date['now']();",
  'export const a = (now: () => number = Date.now) => now();',
  'export const a = () => new Date();',
  'export const a = () => Date();',
  'const D = Date; export const a = () => D.now();',
  'export const a = { clock: Date };',
  'export const a = [Date];',
  'export const a = (d = Date) => d.now();',
  'export const a = (f: (d: DateConstructor) => number) => f(Date);',
  'export const a = () => globalThis.Date.now();',
  'export const a = () => global.Date.now();',
  'export const a = () => (globalThis as { Date: DateConstructor }).Date.now();',
];

const TIMERS = [
  'export const a = () => setTimeout(() => undefined, 1);',
  'export const a = () => setInterval(() => undefined, 1);',
  'export const a = () => setImmediate(() => undefined);',
  'export const a = setTimeout;',
  'export const a = globalThis.setTimeout;',
  'export const a = global.setInterval;',
  "import { setTimeout } from 'node:timers'; export const a = setTimeout;",
  "import { setTimeout as pause } from 'timers'; export const a = pause;",
  "import { setTimeout as pause } from 'node:timers/promises'; export const a = pause;",
  "import * as timers from 'timers/promises'; export const a = timers;",
  "export * from 'node:timers';",
  "export const a = () => import('node:timers/promises');",
  'export const a = () => AbortSignal.timeout(1);',
];

const CHANCE = [
  'export const a = () => Math.random();',
  'const { random } = Math; export const a = random;',
  'const M = Math; export const a = () => M.random();',
  'export const a = (m = Math) => m.random();',
  "import { randomUUID } from 'node:crypto'; export const a = randomUUID;",
  "import { randomInt } from 'crypto'; export const a = randomInt;",
  "import crypto from 'node:crypto'; export const a = crypto;",
  "import * as crypto from 'node:crypto'; export const a = crypto;",
  'export const a = () => crypto.randomUUID();',
  'export const a = () => crypto.getRandomValues(new Uint8Array(1));',
  "import { webcrypto } from 'node:crypto'; export const a = () => webcrypto.randomUUID();",
];

const OWNERS = [
  "import { systemClock } from '#bus'; export const a = systemClock;",
  "export { systemRandom } from '#bus';",
  "import * as bus from '#bus'; export const a = bus.systemClock;",
];

const PLAYED = [
  'export const a = (ms: number) => new Date(ms).toISOString();',
  'export const a = (text: string) => Date.parse(text) + Date.UTC(2026, 0, 1);',
  'export const a = (x: unknown): x is Date => x instanceof Date;',
  'export const a: ReadonlyMap<string, Date> = new Map();',
  'export const a = (constructor: string) => constructor;',
  'export const a = (x: number) => Math.max(0, Math.round(x));',
  "import { randomBytes } from 'node:crypto'; export const a = () => randomBytes(16);",
  "import { hostname } from 'node:os'; export const a = hostname;",
  "import type { Clock } from '#contracts'; export const a = (clock: Clock) => clock.after(1, () => undefined);",
];

/** Rooms whose programs are played, or may be. */
const ROOMS = [
  'apps/agent/src/x',
  'apps/detector/src/x',
  'apps/fencer/src/x',
  'apps/inventory/src/x',
  'apps/provisioner/src/x',
  'libs/bus/src/x',
  'libs/contracts/src/x',
  'libs/domain/src/x',
  'libs/probe/src/x',
  'libs/service/src/x',
];

describe('the machine’s own clock, timers and chance', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lint-'));
    await cp('.oxlintrc.json', join(folder, '.oxlintrc.json'));
    await mkdir(join(folder, 'scripts'));
    for (const rules of ['oxlint-clock.mjs', 'oxlint-domain.mjs'])
      await cp(join('scripts', rules), join(folder, 'scripts', rules));
    await mkdir(join(folder, 'libs', 'domain', 'src'), { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are refused under every name', async () => {
    const room = 'apps/inventory/src/y';
    expect(await accepted(folder, { [room]: [...CLOCK, ...TIMERS, ...CHANCE, ...OWNERS] })).toEqual([]);
  });

  it('are refused in every room that is played', async () => {
    const some = [CLOCK[0], TIMERS[0], CHANCE[0], OWNERS[0]] as string[];
    expect(await accepted(folder, Object.fromEntries(ROOMS.map((room) => [room, some])))).toEqual([]);
  });

  it('may be had by who asks for the ports', async () => {
    const room = 'apps/inventory/src/z';
    expect(await accepted(folder, { [room]: PLAYED })).toEqual(PLAYED.map((text) => `${room}: ${text}`));
  });
});
