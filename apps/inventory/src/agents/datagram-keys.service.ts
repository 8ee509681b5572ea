import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { openSecret, readSecretsKey, sealSecret, type KvBucket, type SealedSecret } from '#bus';
import {
  DATAGRAM_KEYS_KEY,
  datagramKeySecret,
  keyId,
  MusterError,
  parseDatagramKeys,
  sealTo,
  type AgentKeyRotateRequest,
  type AgentKeyView,
  type By,
  type DatagramKeySet,
  type KeysAnswer,
  type KeysQuestion,
} from '#contracts';
import { ServiceContext } from '#service';
import { InventoryStore, type Table } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import { holdersIn } from '../plan/agents/key-exchange.js';
import { firstKeySet, laggards, passedOver, type KeyHolder } from '../plan/agents/key-rotation.js';
import { FleetSource } from '../snapshot/fleet-source.js';

/** Laggards that are answered at most. */
const MOST = 500;
const KEY_BYTES = 32;

/** By which keys the fleet proves its datagrams: those of the file, until they are exchanged for the first time. */
@Injectable()
export class DatagramKeysService {
  private readonly table: Table<DatagramKeySet>;
  private readonly secrets: KvBucket<SealedSecret>;

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly fleets: FleetSource,
  ) {
    this.table = settingsOf(store);
    this.secrets = context.bus.bucket<SealedSecret>('secrets');
  }

  /** As last seen; undefined: those of the file. */
  get current(): DatagramKeySet | undefined {
    return this.table.view.get(DATAGRAM_KEYS_KEY)?.value;
  }

  /** For a new agent: hex, the first signs. @throws MusterError CONFIG_INVALID without them */
  async forEnrolment(): Promise<string[]> {
    const set = (await this.table.bucket.get(DATAGRAM_KEYS_KEY))?.value;
    return set ? this.keysOf(set) : this.fileKeys().map((key) => key.toString('hex'));
  }

  /** What the asker lacks of this set, sealed to it: nothing where it has all, or cannot open it. */
  async answer(set: Pick<DatagramKeySet, 'version' | 'keys'> | undefined, q: KeysQuestion): Promise<KeysAnswer> {
    if (set === undefined || typeof q.box !== 'string' || String(q.holds) === String(set.keys)) return {};
    const given = JSON.stringify({ version: set.version, keys: await this.keysOf(set) });
    try {
      return { sealedKeys: sealTo(q.box, given) };
    } catch (cause) {
      throw new MusterError('BAD_REQUEST', 'box is to be an X25519 public key', {}, { cause });
    }
  }

  view(): AgentKeyView {
    const set = this.current;
    const nodes = this.store.nodes.view.entries().filter((e) => e.value.enrolled).length;
    const holders = holdersIn(this.fleets.now());
    const shown = (all: KeyHolder[]): AgentKeyView['waitsFor'] =>
      all.slice(0, MOST).map(({ name, keys, heard }) => ({ name, ...(keys && { keys }), heard }));
    if (set === undefined) {
      const keys = this.fileKeys().map(keyId);
      const others = holders.filter((h) => h.keys !== undefined && h.keys[0] !== keys[0]);
      return { phase: 'file', keys, nodes, waitsFor: shown(others) };
    }
    const { phase, keys, by, startedAt, changedAt, without } = set;
    const waitsFor = shown(laggards(set, holders));
    return { phase, keys, by, startedAt, changedAt, ...(without && { without }), nodes, waitsFor };
  }

  /**
   * Begins an exchange, or has one that is under way pass over those that nobody hears.
   * @throws MusterError ILLEGAL_TRANSITION while one is under way, or with `dropAbsent` while none is;
   * CONFIG_INVALID without the files that it needs
   */
  async rotate({ by, dropAbsent }: By & AgentKeyRotateRequest): Promise<AgentKeyView> {
    const { revision } = await (dropAbsent === true ? this.passOver() : this.begin(by));
    await this.table.view.shows(revision, 1_000);
    return this.view();
  }

  /**
   * What the conductor wants done about the set as it stands.
   * @param o.destroys key whose secret is destroyed before the set is written
   * @param o.check right before each write
   * @returns whether the set was written
   */
  async change(
    decide: (now: DatagramKeySet) => DatagramKeySet | undefined,
    o: { destroys: string | undefined; check: () => void },
  ): Promise<boolean> {
    if (o.destroys !== undefined) await this.destroySecret(datagramKeySecret(o.destroys), o.check);
    const { changed } = await this.table.bucket.mutate(DATAGRAM_KEYS_KEY, (current) => {
      o.check();
      return current && decide(current.value);
    });
    return changed;
  }

  private async destroySecret(secret: string, check: () => void): Promise<void> {
    if ((await this.secrets.get(secret)) === undefined) return;
    check();
    await this.secrets.delete(secret);
  }

  private async begin(by: string): Promise<{ revision: number }> {
    const fresh = randomBytes(KEY_BYTES);
    const stored = (await this.table.bucket.get(DATAGRAM_KEYS_KEY))?.value;
    if (stored !== undefined && stored.phase !== 'done')
      throw new MusterError(
        'ILLEGAL_TRANSITION',
        'an exchange of the key is under way: `muster agent key status` says what it waits for',
      );
    const old = stored ? await this.onlyKeyOf(stored) : this.onlyFileKey();
    // First: a set must never name a key that nobody has.
    for (const key of [old, fresh]) await this.keep(key);
    try {
      const done = await this.table.bucket.mutate(DATAGRAM_KEYS_KEY, (current) => {
        if (current?.value.version !== stored?.version)
          throw new MusterError('ILLEGAL_TRANSITION', 'somebody else has just begun an exchange of the key');
        return firstKeySet(current?.value, { old: keyId(old), fresh: keyId(fresh), by }, this.context.clock.wallMs());
      });
      return { revision: done.revision };
    } catch (e) {
      // Where the write is lost on the way it may have been taken: then the key is needed.
      if (e instanceof MusterError && e.code === 'ILLEGAL_TRANSITION')
        await this.secrets.delete(datagramKeySecret(keyId(fresh)));
      throw e;
    }
  }

  private async passOver(): Promise<{ revision: number }> {
    // Decided on what stands there: where a step comes between, anew on what it has left.
    const { revision } = await this.table.bucket.mutate(DATAGRAM_KEYS_KEY, (current) =>
      passedOver(current?.value, holdersIn(this.fleets.now())),
    );
    return { revision };
  }

  private keep(key: Buffer): Promise<unknown> {
    const sealing = this.sealingKey();
    return this.secrets.mutate(datagramKeySecret(keyId(key)), () => sealSecret(sealing, key.toString('hex')));
  }

  private async keysOf({ keys }: Pick<DatagramKeySet, 'keys'>): Promise<string[]> {
    const sealing = this.sealingKey();
    return Promise.all(
      keys.map(async (id) => {
        const sealed = await this.secrets.get(datagramKeySecret(id));
        if (sealed === undefined)
          throw new MusterError('CONFIG_INVALID', `the datagram key ${id} is not in bucket secrets any more`);
        return openSecret(sealing, sealed.value);
      }),
    );
  }

  private async onlyKeyOf(set: DatagramKeySet): Promise<Buffer> {
    const [key] = parseDatagramKeys((await this.keysOf(set)).join('\n'));
    return key as Buffer;
  }

  private onlyFileKey(): Buffer {
    const [key, second] = this.fileKeys();
    if (second !== undefined)
      throw new MusterError('CONFIG_INVALID', 'keys.datagram holds two keys: end the exchange by hand first');
    return key as Buffer;
  }

  private fileKeys(): Buffer[] {
    const file = this.context.config.keys.datagram;
    if (file === undefined) throw missing('agents cannot be enrolled', 'keys.datagram');
    try {
      return parseDatagramKeys(readFileSync(file, 'utf8'));
    } catch (cause) {
      throw new MusterError('CONFIG_INVALID', `the key file ${file}: ${(cause as Error).message}`, { file }, { cause });
    }
  }

  private sealingKey(): Buffer {
    const file = this.context.config.keys.secrets;
    if (file === undefined) throw missing('the key of the datagrams cannot be exchanged', 'keys.secrets');
    return readSecretsKey(file);
  }
}

const missing = (what: string, setting: string): MusterError =>
  new MusterError('CONFIG_INVALID', `${what} without ${setting} in the configuration of inventory`);
