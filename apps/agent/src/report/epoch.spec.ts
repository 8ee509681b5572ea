import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { StartNumber } from './epoch.js';

describe('the number of this start', () => {
  let dir: string;
  let file: string;
  let warned: string[];
  let open: StartNumber[];
  const log = { info() {}, error() {}, warn: (message: string) => void warned.push(message) };
  const take = async (wallMs: number, retryMs?: number): Promise<StartNumber> => {
    const taken = await StartNumber.take(dir, { ...systemClock, wallMs: () => wallMs }, log, retryMs);
    open.push(taken);
    return taken;
  };
  /** Whatever is written there next finds the disk full. */
  const fillDisk = (): Promise<void> => symlink('/dev/full', `${file}.${process.pid}.new`);
  const written = async (): Promise<string> => (await readFile(file, 'utf8')).trim();

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-epoch-'));
    file = join(dir, 'epoch');
    warned = [];
    open = [];
  });
  afterEach(async () => {
    for (const s of open) s.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('grows with each start, also when the clock goes back or the disk was lost', async () => {
    expect((await take(50_000)).epoch).toBe(50);
    expect((await take(10_000)).epoch).toBe(51);
    expect(await written()).toBe('51');
    await rm(dir, { recursive: true });
    const sut = await take(70_000);
    expect([sut.epoch, sut.warning, warned]).toEqual([70, undefined, []]);
  });

  it('is taken all the same from a full disk, on which nothing is left over, and the agent warns', async () => {
    await writeFile(file, '90\n');
    await fillDisk();
    const sut = await take(50_000);
    expect(sut.epoch).toBe(91);
    expect(sut.warning).toMatch(/^disk: the number of this start could not be written: .*ENOSPC/);
    expect(await readdir(dir)).toEqual(['epoch']);
    expect(await written()).toBe('90');
    expect(warned).toHaveLength(1);
  });

  it('is the clock’s where what was written cannot be read', async () => {
    await mkdir(file);
    const sut = await take(50_000);
    expect(sut.epoch).toBe(50);
    expect(sut.warning).toMatch(/^disk: .*EISDIR/);
    expect(warned).toHaveLength(2);
    expect(await readdir(dir)).toEqual(['epoch']);
  });

  it('is written as soon as the disk takes it, and the warning is over', async () => {
    const inTheWay = `${file}.${process.pid}.new`;
    await mkdir(inTheWay);
    const sut = await take(50_000, 5);
    expect(sut.warning).toMatch(/EISDIR/);
    await rm(inTheWay, { recursive: true });
    while (sut.warning !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await written()).toBe('50');
    expect(warned).toHaveLength(1);
  });
});
