import { describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wantedStreams } from '../streams/storage.js';
import { natsConfig } from './nats-config.js';
import { diskOf, maxFileStore, roomWarning, wantedBytes } from './store-limits.js';

const [MiB, GiB] = [1024 ** 2, 1024 ** 3];
const disk = (totalBytes: number, freeBytes: number) => ({ path: '/srv/nats', totalBytes, freeBytes });
const limits = (diskBytes?: number): number[] =>
  wantedStreams(1, diskBytes)
    .filter((s) => s.max_bytes > 2 * MiB)
    .map((s) => s.max_bytes / MiB);

describe('the limits of the store', () => {
  it('stand in nats.conf, so that a restart on a disk that has filled up restores every stream', () => {
    expect(natsConfig({ cluster: 'c', natsListen: ['127.0.0.1:4222'], storeDir: '/s' })).toContain(
      `max_file_store: ${4 * GiB}\n`,
    );
    expect(maxFileStore({ totalBytes: 2 * GiB })).toBe(4 * GiB);
    expect(maxFileStore({ totalBytes: 100 * GiB })).toBe(75 * GiB);
    expect(wantedBytes({ totalBytes: 1e15 })).toBeLessThan(maxFileStore());
  });

  it('of events and logs fit a small disk: a quarter of it, and an eighth', () => {
    expect(limits()).toEqual([1024, 512]);
    expect(limits(100 * GiB)).toEqual([1024, 512]);
    expect(limits(1 * GiB)).toEqual([256, 128]);
    expect(limits(16 * MiB)).toEqual([16, 8]);
  });

  it('are told of where the disk has no room for them, with what to do; what the store holds already is room', () => {
    const small = disk(1 * GiB, 300 * MiB);
    expect(roomWarning(small, 0)).toBe(
      'the disk of /srv/nats has 300 MiB for the store of NATS, which may grow to 641 MiB: make room, or move it to a larger disk; when it is full nothing is stored, and nobody is fenced',
    );
    expect(roomWarning(small, 350 * MiB)).toBeUndefined();
    expect(roomWarning(disk(100 * GiB, 2 * GiB), 0)).toBeUndefined();
  });

  it('are asked of the disk on which a folder will be that is not there yet', () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-limits-'));
    expect(diskOf(join(dir, 'a', 'b'))?.totalBytes).toBe(diskOf(dir)?.totalBytes);
    rmSync(dir, { recursive: true });
  });
});
