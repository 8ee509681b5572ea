import { Injectable } from '@nestjs/common';
import { identityBasis, MusterError, type NodeRecord, type RpcAnswer } from '#contracts';
import { unreadIdentity } from '#domain/power/whose-device.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ageMs, type AgeMs } from './ages.js';

/** The last read of whose the power devices of one node are, of those that are begun in good days. */
export interface PeriodicRead {
  /** Of the process that began it: each has another. */
  readonly id: number;
  /** What was asked for. */
  readonly about: string;
  readonly begunAgo: AgeMs;
  /** Since it ended, where not every device has said who it is. Undefined: it is under way, or all have. */
  readonly failedAgo: AgeMs | undefined;
  /** A device that was proven did not say who it is when there was an answer last. */
  readonly isUnread: boolean;
}

/** How the reads of good days stand in this process. */
export interface ReadSchedule {
  /** Undefined: none was begun. */
  of(node: string): PeriodicRead | undefined;
  /** Of all nodes. */
  underWay(): number;
  /** Drawn once a node, from 0 to 1: so much of a period passes before the first read of one that is known already. */
  shareOf(node: string): number;
}

/** What is to be read. */
export interface WantedRead {
  /** As it was decided on: by it the answer is judged. */
  readonly node: NodeRecord;
  readonly about: string;
  /** It is written down where a device that was proven does not say who it is. */
  readonly marks: boolean;
}

interface Kept {
  readonly id: number;
  readonly about: string;
  readonly begunAt: number;
  failedAt: number | undefined;
  isUnread: boolean;
}

/** Begins reads of whose power devices are in good days, and keeps what was asked for with what became of it. */
@Injectable()
export class PeriodicReads implements ReadSchedule {
  private readonly last = new Map<string, Kept>();
  private readonly shares = new Map<string, number>();
  private begun = 0;
  private running = 0;

  constructor(
    private readonly store: InventoryStore,
    private readonly reads: IdentityReads,
  ) {}

  of(node: string): PeriodicRead | undefined {
    const last = this.last.get(node);
    if (last === undefined) return undefined;
    const { id, about, begunAt, failedAt, isUnread } = last;
    const now = this.store.clock.monotonicMs();
    const failedAgo = failedAt === undefined ? undefined : ageMs(now - failedAt);
    return { id, about, begunAgo: ageMs(now - begunAt), failedAgo, isUnread };
  }

  underWay(): number {
    return this.running;
  }

  shareOf(node: string): number {
    const drawn = this.shares.get(node) ?? this.store.random.number();
    this.shares.set(node, drawn);
    return drawn;
  }

  /** Returns at once. What is still under way of the node is told of no more. */
  begin({ node, about, marks }: WantedRead): void {
    this.forgetGone();
    const begunAt = this.store.clock.monotonicMs();
    // Where nobody answers, it stays as it was.
    const read: Kept = { id: (this.begun += 1), about, begunAt, failedAt: undefined, isUnread: marks };
    this.last.set(node.name, read);
    void this.read(node, read);
  }

  private async read(node: NodeRecord, read: Kept): Promise<void> {
    const { name } = node;
    this.running += 1;
    try {
      const said = await this.reads.read(name, { marks: read.isUnread });
      const about = aboutEach(node, said);
      // A fencer may have read the record as it was before an edit: of a device without an answer nothing is new.
      read.isUnread = about.some((d) => d.isUnread ?? read.isUnread);
      if (!read.isUnread && about.every((d) => d.seen !== undefined)) return;
    } catch (cause) {
      const e = MusterError.from(cause);
      this.store.bus.log.debug({ node: name, code: e.code }, `its power devices were not identified: ${e.message}`);
    } finally {
      this.running -= 1;
    }
    read.failedAt = this.store.clock.monotonicMs();
  }

  private forgetGone(): void {
    for (const kept of [this.last, this.shares])
      for (const name of kept.keys()) if (this.store.nodes.view.get(name) === undefined) kept.delete(name);
  }
}

type Answer = RpcAnswer<'fencer.power.identify'>['devices'][number];

/** What was answered about each device that was asked for. One in another place, or with other credentials, is none of them. */
const aboutEach = (
  node: NodeRecord,
  said: readonly Answer[],
): { seen?: Answer['seen']; isUnread: boolean | undefined }[] =>
  node.powerLevels.flat().map((device) => {
    const basis = identityBasis(device);
    const answer = said.find((r) => r.id === device.id && r.basis === basis);
    if (answer === undefined) return { isUnread: undefined };
    return { seen: answer.seen, isUnread: unreadIdentity(node, device, answer) !== undefined };
  });
