import {
  identityBasis,
  MusterError,
  type DeviceFacts,
  type ErrorCode,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import type { Reconciler } from '../conductor/task.js';
import { periodicReads } from '../plan/power/periodic-reads.js';
import { MemoryStore } from './memory-store.js';
import { planExecutor } from './planned.js';
import { playRun } from './play-run.js';
import { aNode } from './records.js';

/** Some nodes, of which one is there from the first, and which of them are read in good days. */
export class PeriodicReadsWorld {
  readonly store = new MemoryStore();
  readonly read: string[] = [];
  /** Whether what is not said is written down, of each read. */
  readonly marks: boolean[] = [];
  /** What devices say; undefined: nobody answers. */
  says: { seen?: DeviceFacts; code?: ErrorCode } | undefined = { seen: {} };
  /** Who reads them has the node's devices as they were. @default as they are */
  stale: PowerDevice[] | undefined;
  /** Answers come when they are called for, and not at once. */
  waits = false;
  readonly failed: object[] = [];
  private readonly pending: (() => void)[] = [];
  private readonly sut: Reconciler;

  constructor(o: Partial<NodeRecord> = {}) {
    this.change('n-1', o);
    const read = async (name: string, o: { marks?: boolean } = {}) => {
      this.read.push(name);
      this.marks.push(o.marks === true);
      if (this.waits) await new Promise<void>((resolve) => this.pending.push(resolve));
      if (this.says === undefined) throw new MusterError('TIMEOUT', 'no answer');
      const devices = this.stale ?? this.store.nodes.content[name]?.powerLevels.flat() ?? [];
      return devices.map((d) => ({ id: d.id, basis: identityBasis(d), ...this.says }));
    };
    this.sut = planExecutor(this.store, { reads: { read } }).drive(periodicReads);
  }

  change(name: string, o: Partial<NodeRecord> | undefined): void {
    const was = this.store.nodes.content[name] ?? aNode(name);
    this.store.nodes.set(name, o && { ...was, ...o });
  }

  /** @returns how many reads were begun so far */
  async look(ms: number): Promise<number> {
    this.store.clock.now += ms;
    await playRun(this.sut, { now: this.store.clock.now, failed: (facts) => this.failed.push(facts) });
    return this.read.length;
  }

  /** The first of those under way has its answer. */
  async answer(): Promise<void> {
    this.pending.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
