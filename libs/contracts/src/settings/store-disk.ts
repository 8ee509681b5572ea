/** Keys of bucket `settings`, by control host: the disk below its NATS server's store, as its inventory sees it. */
export const STORE_DISK_PREFIX = 'store-disk=';

/** Kept where there are several control hosts, each of which sees its own disk alone. */
export interface StoreDiskRecord {
  /** The store's folder. */
  path: string;
  totalBytes: number;
  /** That a program may still write. */
  freeBytes: number;
  /** When it was told, ms of that host's wall clock. */
  at: number;
}
