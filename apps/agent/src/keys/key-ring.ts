import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  isKeyIds,
  keyId,
  parseKeysGiven,
  type KeysAnswer,
  type KeysInUse,
  type KeysQuestion,
} from '#contracts/wire/datagram-key-set.js';
import type { DatagramKeys } from '#contracts/wire/datagram.js';
import { oneTimeBox } from '#contracts/keys/sealed-to.js';
import { reasonOf, type AgentLog } from '../log/agent-log.js';
import { writeDurably } from '../peers/durable-file.js';

export interface KeyRingParts {
  cluster: string;
  /** What the host was enrolled with: counts until there are others, and again when it is enrolled anew. */
  enrolled: readonly Buffer[];
  stateDir: string;
  /** Others are in use from now on. */
  changed: () => void;
  log: AgentLog;
}

/** On disk. */
interface Stored {
  version: number;
  /** Hex, the first signs. */
  keys: string[];
  /** Ids of the keys of the enrolment on which these follow. */
  after: string[];
}

/**
 * The keys of the datagrams: those of the enrolment, then those that came with a peer list. What is in use is on disk
 * before: others go by what this agent says that it has, also after a restart of it.
 */
export class KeyRing implements DatagramKeys {
  private readonly file: string;
  private inUse: { version: number; keys: readonly Buffer[]; ids: string[] };
  private onDisk: string | undefined;
  private taken: string | undefined;
  /** The latest that came; undefined: it is in use, or being written. */
  private next: { version: number; keys: Buffer[] } | undefined;
  private saving: Promise<void> | undefined;

  constructor(private readonly p: KeyRingParts) {
    this.file = join(p.stateDir, 'datagram-keys.json');
    this.inUse = { version: 0, keys: p.enrolled, ids: p.enrolled.map(keyId) };
  }

  get cluster(): string {
    return this.p.cluster;
  }

  get keys(): readonly Buffer[] {
    return this.inUse.keys;
  }

  /** What may be told of them; the first signs. */
  get ids(): string[] {
    return this.inUse.ids;
  }

  /** Why others than the latest may be in use. */
  get warning(): string | undefined {
    const why = this.taken ?? this.onDisk;
    return why === undefined ? undefined : `datagram keys: ${why}`;
  }

  async load(): Promise<void> {
    let text: string;
    try {
      text = await readFile(this.file, 'utf8');
    } catch (e) {
      if ((e as NodeJS.ErrnoException).code !== 'ENOENT') this.lament(`${this.file} cannot be read`, e);
      return;
    }
    try {
      const stored = parseKeysGiven(text);
      const { after } = JSON.parse(text) as Partial<Stored>;
      if (String(after) === String(this.p.enrolled.map(keyId))) this.use(stored);
    } catch (e) {
      this.lament(`${this.file} is of no use`, e);
    }
  }

  /** Whether this, of a peer list, names keys that came later than those in use, and are others. */
  lacks(set: KeysInUse | undefined): boolean {
    if (set === undefined || !isKeyIds(set.keys)) return false;
    return set.version > this.inUse.version && String(set.keys) !== String(this.ids);
  }

  /**
   * A question for the peers, and what reads its answer: takes the keys out of it, and hands on the rest at once,
   * whatever the disk does.
   */
  question(): { text: string; read: (answer: string) => string } {
    const box = oneTimeBox();
    const asked: KeysQuestion = { holds: this.ids, box: box.publicKey };
    return {
      text: JSON.stringify(asked),
      read: (answer) => {
        const { sealedKeys, ...rest } = (JSON.parse(answer) ?? {}) as KeysAnswer;
        if (sealedKeys === undefined) return answer;
        this.receive(() => box.open(sealedKeys));
        return JSON.stringify(rest);
      },
    };
  }

  /** Resolves when nothing is written any more. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.saving]);
  }

  private receive(open: () => string): void {
    try {
      const given = parseKeysGiven(open());
      if (given.version > (this.next?.version ?? 0)) this.next = given;
    } catch (e) {
      this.refuse(e);
      return;
    }
    // Never two at once: what they write aside has one name, and halves of two sets would prove nothing.
    this.saving ??= this.saveNext().finally(() => (this.saving = undefined));
  }

  private async saveNext(): Promise<void> {
    for (let given = this.next; given !== undefined; given = this.next) {
      this.next = undefined;
      await this.save(given);
    }
  }

  private async save(given: { version: number; keys: Buffer[] }): Promise<void> {
    // A replica that is behind may answer, and nobody may fall back by two steps.
    if (given.version <= this.inUse.version) return;
    try {
      const stored: Stored = {
        version: given.version,
        keys: given.keys.map((key) => key.toString('hex')),
        after: this.p.enrolled.map(keyId),
      };
      await writeDurably(this.file, `${JSON.stringify(stored)}\n`);
      this.use(given);
      this.onDisk = this.taken = undefined;
      this.p.log.info('datagram keys', { version: given.version, keys: this.ids });
      this.p.changed();
    } catch (e) {
      this.refuse(e);
    }
  }

  private refuse(cause: unknown): void {
    this.taken = reasonOf(cause);
    this.p.log.warn('new datagram keys could not be taken', { reason: this.taken });
  }

  private use({ version, keys }: { version: number; keys: readonly Buffer[] }): void {
    this.inUse = { version, keys, ids: keys.map(keyId) };
  }

  private lament(what: string, cause: unknown): void {
    this.onDisk = `${what} (${reasonOf(cause)})`;
    this.p.log.warn('the datagram keys on disk cannot be used', { reason: this.onDisk });
  }
}
