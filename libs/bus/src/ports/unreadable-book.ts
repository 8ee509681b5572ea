import type { BucketName, UnreadableRecord } from '#contracts';

/** Records that could not be read, as this process last saw them: from its watches, and from its single reads. */
export class UnreadableBook {
  private readonly records = new Map<string, UnreadableRecord>();
  private readonly listeners = new Set<() => void>();

  list(): UnreadableRecord[] {
    return [...this.records.values()];
  }

  /** Does any key of this bucket, or of any, stand in it? */
  has(bucket: BucketName, key?: string): boolean {
    if (key !== undefined) return this.records.get(subjectLike(bucket, key, false)) !== undefined;
    return this.list().some((r) => r.bucket === bucket && r.foreign !== true);
  }

  /** @returns whether it is news */
  note(r: UnreadableRecord): boolean {
    const id = subjectLike(r.bucket, r.key, r.foreign === true);
    if (this.records.get(id)?.revision === r.revision) return false;
    this.records.set(id, r);
    this.notify();
    return true;
  }

  /** It was deleted, or overwritten with one that can be read. */
  forget(bucket: BucketName, key: string, foreign = false): void {
    if (this.records.size > 0 && this.records.delete(subjectLike(bucket, key, foreign))) this.notify();
  }

  /** Returns how to stop it. */
  onChange(fn: () => void): () => void {
    this.listeners.add(fn);
    return () => this.listeners.delete(fn);
  }

  private notify(): void {
    for (const fn of [...this.listeners]) fn();
  }
}

/** A foreign key may look like one of ours. */
const subjectLike = (bucket: BucketName, key: string, foreign: boolean): string =>
  `${bucket} ${foreign ? 'foreign' : 'own'} ${key}`;
