import { readdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { diskFrom } from '../store-health/disk.js';
import { sizeText, type Disk } from '../store-health/store-health.js';
import { wantedStreams } from '../streams/storage.js';

const MiB = 1024 * 1024;
const LEAST_FILE_STORE = 4096 * MiB;
/** For the buckets: records of a thousand nodes, with each incident's past. */
const BUCKETS_BYTES = 256 * MiB;

/**
 * What JetStream may keep, bytes: of the disk's size, which does not change. The server's own default goes by what is
 * free when it starts; after a restart on a disk that had filled up it would not restore streams, whatever is in them.
 * @param disk absent: the server is on another machine, or the disk cannot be asked
 */
export const maxFileStore = (disk?: Pick<Disk, 'totalBytes'>): number =>
  Math.max(LEAST_FILE_STORE, Math.floor((disk?.totalBytes ?? 0) * 0.75));

/** What the store may grow to where its streams are as Muster makes them on that disk. */
export const wantedBytes = (disk: Pick<Disk, 'totalBytes'>): number =>
  BUCKETS_BYTES + wantedStreams(1, disk.totalBytes).reduce((sum, { max_bytes }) => sum + Math.max(0, max_bytes), 0);

/** One line where the disk has no room for what the store may grow to; undefined: it has. */
export function roomWarning(disk: Disk, usedBytes: number): string | undefined {
  const [room, wanted] = [disk.freeBytes + usedBytes, wantedBytes(disk)];
  if (room >= wanted) return undefined;
  return `the disk of ${disk.path} has ${sizeText(room)} for the store of NATS, which may grow to ${sizeText(wanted)}: make room, or move it to a larger disk; when it is full nothing is stored, and nobody is fenced`;
}

/** Of the folder, or of the one in which it will be made. Undefined where it cannot be asked. */
export function diskOf(folder: string): Disk | undefined {
  const path = resolve(folder);
  for (let at = path; ; at = dirname(at))
    try {
      return diskFrom(path, statfsSync(at));
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(at) === at) return undefined;
    }
}

/** {@link roomWarning} of a store's folder as it is now. */
export function storeRoomWarning(folder: string): string | undefined {
  const disk = diskOf(folder);
  return disk === undefined ? undefined : roomWarning(disk, bytesIn(folder));
}

function bytesIn(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
      .reduce((sum, size) => sum + size, 0);
  } catch {
    // It is not there yet, or not ours to read: then what is free must do.
    return 0;
  }
}
