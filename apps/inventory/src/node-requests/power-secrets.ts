import { Injectable } from '@nestjs/common';
import { MusterError, type NodeRecord } from '#contracts';
import { openSecret, readSecretsKey, sealSecret, type KvBucket, type SealedSecret } from '#bus';
import { ServiceContext } from '#service';
import { inParallel } from '../store/in-parallel.js';

/** Passwords of power devices: sealed in bucket `secrets`, and nowhere else. */
@Injectable()
export class PowerSecrets {
  private key: Buffer | undefined;
  private readonly bucket: KvBucket<SealedSecret>;

  constructor(private readonly context: ServiceContext) {
    this.bucket = context.bus.bucket<SealedSecret>('secrets');
  }

  /** To be called before the record that refers to them is written. Idempotent. */
  async keep(secrets: Record<string, string>): Promise<void> {
    const entries = Object.entries(secrets);
    if (entries.length === 0) return;
    const key = this.sealingKey();
    await inParallel(entries, ([name, password]) => this.bucket.mutate(name, () => sealSecret(key, password)));
  }

  /** As they are, sealed, under new keys. @throws MusterError REVISION_CONFLICT where one has just been replaced */
  async copy(keys: ReadonlyMap<string, string>): Promise<void> {
    await inParallel([...keys], async ([from, to]) => {
      const sealed = await this.bucket.get(from);
      if (!sealed)
        throw new MusterError('REVISION_CONFLICT', 'the password of a power device has just been changed: try again');
      await this.bucket.mutate(to, () => sealed.value);
    });
  }

  /** To be called when no record refers to them any more. */
  async drop(keys: Iterable<string>): Promise<void> {
    await inParallel([...keys], async (key) => {
      if (await this.bucket.get(key)) await this.bucket.delete(key);
    });
  }

  /** Tells of these keys whether a password is the one that stands there. */
  async known(keys: Iterable<string>): Promise<(key: string, password: string) => boolean> {
    const passwords = new Map<string, string>();
    await inParallel([...keys], async (key) => {
      const sealed = await this.bucket.get(key);
      if (sealed) passwords.set(key, openSecret(this.sealingKey(), sealed.value));
    });
    return (key, password) => passwords.get(key) === password;
  }

  private sealingKey(): Buffer {
    const file = this.context.config.keys.secrets;
    if (file === undefined)
      throw new MusterError('CONFIG_INVALID', 'power passwords need keys.secrets in the configuration of inventory');
    this.key ??= readSecretsKey(file);
    return this.key;
  }
}

export const secretsOf = (n: Pick<NodeRecord, 'powerLevels'>): string[] =>
  n.powerLevels.flat().flatMap((d) => (d.secret === undefined ? [] : [d.secret]));
