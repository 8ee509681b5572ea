import { Injectable } from '@nestjs/common';
import { MusterError } from '#contracts';
import { openSecret, readSecretsKey, sealSecret, type KvBucket, type SealedSecret } from '#bus';
import { ServiceContext } from '#service';

/** Reads or writes at the same time, at most. */
const AT_ONCE = 64;

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

  /** As they are, sealed, under new keys. What is gone already stays gone. */
  async copy(keys: ReadonlyMap<string, string>): Promise<void> {
    await inParallel([...keys], async ([from, to]) => {
      const sealed = await this.bucket.get(from);
      if (sealed) await this.bucket.mutate(to, () => sealed.value);
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

export async function inParallel<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      for (const item of waiting) await act(item);
    }),
  );
}
