import {
  keyId,
  oneTimeBox,
  parseKeysGiven,
  type DatagramKeys,
  type DatagramKeySet,
  type KeysAnswer,
  type KeysQuestion,
} from '#contracts';

/** ms before what could not be had is asked for again. */
const AGAIN = 1_000;

/** The keys of the own probes. */
export interface ProbeKeys extends DatagramKeys {
  /**
   * By the fleet's set our probes are no longer accepted, or its echoes are signed by a key that we lack: who does not
   * echo may not have been able to. A key that we lack and that does not sign yet changes nothing.
   */
  readonly outdated: boolean;
}

export interface FleetKeysParts {
  cluster: string;
  /** Of the file: they count until the fleet's were exchanged for the first time. */
  keys: readonly Buffer[];
  ask: (q: KeysQuestion) => Promise<KeysAnswer>;
  /** Called with the first failure of a row. */
  failed: (reason: unknown) => void;
}

/** Keeps the keys of the own probes equal to those of the fleet. */
export class FleetKeys implements ProbeKeys {
  private inUse: { keys: readonly Buffer[]; ids: string[] };
  private wanted: Pick<DatagramKeySet, 'version' | 'keys'> | undefined;
  private asking = false;
  private failing = false;
  private outdatedSince: number | undefined;
  private notBefore = -Infinity;

  constructor(private readonly p: FleetKeysParts) {
    this.inUse = { keys: p.keys, ids: p.keys.map(keyId) };
  }

  get cluster(): string {
    return this.p.cluster;
  }

  get keys(): readonly Buffer[] {
    return this.inUse.keys;
  }

  /** See `keyId`; the first signs. */
  get ids(): string[] {
    return this.inUse.ids;
  }

  get outdated(): boolean {
    if (this.wanted === undefined) return false;
    const [ours = ''] = this.ids;
    const [theirs = ''] = this.wanted.keys;
    return !this.wanted.keys.includes(ours) || !this.ids.includes(theirs);
  }

  /** ms for which the own probes have said nothing, as of the steps; 0: they speak. @param now monotonic ms */
  outdatedFor(now: number): number {
    return this.outdatedSince === undefined || !this.outdated ? 0 : now - this.outdatedSince;
  }

  /** The fleet's are these from now on. Undefined: those of the file. */
  follow(set: DatagramKeySet | undefined): void {
    if (set === undefined || set.version <= (this.wanted?.version ?? 0)) return;
    this.wanted = set;
    this.notBefore = -Infinity;
  }

  /** Asks for what it lacks, also where what it has is still enough. @param now monotonic ms */
  async step(now: number): Promise<void> {
    this.outdatedSince = this.outdated ? (this.outdatedSince ?? now) : undefined;
    if (!this.isBehind || this.asking || now < this.notBefore) return;
    this.asking = true;
    this.notBefore = now + AGAIN;
    try {
      const box = oneTimeBox();
      const { sealedKeys } = await this.p.ask({ holds: this.ids, box: box.publicKey });
      if (sealedKeys === undefined) return;
      const { version, keys } = parseKeysGiven(box.open(sealedKeys));
      this.failing = false;
      // A replica that is behind may have answered.
      if (version >= (this.wanted?.version ?? 0)) this.inUse = { keys, ids: keys.map(keyId) };
    } catch (e) {
      if (!this.failing) this.p.failed(e);
      this.failing = true;
    } finally {
      this.asking = false;
    }
  }

  private get isBehind(): boolean {
    return this.wanted !== undefined && String(this.wanted.keys) !== String(this.inUse.ids);
  }
}
