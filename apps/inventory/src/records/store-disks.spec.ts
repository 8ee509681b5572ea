import { describe, expect, it } from 'vitest';
import { diskToRecord, everyDisk } from './store-disks.js';

const disk = { path: '/srv', totalBytes: 1_000_000, freeBytes: 500_000 };
const MIN_MS = 60_000;

describe('the disk that a control host tells the others of', () => {
  it('is told once, when it changes, and every five minutes', () => {
    const stands = { ...disk, at: 0 };
    expect(diskToRecord(undefined, disk, 7)).toEqual({ ...disk, at: 7 });
    expect(diskToRecord(stands, { ...disk, freeBytes: 495_000 }, MIN_MS)).toBeUndefined();
    expect(diskToRecord(stands, { ...disk, freeBytes: 480_000 }, MIN_MS)?.freeBytes).toBe(480_000);
    expect(diskToRecord(stands, { ...disk, totalBytes: 2_000_000 }, MIN_MS)?.totalBytes).toBe(2_000_000);
    expect(diskToRecord(stands, disk, 5 * MIN_MS)?.at).toBe(5 * MIN_MS);
    // A clock that was set back: else nothing would be told for as long.
    expect(diskToRecord({ ...disk, at: 60 * MIN_MS }, disk, MIN_MS)?.at).toBe(MIN_MS);
  });

  it('stands beside those of the others, with how old their word is; its own is that of now', () => {
    const told = new Map(['ctl3', 'ctl1', 'ctl2'].map((host, i) => [host, { ...disk, at: i * MIN_MS }]));
    expect(everyDisk({ own: { ...disk, freeBytes: 1 }, host: 'ctl2', told, wallMs: MIN_MS })).toEqual([
      { host: 'ctl1', ...disk, ageMs: 0 },
      { host: 'ctl2', ...disk, freeBytes: 1 },
      { host: 'ctl3', ...disk, ageMs: MIN_MS },
    ]);
    // One that cannot look any more is told of as it was.
    expect(everyDisk({ own: undefined, host: 'ctl3', told, wallMs: MIN_MS }).map((d) => [d.host, d.ageMs])).toEqual([
      ['ctl1', 0],
      ['ctl2', 0],
      ['ctl3', MIN_MS],
    ]);
  });

  it('is the only one, without a name, where there is one control host', () => {
    const told = new Map([['ctl1', { ...disk, at: 0 }]]);
    expect(everyDisk({ own: disk, host: undefined, told, wallMs: 1 })).toEqual([disk]);
    expect(everyDisk({ own: undefined, host: undefined, told, wallMs: 1 })).toEqual([]);
  });
});
