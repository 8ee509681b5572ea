import type { Disk } from '#bus';
import type { StoreDisk, StoreDiskRecord } from '#contracts';

/** Told anew at the latest, ms: a disk of which nothing is told any more is one whose inventory has ended. */
const TELL_EVERY_MS = 5 * 60_000;
/** Of the whole disk: what is less makes no difference to people. */
const CHANGE = 0.01;

/** What is to stand in the store of this host's disk, for the inventories of the others; undefined: what stands will do. */
export function diskToRecord(
  stands: StoreDiskRecord | undefined,
  { path, totalBytes, freeBytes }: Disk,
  wallMs: number,
): StoreDiskRecord | undefined {
  const isCurrent =
    stands !== undefined &&
    stands.path === path &&
    stands.totalBytes === totalBytes &&
    Math.abs(stands.freeBytes - freeBytes) < CHANGE * totalBytes &&
    Math.abs(wallMs - stands.at) < TELL_EVERY_MS;
  return isCurrent ? undefined : { path, totalBytes, freeBytes, at: wallMs };
}

/**
 * The disks of all control hosts, as one of them can tell.
 * @param host whose `own` is; undefined where there is one control host
 * @param told by host
 */
export function everyDisk(o: {
  own: Disk | undefined;
  host: string | undefined;
  told: ReadonlyMap<string, StoreDiskRecord>;
  wallMs: number;
}): StoreDisk[] {
  const { own, host, told, wallMs } = o;
  const seen: StoreDisk[] = own === undefined ? [] : [{ ...(host !== undefined && { host }), ...own }];
  // Alone, what stands there of others is of hosts that went.
  if (host === undefined) return seen;
  const others = [...told].filter(([name]) => own === undefined || name !== host);
  return [
    ...seen,
    // Clocks of hosts differ: what was told in the future was told now.
    ...others.map(([name, { at, ...disk }]) => ({ host: name, ...disk, ageMs: Math.max(0, wallMs - at) })),
  ].sort((a, b) => ((a.host ?? '') < (b.host ?? '') ? -1 : 1));
}
