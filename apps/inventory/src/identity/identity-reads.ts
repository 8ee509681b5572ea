import { Injectable } from '@nestjs/common';
import {
  identityBasis,
  knownIdentity,
  MusterError,
  type ErrorCode,
  type FreshIdentity,
  withIdentity,
  type NodeRecord,
  type PowerIdentity,
  type RpcAnswer,
} from '#contracts';
import { IDENTITY_FRESH_MS, unreadIdentity } from '#domain/power/whose-device.js';
import { comparedIdentity, identityIndex } from '#domain/node/device-identity.js';
import { ServiceContext } from '#service';
import { NodeService } from '../nodes/node.service.js';
import { InventoryStore } from '../store/inventory-store.js';
import { allTurns, takeTurns } from './identity-turns.js';

/** One without an answer is begun again after this, ms: an answer may be lost with its fencer. From the second on: */
const ASK_AGAIN_MS = 2_000;
const ASK_ON_MS = 5_000;
/** The most that is waited for a read that was begun at suspicion before anything else is looked at, ms. */
const WAIT_MS = 2_000;
/** The same for a view to show what was written, ms. */
const SHOWN_MS = 2_000;
/** Two commands of one BMC, and what may run before them. */
const READ_MS = 14_000;

/**
 * How far the reads of whose a node's power devices are have come. `pending`: one is under way that is worth waiting for.
 * `unanswered`: whoever could power it off has not been heard. `answered`: by a fencer, whatever it could find out.
 */
export type IdentityRead = 'pending' | 'unanswered' | 'answered';

type Read = RpcAnswer<'fencer.power.identify'>['devices'][number];

/** Reads of one node that follow each other until one is answered. */
interface Row {
  node: string;
  /** What its devices rest on: once they are edited, what was read says nothing of them. */
  bases: readonly string[];
  firstAt: number;
  lastAt: number;
  /** By who decides about the node, last. */
  wantedAt: number;
  asked: number;
  underWay: number;
  /** By a fencer, whatever it could find out. */
  answered: boolean;
}

