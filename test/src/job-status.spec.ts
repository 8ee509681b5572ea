import { execa } from 'execa';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { JobStatuses } from '#contracts';

const WRITTEN = [
  ...JobStatuses.map((s) => `export const a = (j: object) => ({ ...j, status: '${s}' });`),
  "export const a = (j: object) => ({ ...j, 'status': 'Running' as const });",
  "export const a = (ok: boolean) => ({ status: ok ? 'Complete' : 'Errored' });",
  'export const a = (j: object, status: string) => ({ ...j, status, endedAt: 1 });',
  "export const a = (j: { status: string }) => { j.status = 'Errored'; };",
];
const READ = [
  "export const a = (j: { status: string }) => j.status === 'Queued';",
  "export const a = ({ id, status }: { id: string; status: string }) => ({ job: id, status, error: '' });",
  "export const a = (n: object) => ({ ...n, status: 'Allocated' });",
  "export type A = { status: 'Queued'; endedAt: number };",
];
const ROOMS = ['apps/inventory/src/x', 'apps/provisioner/src/x', 'apps/cli/src/x', 'libs/domain/src/y', 'sim/src/x'];

describe('a job’s status', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lint-'));
    await mkdir(join(folder, 'scripts'));
    for (const file of ['.oxlintrc.json', 'scripts/oxlint-clock.mjs', 'scripts/oxlint-domain.mjs'])
      await cp(file, join(folder, file));
    await mkdir(join(folder, 'libs', 'domain', 'src'), { recursive: true });
    for (const room of ROOMS) {
      await mkdir(join(folder, room), { recursive: true });
      for (const [i, text] of [...WRITTEN, ...READ].entries())
        await writeFile(join(folder, room, `${i}.ts`), `${text}\n`);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is written by its table alone, and read by anyone', async () => {
    const bin = join(process.cwd(), 'node_modules', '.bin', 'oxlint');
    const { stdout } = await execa(bin, ['--format', 'json', ...ROOMS], { cwd: folder, reject: false });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code?: string }[] };
    const refused = new Set(diagnostics.filter((d) => d.code === 'domain(job-status)').map((d) => d.filename));
    const wanted = ROOMS.flatMap((room) => WRITTEN.map((_, i) => join(room, `${i}.ts`)));
    expect([...refused].sort()).toEqual(wanted.sort());
  });
});
