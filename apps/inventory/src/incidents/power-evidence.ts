import { Injectable } from '@nestjs/common';
import { devicesMark, MusterError, type NodeRecord } from '#contracts';
import { ServiceContext } from '#service';

export type PowerSeen = 'on' | 'off' | 'unknown';

/** A node that stays suspect is read again after this; what was read before is evidence until then. */
const EVIDENCE_MS = 15_000;
/** One command limit and the way there and back. */
const READ_MS = 7_000;

interface PowerRead {
  power: PowerSeen;
  detail: string;
  /** The node is being fenced, and its devices are not to be asked. */
  gaveWay: boolean;
}

interface Seen {
  /** Of these devices, see `devicesMark`: edited ones are asked anew. */
  devices: string;
  power?: PowerSeen;
  detail: string;
  /** When it was answered (not yet: asked), on this process's own clock. */
  at: number;
  askedAt: number;
}

/** What the power devices of suspect nodes answer, asked as soon as they are suspect, beside everything else. */
@Injectable()
export class PowerEvidence {
  private readonly seen = new Map<string, Seen>();

  constructor(private readonly context: ServiceContext) {}

  /** Starts a read unless one runs or a fresh one is there. Returns at once. */
  gather(node: NodeRecord): void {
    const devices = devicesMark(node.powerLevels);
    const known = this.seen.get(node.name);
    const had = known?.devices === devices ? known : undefined;
    if (had !== undefined && this.context.clock.monotonicMs() - had.askedAt < EVIDENCE_MS) return;
    if (had === undefined) this.seen.delete(node.name);
    if (!node.powerLevels.some((level) => level.length > 0)) return;
    const askedAt = this.context.clock.monotonicMs();
    // What is known stays known until the answer is there.
    this.seen.set(node.name, { detail: 'asked', at: askedAt, ...had, devices, askedAt });
    this.read(node.name).then(
      (read) => this.answered(node.name, askedAt, read),
      (cause: unknown) => {
        const e = MusterError.from(cause);
        this.context.log.debug({ node: node.name, code: e.code }, `power could not be read at suspicion: ${e.message}`);
        this.answered(node.name, askedAt, { power: 'unknown', detail: e.message, gaveWay: false });
      },
    );
  }

  /** A read that gave way to the node's fencing says nothing: what was known before only grows old. */
  private answered(node: string, askedAt: number, read: PowerRead): void {
    const had = this.seen.get(node);
    if (had?.askedAt !== askedAt || (read.gaveWay && had.power !== undefined)) return;
    const { power, detail } = read;
    this.seen.set(node, { ...had, power, detail, at: this.context.clock.monotonicMs() });
  }

  /** The answer while it is fresh; undefined: not asked, not answered yet, or too old. */
  of(node: string): PowerSeen | undefined {
    const had = this.seen.get(node);
    return had !== undefined && this.context.clock.monotonicMs() - had.at < EVIDENCE_MS + READ_MS
      ? had.power
      : undefined;
  }

  /** For the incident's story. */
  story(node: string): string {
    const had = this.seen.get(node);
    return had === undefined
      ? 'Its power was not read.'
      : `Power at suspicion: ${had.power ?? 'no answer yet'}${had.detail && ` (${had.detail})`}.`;
  }

  /** Drops what is no longer about a suspect. */
  keep(suspects: ReadonlySet<string>): void {
    for (const node of this.seen.keys()) if (!suspects.has(node)) this.seen.delete(node);
  }

  private async read(node: string): Promise<PowerRead> {
    const answer = await this.context.bus.call('fencer.power.read', { node }, { timeoutMs: READ_MS });
    const states = answer.devices.map((d) => d.power);
    const detail = answer.devices
      .map((d) => `${d.id} ${d.power}${d.code === undefined ? '' : ` ${d.code}`}`)
      .join(', ');
    const gaveWay = answer.devices.some((d) => d.code === 'NODE_BUSY');
    if (states.includes('on')) return { power: 'on', detail, gaveWay: false };
    // Every device must say so: one that does not answer may be the one that feeds it.
    return { power: states.length > 0 && states.every((s) => s === 'off') ? 'off' : 'unknown', detail, gaveWay };
  }
}
