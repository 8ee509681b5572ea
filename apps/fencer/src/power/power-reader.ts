import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  FencingNumbers,
  identityBasis,
  MusterError,
  POWER_QUARANTINE_MS,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
  type RpcAnswer,
} from '#contracts';
import { powerWish } from '#domain/power/power-wish.js';
import { guidIsEnough } from '#domain/power/whose-device.js';
import type { KvView } from '#bus';
import { ServiceContext } from '#service';
import type { PowerDeadline } from '../drivers/power-driver.js';
import { bmcAddress } from '../drivers/power-driver.js';
import { BmcQueue, Urgency } from './bmc-queue.js';
import { FirstSeen } from './first-seen.js';
import { PowerCommander } from './power-commander.js';
import type { IdentifyingPower } from './power-control.js';

/** What is wanted for longer than this, ms, since its last command, waits for something, and has none in flight. */
const GIVES_WAY_MS = POWER_QUARANTINE_MS;

/** What is wanted of a node's power, with its last command as it stands: it changes with each that begins or ends. */
function wishMark(i: IncidentRecord): string | undefined {
  const wish = powerWish(i);
  const last = i.commands.at(-1);
  return (
    wish && `${i.id}/${wish.orderer}/${wish.verb}/${last?.n ?? 0}/${last?.endedAt === undefined ? 'given' : 'ended'}`
  );
}

export interface DevicePower {
  id: string;
  power: 'on' | 'off' | 'unknown';
  code?: string;
  detail?: string;
}

/**
 * Reads power outside of fencing: evidence for inventory, self-tests of devices. It changes nothing and gives way:
 * a node that is being fenced, switched on or shut down is not read, and a read under way is ended as soon as that begins,
 * so that over all processes a BMC has one command in flight.
 */
@Injectable()
export class PowerReader implements OnApplicationBootstrap, OnApplicationShutdown {
  private incidents: KvView<IncidentRecord> | undefined;
  /** What is wanted of the power of each node. */
  private readonly wanted = new FirstSeen();
  private readonly reading = new Map<string, Set<AbortController>>();

  constructor(
    private readonly context: ServiceContext,
    @Inject(PowerCommander) private readonly commander: IdentifyingPower,
    private readonly queue: BmcQueue,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.incidents = await this.context.bus.bucket<IncidentRecord>('incidents').view();
    this.incidents.onChange((node, incident) => {
      this.wantedForMs(node, incident);
      if (this.givesWay(node)) for (const read of this.reading.get(node) ?? []) read.abort();
    });
    for (const { key, value } of this.incidents.entries()) this.wantedForMs(key, value);
  }

  /** For how long it has been wanted as it is, as seen here, ms; undefined: nothing is. */
  private wantedForMs(node: string, incident: IncidentRecord | undefined): number | undefined {
    const mark = incident && wishMark(incident);
    const now = this.context.clock.monotonicMs();
    // Also that nothing is wanted: the same that is wanted after that is wanted anew.
    const sinceMs = this.wanted.since(node, mark ?? '', now);
    return mark === undefined ? undefined : now - sinceMs;
  }

  /** A fencing goes on until it is over. A power-on may wait for hours, and reads must not wait with it. */
  private givesWay(node: string): boolean {
    const incident = this.incidents?.get(node)?.value;
    return incident?.phase === 'fencing' || (this.wantedForMs(node, incident) ?? GIVES_WAY_MS) < GIVES_WAY_MS;
  }

  async onApplicationShutdown(): Promise<void> {
    for (const reads of this.reading.values()) for (const read of reads) read.abort();
    await this.incidents?.close();
  }

  /** Every device of the node, or those given. @throws NODE_UNKNOWN */
  async read(node: string, given?: PowerDevice[]): Promise<DevicePower[]> {
    const devices = given ?? (await this.nodeOf(node)).powerLevels.flat();
    const stopped = (d: PowerDevice, detail: string): DevicePower => ({
      id: d.id,
      power: 'unknown',
      code: 'NODE_BUSY',
      detail,
    });
    return this.readEach(node, devices, stopped, async (device, deadline, signal): Promise<DevicePower> => {
      const o = await this.commander.run(device, 'status', deadline, signal);
      return {
        id: device.id,
        power: o.power ?? 'unknown',
        ...(o.code === undefined ? {} : { code: o.code }),
        ...(o.detail === undefined ? {} : { detail: o.detail }),
      };
    });
  }

  /** Who each device of the node says it is. @throws NODE_UNKNOWN */
  async identify(node: string, quick: boolean): Promise<RpcAnswer<'fencer.power.identify'>['devices']> {
    const record = await this.nodeOf(node);
    const devices = record.powerLevels.flat();
    type Identified = RpcAnswer<'fencer.power.identify'>['devices'][number];
    const of = (d: PowerDevice): { id: string; basis: string } => ({ id: d.id, basis: identityBasis(d) });
    const stopped = (d: PowerDevice, detail: string): Identified => ({ ...of(d), code: 'NODE_BUSY', detail });
    return this.readEach(node, devices, stopped, async (device, deadline, signal): Promise<Identified> => {
      const o = { deadline, quick: quick && guidIsEnough(record, device), signal };
      const { seen, ...why } = await this.commander.identify(device, o);
      return { ...of(device), ...(seen === undefined ? why : { seen }) };
    });
  }

  /** One read of each device, ended as soon as something is wanted of the node's power. */
  private async readEach<T>(
    node: string,
    devices: readonly PowerDevice[],
    stopped: (d: PowerDevice, detail: string) => T,
    at: (d: PowerDevice, deadline: PowerDeadline, signal: AbortSignal) => Promise<T>,
  ): Promise<T[]> {
    if (this.givesWay(node)) return devices.map((d) => stopped(d, 'its power is being changed'));
    const read = new AbortController();
    const reads = this.reading.get(node) ?? new Set();
    this.reading.set(node, reads.add(read));
    const one = async (device: PowerDevice): Promise<T> => {
      const turn = await this.queue.turn(bmcAddress(device), Urgency.read, read.signal);
      if (turn === undefined) return stopped(device, 'a change of its power began');
      try {
        const limitNs = this.context.clock.monotonicNs() + BigInt(FencingNumbers.commandLimit) * 1_000_000n;
        const found = await at(device, { atNs: () => limitNs }, read.signal);
        return read.signal.aborted ? stopped(device, 'a change of its power began') : found;
      } finally {
        turn.end();
      }
    };
    try {
      return await Promise.all(devices.map(one));
    } finally {
      reads.delete(read);
      if (reads.size === 0) this.reading.delete(node);
    }
  }

  private async nodeOf(node: string): Promise<NodeRecord> {
    const entry = await this.context.bus.bucket<NodeRecord>('nodes').get(node);
    if (entry === undefined) throw new MusterError('NODE_UNKNOWN', `node ${node} is not registered`, { node });
    return entry.value;
  }
}
