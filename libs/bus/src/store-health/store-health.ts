/** The file system below the store, as this process itself sees it. */
export interface Disk {
  /** The store's folder. */
  path: string;
  totalBytes: number;
  /** That a program may still write. */
  freeBytes: number;
}

/** What one check has shown. */
export interface StoreFacts {
  /** There is a connection to NATS. */
  connected: boolean;
  /** Absent: the store is not on this machine, or nobody has said where it is. */
  disk?: Disk;
  /** ms since the store was first asked without an answer, although NATS is connected; 0: the last question was answered. */
  silentForMs: number;
  /** Streams that the server does not know, for so long, ms. */
  missing: readonly string[];
  missingForMs: number;
  /** They were there before: it is no installation that has just begun. */
  wasWhole: boolean;
  /** Who runs NATS restarts it where that is what helps: apps/standalone. */
  restartsItself: boolean;
  /** ms since a write was first tried that no server has acknowledged; absent: none is tried, on a single server. */
  unwrittenForMs?: number;
}

export interface StoreFault {
  kind: 'full' | 'silent' | 'unwritable' | 'incomplete';
  /** One line for anybody: what is wrong, without where and of what. */
  summary: string;
  /** One line for whoever may know the installation: what is wrong, and what to do. */
  message: string;
}

const MiB = 1024 * 1024;
/** Below this a disk is full: what a server still writes by then is not known to arrive. */
const FULL_BELOW_BYTES = 4 * MiB;
/** It is full no more from here on: a few events must not fill it again at once. */
const ROOM_FROM_BYTES = 16 * MiB;
/** A slow disk keeps a store waiting: nothing is said of it before, ms. */
const SILENT_AFTER_MS = 3_000;
/** An acknowledgement of a cluster takes milliseconds: who waits for longer waits for a leader, ms. */
const UNWRITABLE_AFTER_MS = 2_000;
/** The first start of an installation makes its streams meanwhile, ms. */
const MISSING_AFTER_MS = 15_000;
/** A part of the disk from which on a warning is due, and one from which on it is critical. */
export const WARN_AT = 0.8;
export const CRITICAL_AT = 0.95;

export const isFull = (disk: Disk): boolean => disk.freeBytes < FULL_BELOW_BYTES;
/** A disk of less has room when half of it is free. */
export const hasRoom = (disk: Disk): boolean => disk.freeBytes >= Math.min(ROOM_FROM_BYTES, disk.totalBytes / 2);

/** What keeps the store from its work; undefined: nothing that can be seen. The most certain cause is told alone. */
export function storeFault(f: StoreFacts): StoreFault | undefined {
  if (f.disk !== undefined && isFull(f.disk))
    return {
      kind: 'full',
      summary: 'The disk under NATS is full: muster status says where.',
      message: `The disk under NATS is full: ${diskText(f.disk)}. Make room there${after(f)}.`,
    };
  // Without a connection nothing is known of the store, and that there is none is told by whoever needs one.
  if (!f.connected) return undefined;
  if (f.silentForMs >= SILENT_AFTER_MS)
    return {
      kind: 'silent',
      summary: 'NATS is connected, and its store does not answer: muster status says what to do.',
      message: `NATS is connected, and its store has not answered for ${Math.round(f.silentForMs / 1000)} s: ${whySilent(f)}.`,
    };
  if ((f.unwrittenForMs ?? 0) >= UNWRITABLE_AFTER_MS)
    return {
      kind: 'unwritable',
      summary: 'NATS takes no writes: too few of its servers run, or they are electing a leader.',
      message: `NATS has acknowledged no write for ${Math.round((f.unwrittenForMs ?? 0) / 1000)} s: too few of its servers run, or they are electing a leader, which takes up to 10 s. Start those that are down.`,
    };
  if (f.missing.length > 0 && (f.wasWhole || f.missingForMs >= MISSING_AFTER_MS))
    return {
      kind: 'incomplete',
      summary: 'The store of NATS is incomplete: muster status says what is missing.',
      message: `The store of NATS is incomplete: ${f.missing.join(', ')} ${f.missing.length === 1 ? 'is' : 'are'} missing. The log of nats-server says why (a disk too small for them?); make room and restart it, and do not restart inventory before.`,
    };
  return undefined;
}

const after = (f: StoreFacts): string =>
  f.restartsItself
    ? '; Muster then goes on by itself within 15 s'
    : ', then restart nats-server: it does not write again by itself';

function whySilent(f: StoreFacts): string {
  if (f.disk === undefined)
    return 'its disk may be full. Look there (df), make room, and restart nats-server: it does not write again by itself';
  const room = `its disk has room (${diskText(f.disk)})`;
  return f.restartsItself
    ? `${room}; nats-server is being restarted`
    : `${room}; after a full disk nats-server does not go on by itself: restart it`;
}

const diskText = (d: Disk): string => `${sizeText(d.freeBytes)} free of ${sizeText(d.totalBytes)} at ${d.path}`;

/** In the units of df -h. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value >= 10 || power === 0 ? Math.round(value) : Math.round(value * 10) / 10} ${units[power]}`;
}

/**
 * A store that fills up; undefined: there is room.
 * @param warned it was warned of before: then until it is 5 % below
 */
export function spaceWarning(
  disk: Disk,
  warned = false,
): { severity: 'warning' | 'critical'; message: string } | undefined {
  const used = disk.totalBytes === 0 ? 0 : Math.round((1 - disk.freeBytes / disk.totalBytes) * 1e6) / 1e6;
  if (used < WARN_AT - (warned ? 0.05 : 0)) return undefined;
  // In steps: what is told anew with each MiB would fill the disk with it.
  const percent = Math.floor(used * 20) * 5;
  return {
    severity: used >= CRITICAL_AT || isFull(disk) ? 'critical' : 'warning',
    message: `The disk under NATS, ${disk.path}, is ${percent} % full or more. When it is full nothing is stored, nobody is fenced and no work is restarted: make room there.`,
  };
}
