import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { FencingNumbers, MusterError, type IncidentRecord, type NodeRecord, type PowerDevice } from '#contracts';
import type { KvView } from '#bus';
import { ServiceContext } from '#service';
import { BmcQueue, bmcOf, Urgency } from './bmc-queue.js';
import { PowerCommander } from './power-commander.js';

export interface DevicePower {
  id: string;
  power: 'on' | 'off' | 'unknown';
  code?: string;
  detail?: string;
}

/**
 * Looks at power outside of fencing: evidence for inventory, self-tests of devices. It changes nothing and gives way:
 * a node that is being fenced is not looked at, and a look under way is ended as soon as its fencing begins, so that
 * over all processes a BMC has one command in flight.
 */
@Injectable()
export class PowerReader implements OnApplicationBootstrap, OnApplicationShutdown {
  private incidents: KvView<IncidentRecord> | undefined;
  private readonly looks = new Map<string, Set<AbortController>>();

  constructor(
    private readonly context: ServiceContext,
    private readonly commander: PowerCommander,
    private readonly queue: BmcQueue,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.incidents = await this.context.bus.bucket<IncidentRecord>('incidents').view();
    this.incidents.onChange((node, incident) => {
      if (incident?.phase === 'fencing') for (const look of this.looks.get(node) ?? []) look.abort();
    });
  }

  async onApplicationShutdown(): Promise<void> {
    for (const looks of this.looks.values()) for (const look of looks) look.abort();
    await this.incidents?.close();
  }

  /** Every device of the node, or those given. @throws NODE_UNKNOWN */
  async read(node: string, given?: PowerDevice[]): Promise<DevicePower[]> {
    const devices = given ?? (await this.devicesOf(node));
    if (this.incidents?.get(node)?.value.phase === 'fencing')
      return devices.map((d) => ({ id: d.id, power: 'unknown', code: 'NODE_BUSY', detail: 'it is being fenced' }));
    const look = new AbortController();
    const looks = this.looks.get(node) ?? new Set();
    this.looks.set(node, looks.add(look));
    try {
      return await Promise.all(devices.map((d) => this.readOne(d, look.signal)));
    } finally {
      looks.delete(look);
      if (looks.size === 0) this.looks.delete(node);
    }
  }

  private async readOne(device: PowerDevice, signal: AbortSignal): Promise<DevicePower> {
    const turn = await this.queue.turn(bmcOf(device), Urgency.look, signal);
    const stopped: DevicePower = { id: device.id, power: 'unknown', code: 'NODE_BUSY', detail: 'its fencing began' };
    if (turn === undefined) return stopped;
    try {
      const limitNs = this.context.clock.monotonicNs() + BigInt(FencingNumbers.commandLimit) * 1_000_000n;
      const o = await this.commander.run(device, 'status', { atNs: () => limitNs }, signal);
      if (signal.aborted) return stopped;
      return {
        id: device.id,
        power: o.power ?? 'unknown',
        ...(o.code === undefined ? {} : { code: o.code }),
        ...(o.detail === undefined ? {} : { detail: o.detail }),
      };
    } finally {
      turn.end();
    }
  }

  private async devicesOf(node: string): Promise<PowerDevice[]> {
    const entry = await this.context.bus.bucket<NodeRecord>('nodes').get(node);
    if (entry === undefined) throw new MusterError('NODE_UNKNOWN', `node ${node} is not registered`, { node });
    return entry.value.powerLevels.flat();
  }
}