/** Asks power devices who they are, and keeps in the node's record whether they are its own. Any replica may. */
@Injectable()
export class IdentityReads {
  private readonly rows = new Map<string, Row>();
  private turns = allTurns;
  /** Node → what its devices said last, and since when that was asked. */
  private readonly last = new Map<string, { at: number; devices: FreshIdentity['devices'] }>();

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
  ) {}

  /**
   * Before anybody switches off: a device that was the node's own yesterday may be another's since. Returns at once;
   * `settled` is called when it is known of one.
   */
  begin(nodes: readonly NodeRecord[], settled: () => void = () => undefined): void {
    const now = this.context.clock.monotonicMs();
    const again = new Set<Row>();
    for (const node of nodes) {
      const { name } = node;
      const bases = node.powerLevels.flat().map(identityBasis);
      if (bases.length === 0) continue;
      const row = this.rows.get(name);
      const had = row !== undefined && isOfAll(row.bases, bases) ? row : undefined;
      if (had !== undefined) had.wantedAt = now;
      if (had !== undefined && now - had.lastAt < againMs(had)) continue;
      if (had?.answered === false) again.add(had);
      else this.ask(this.row(name, bases, now), now, settled);
    }
    const { taken, turns } = takeTurns([...again], this.turns, now);
    this.turns = turns;
    for (const row of taken) this.ask(row, now, settled);
  }

  private row(node: string, bases: readonly string[], now: number): Row {
    const row = { node, bases, firstAt: now, lastAt: now, wantedAt: now, asked: 0, underWay: 0, answered: false };
    this.rows.set(node, row);
    return row;
  }

  private ask(row: Row, now: number, settled: () => void): void {
    const { node } = row;
    row.lastAt = now;
    row.asked += 1;
    row.underWay += 1;
    this.read(node, { quick: true })
      .then(
        (read) => {
          const said = read.map((r) => r.basis);
          // A fencer may have read the record as it was before an edit.
          if (isOfAll(said, row.bases)) row.answered = true;
        },
        (cause: unknown) => {
          const e = MusterError.from(cause);
          if (!unheard.has(e.code)) row.answered = true;
          this.context.log.debug({ node, code: e.code }, `its power devices were not identified: ${e.message}`);
        },
      )
      .finally(() => {
        row.underWay -= 1;
        settled();
      });
  }

  /** Of nodes that were asked since they are suspect. */
  reads(): ReadonlyMap<string, IdentityRead> {
    const now = this.context.clock.monotonicMs();
    return new Map([...this.rows.values()].map((row) => [row.node, readOf(row, now)]));
  }

  /** What this process has had read of it, as long as it may stand behind a power-off. */
  recent(node: string): FreshIdentity | undefined {
    const last = this.last.get(node);
    const ageMs = last === undefined ? Infinity : this.context.clock.monotonicMs() - last.at;
    return last === undefined || ageMs > IDENTITY_FRESH_MS ? undefined : { ageMs, devices: last.devices };
  }

  /** Drops what is too old to spare a read. One that waits for its turn stays unanswered meanwhile. */
  forgetOld(): void {
    const now = this.context.clock.monotonicMs();
    for (const [node, { at }] of this.last) if (now - at > IDENTITY_FRESH_MS) this.last.delete(node);
    for (const [node, { underWay, wantedAt }] of this.rows)
      if (underWay === 0 && now - wantedAt >= IDENTITY_FRESH_MS) this.rows.delete(node);
  }

  /**
   * Asks now. A device that cannot be read keeps what was found before. Resolves when the view shows what was found:
   * whether a node may be switched off is decided by that.
   * @param o.marks it is written down where a device that was proven does not say who it is
   * @throws MusterError NODE_UNKNOWN, or as the call to a fencer fails
   */
  async read(name: string, o: { quick?: boolean; marks?: boolean } = {}): Promise<Read[]> {
    const { quick = false, marks = false } = o;
    const at = this.context.clock.monotonicMs();
    const { devices } = await this.context.bus.call(
      'fencer.power.identify',
      { node: name, quick },
      { timeoutMs: READ_MS },
    );
    const said = devices.flatMap(({ id, basis, seen }) => (seen === undefined ? [] : [{ id, basis, seen }]));
    // Of two that overlap the one that was asked later says more.
    if (said.length > 0 && (this.last.get(name)?.at ?? -Infinity) <= at) this.last.set(name, { at, devices: said });
    if (said.length > 0 || marks) {
      const { revision } = await this.nodes.change(name, (n) => this.compared(n, devices, marks));
      await this.store.nodes.view.shows(revision, SHOWN_MS);
    }
    return devices;
  }

  /** Undefined: nothing is new. */
  private compared(node: NodeRecord, reads: readonly Read[], marks: boolean): NodeRecord | undefined {
    const others = this.store.nodes.view.entries().flatMap((e) => (e.key === node.name ? [] : [e.value]));
    const index = identityIndex([...others, node]);
    let next = node;
    for (const device of node.powerLevels.flat()) {
      const basis = identityBasis(device);
      // What was read in another place, or with other credentials, is about another device.
      const read = reads.find((r) => r.id === device.id && r.basis === basis);
      const known = knownIdentity(node, device);
      if (read === undefined || (read.seen === undefined && known === undefined)) continue;
      const at = this.context.clock.wallMs();
      const { seen } = read;
      const own = node.hardware;
      const compared = seen && comparedIdentity({ node: node.name, own, index, seen, known, basis, at });
      const found = withUnread(compared ?? known, unreadIdentity(node, device, read), { marks, at });
      if (found === undefined) continue;
      if (known === undefined || !isSame(known, found)) next = withIdentity(next, device.id, found);
    }
    return next === node ? undefined : next;
  }
}

/** Each of these is among what was read. */
const isOfAll = (read: readonly string[], bases: readonly string[]): boolean => bases.every((b) => read.includes(b));

function readOf({ answered, underWay, firstAt }: Row, now: number): IdentityRead {
  if (answered) return 'answered';
  return underWay > 0 && now - firstAt < WAIT_MS ? 'pending' : 'unanswered';
}

/** So long after the last read of it another is begun, ms. */
const againMs = ({ answered, asked }: Row): number =>
  answered ? IDENTITY_FRESH_MS : asked < 2 ? ASK_AGAIN_MS : ASK_ON_MS;

/** Nobody has said anything. */
const unheard: ReadonlySet<ErrorCode> = new Set(['TIMEOUT', 'NO_RESPONDER', 'BUS_UNAVAILABLE']);

/** @param why it does not say who it is. Undefined: it does, or nobody can tell */
function withUnread(
  found: PowerIdentity | undefined,
  why: string | undefined,
  o: { marks: boolean; at: number },
): PowerIdentity | undefined {
  if (found === undefined) return undefined;
  const { unread, ...said } = found;
  if (why === undefined) return said;
  return o.marks ? { ...said, unread: { at: unread?.at ?? o.at, why: unread?.why ?? why } } : found;
}

/** But for its date: a write for each look would wake everybody, and say nothing. */
const isSame = (a: PowerIdentity, b: PowerIdentity): boolean =>
  JSON.stringify({ ...a, at: 0 }) === JSON.stringify({ ...b, at: 0 });
