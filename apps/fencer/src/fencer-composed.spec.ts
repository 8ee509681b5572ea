import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectBus, rpcSubject, silentLog, systemClock, WorkerRegistry, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  defaultSettings,
  SETTINGS_KEY,
  type Clock,
  type ClusterSettings,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { Fencer } from './fencer.js';
import type { OwnHost } from './fencing/own-host.js';
import { BmcQueue, Urgency } from './power/bmc-queue.js';
import type { IdentifyingPower, TimedOutcome } from './power/power-control.js';
import { incidentWhere, openFencingIncident } from './testing/fencing-incident.js';

const NODE = 'n1-s1';
const device: PowerDevice = { id: 'bmc', driver: 'played', address: '192.0.2.1' };

/** Runs, and can be put forward. */
class AdvancedClock implements Clock {
  private aheadMs = 0;
  readonly wallMs = systemClock.wallMs.bind(systemClock);
  readonly sleep = systemClock.sleep.bind(systemClock);
  readonly after = systemClock.after.bind(systemClock);
  readonly every = systemClock.every.bind(systemClock);
  readonly soon = systemClock.soon.bind(systemClock);

  monotonicMs = (): number => systemClock.monotonicMs() + this.aheadMs;
  monotonicNs = (): bigint => systemClock.monotonicNs() + BigInt(this.aheadMs) * 1_000_000n;

  advance(ms: number): void {
    this.aheadMs += ms;
  }
}

/** A chassis in memory. What the incident held when each command was given stands beside it. */
class PlayedChassis {
  readonly given: { verb: string; by: string; open: number }[] = [];
  /** Called before a read is answered. */
  beforeRead: () => Promise<void> = () => Promise.resolve();
  private on = true;

  constructor(private readonly bus: Bus) {}

  reachedBy = (fencer: string): IdentifyingPower => ({
    run: (d, verb) => this.command(fencer, d, verb),
    identify: () => Promise.resolve({ seen: {} }),
  });

  private async command(by: string, _device: PowerDevice, verb: string): Promise<TimedOutcome> {
    const incident = await this.bus.bucket<IncidentRecord>('incidents').get(NODE);
    const open = incident?.value.commands.filter((c) => c.verb === verb && c.result === undefined).length ?? 0;
    this.given.push({ verb, by, open });
    if (verb === 'status') await this.beforeRead();
    else this.on = verb === 'on';
    return { ok: true, tookMs: 1, ...(verb === 'status' && { power: this.on ? 'on' : 'off' }) };
  }
}

describe('a fencer that is composed without Nest', () => {
  let nats: TestNats;
  let bus: Bus;
  let chassis: PlayedChassis;
  const closing: (() => Promise<void>)[] = [];
  /** Stands in for inventory: what it answers to the nth question whether an incident still stands. */
  let mayGoOn: (asked: number) => boolean | Promise<boolean>;
  let asked: number;

  beforeEach(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await bus.createBuckets();
    chassis = new PlayedChassis(bus);
    mayGoOn = () => true;
    asked = 0;
    const networks = { management: { address: '198.51.100.1' } };
    const node = aNode(NODE, { label: 'n1', networks, powerLevels: [[device]], state: 'Disappeared' });
    await bus.bucket<NodeRecord>('nodes').create(NODE, node);
    const inventory = bus.answer(rpcSubject('inventory.incidents.recheck'), async () => {
      const revision = (await bus.bucket<IncidentRecord>('incidents').get(NODE))?.revision ?? 0;
      return { response: { go: await mayGoOn(++asked), reason: 'spec', revision } };
    });
    closing.push(() => inventory.close());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await bus.close();
    await nats.stop();
  });

  async function start(instance: string, host: OwnHost, o: { clock?: Clock; queue?: BmcQueue } = {}): Promise<void> {
    const own = await connectBus({ name: instance, servers: [nats.url] });
    const fencer = new Fencer({
      bus: o.clock === undefined ? own : (Object.create(own, { clock: { value: o.clock } }) as Bus),
      instance,
      log: silentLog,
      power: chassis.reachedBy(instance),
      queue: o.queue ?? new BmcQueue(),
      drivers: { test: () => Promise.resolve(['played']) },
      ownHost: () => host,
      displaced: () => undefined,
    });
    await fencer.start();
    closing.push(async () => {
      await fencer.stop();
      await own.close();
    });
  }

  async function fenced(signal?: AbortSignal): Promise<IncidentRecord> {
    await openFencingIncident(bus, NODE);
    return incidentWhere(bus, NODE, (i) => i.phase !== 'fencing', { ...(signal && { signal }) });
  }

  it('powers a node off by the power that it was given, with the intent in the record before the command', async () => {
    await start('fencer-1', { name: 'control-1', addresses: [] });
    expect(await fenced()).toMatchObject({ phase: 'fenced', proof: { kind: 'read-back' } });
    expect(chassis.given.map((g) => g.verb)).toEqual(['status', 'off', 'status', 'status']);
    expect(chassis.given.find((g) => g.verb === 'off')?.open).toBe(1);
  });

  /** Resolves when inventory was asked so often, or the node was powered off. */
  const askedAgain = (times: number, no: number): Promise<string> =>
    new Promise((resolve, reject) => {
      mayGoOn = (n) => {
        if (n === times) resolve('asked');
        return n < no;
      };
      const over = new AbortController();
      closing.push(() => Promise.resolve(over.abort()));
      fenced(over.signal).then((i) => resolve(i.phase), reject);
    });

  it('asks again, and obeys, where the settings were changed after inventory agreed', async () => {
    chassis.beforeRead = async () => {
      chassis.beforeRead = () => Promise.resolve();
      await bus.bucket<ClusterSettings>('settings').mutate(SETTINGS_KEY, () => defaultSettings('spec'));
    };
    const again = askedAgain(3, 2);
    await start('fencer-1', { name: 'control-1', addresses: [] });
    expect(await again).toBe('asked');
    expect(chassis.given.map((g) => g.verb)).not.toContain('off');
  });

  it('asks again, and obeys, where the answer has aged while the off waited for its turn at the BMC', async () => {
    const clock = new AdvancedClock();
    class SlowQueue extends BmcQueue {
      override async turn(...[bmc, urgency, signal]: Parameters<BmcQueue['turn']>) {
        const turn = await super.turn(bmc, urgency, signal);
        if (urgency === Urgency.off) clock.advance(600);
        return turn;
      }
    }
    const again = askedAgain(3, 2);
    await start('fencer-1', { name: 'control-1', addresses: [] }, { clock, queue: new SlowQueue() });
    expect(await again).toBe('asked');
    expect(chassis.given.map((g) => g.verb)).not.toContain('off');
  });

  it('knows its own host by the port, and leaves it to another fencer', async () => {
    await start('fencer-1', { name: 'n1', addresses: [] });
    await start('fencer-2', { name: 'control-2', addresses: ['192.0.2.99'] });
    const view = await WorkerRegistry.watch(bus);
    closing.push(() => view.close());
    expect(view.live().map((w) => [w.id, w.host])).toEqual([
      ['fencer-1', 'n1'],
      ['fencer-2', 'control-2'],
    ]);
    expect((await fenced()).phase).toBe('fenced');
    expect(new Set(chassis.given.map((g) => g.by))).toEqual(new Set(['fencer-2']));
  });
});
