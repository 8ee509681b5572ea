import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Controller, Module } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { connectBus, readSecretsKey, sealSecret, WorkerRegistry, type Bus, type SealedSecret } from '#bus';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { patient } from '#bus/testing/patient.js';
import {
  defaultSettings,
  devicesMark,
  FencingNumbers,
  identityBasis,
  MusterError,
  SEALED,
  SETTINGS_KEY,
  type ClusterSettings,
  type IncidentRecord,
  type NodeRecord,
  type PowerDevice,
  type PowerOrder,
  type RpcAnswer,
  type WorkerRecord,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { FACTOR } from '#contracts/testing/chance.js';
import { buildConfig, ownSeal, Rpc, ServiceContext, startInContext, startService, type RunningService } from '#service';
import { FencerModule } from './fencer.module.js';
import { startBmc, type TestBmc } from './testing/bmc.js';
import { openFencingIncident, incidentWhere as whereIncident } from './testing/fencing-incident.js';

/** The levels' times are decided, and shown to add up, elsewhere. */
const real = { ...FencingNumbers };
/** Where a level shall fail: room for a command that is not answered. */
const hurried = (): void => void Object.assign(FencingNumbers, { firstLevel: 4_000, allLevels: 8_000 });

/** Stands in for inventory: answers whether the incident still stands. */
const answers = { recheck: { go: true, reason: 'the verdict is DOWN' }, asked: 0, revision: () => Promise.resolve(0) };

@Controller()
class RecheckController {
  @Rpc('inventory.incidents.recheck')
  async recheck(): Promise<RpcAnswer<'inventory.incidents.recheck'>> {
    answers.asked++;
    return { ...answers.recheck, revision: await answers.revision() };
  }
}

@Module({ controllers: [RecheckController] })
class InventoryStandIn {}

describe('fencer', () => {
  let nats: TestNats;
  let bus: Bus;
  let bmc: TestBmc;
  let keyFile: string;
  let services: RunningService[];
  let children: Daemon[];
  const NODE = 'n1-s1';

  beforeEach(async () => {
    Object.assign(FencingNumbers, real);
    answers.recheck = { go: true, reason: 'the verdict is DOWN' };
    answers.asked = 0;
    answers.revision = async () => (await incidents().get(NODE))?.revision ?? 0;
    services = [];
    children = [];
    nats = await startTestNats();
    bus = patient(await connectBus({ name: 'spec', servers: [nats.url] }));
    await bus.createBuckets();
    bmc = await startBmc();
    const key = randomBytes(32);
    keyFile = join(nats.dir, 'secrets.key');
    await writeFile(keyFile, key.toString('hex'));
    await bus.bucket<SealedSecret>('secrets').create('spec=bmc', sealSecret(key, 's3cret'));
    const config = buildConfig({ ...base('inventory-1') }, undefined, 'spec');
    const context = new ServiceContext(config, bus, pino({ level: 'silent' }), 'inventory');
    services.push(await startInContext(context, InventoryStandIn));
    await putNode([[bmc.device]]);
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(services.reverse().map((s) => s.close()));
    await bus.close();
    await bmc.stop();
    await nats.stop();
  });

  const base = (instance: string) => ({
    instance,
    nats: { servers: [nats.url] },
    keys: { secrets: keyFile },
    dataDir: nats.dir,
    logLevel: 'silent',
  });
  async function startFencer(instance = 'fencer-1'): Promise<RunningService> {
    const running = await startService('fencer', FencerModule, {
      config: buildConfig(base(instance), undefined, 'spec'),
    });
    services.push(running);
    return running;
  }
  async function putNode(powerLevels: PowerDevice[][], label = 'n1'): Promise<void> {
    const networks = { management: { address: '127.0.0.1' } };
    const node = aNode(NODE, { label, networks, powerLevels, state: 'Disappeared', prevState: 'Discovered' });
    await bus.bucket<NodeRecord>('nodes').mutate(NODE, () => node);
  }
  /** As inventory stores it. */
  async function putSealed(device: PowerDevice): Promise<void> {
    const seal = ownSeal(() => readSecretsKey(keyFile));
    const inventory = await connectBus({ name: 'inventory', servers: [nats.url], seal });
    await inventory.bucket<NodeRecord>('nodes').mutate(NODE, (now) => ({
      ...(now?.value as NodeRecord),
      powerLevels: [[device]],
    }));
    await inventory.close();
    expect(JSON.stringify((await bus.bucket('nodes').get(NODE))?.value)).toContain(SEALED);
  }
  const incidents = () => bus.bucket<IncidentRecord>('incidents');
  const openIncident = (o?: Partial<IncidentRecord>): Promise<void> => openFencingIncident(bus, NODE, o);
  const incidentWhere = (fits: (i: IncidentRecord) => boolean, limitMs?: number): Promise<IncidentRecord> =>
    whereIncident(bus, NODE, fits, { ...(limitMs !== undefined && { limitMs }) });
  const writes = (): string[] => bmc.log().filter((l) => l.startsWith('set'));

  it('powers a dead node off with one off and two reads, each step in the record', async () => {
    await startFencer();
    await openIncident();
    const i = await incidentWhere((x) => x.phase !== 'fencing');
    expect(i).toMatchObject({ phase: 'fenced', proof: { kind: 'read-back', level: 0 } });
    expect(bmc.log()).toEqual(['get power', 'set power 0', 'get power', 'get power']);
    expect(i.commands.map((c) => [c.verb, c.result?.power ?? c.result?.ok])).toEqual([
      ['status', 'on'],
      ['off', true],
      ['status', 'off'],
      ['status', 'off'],
    ]);
    expect(i.commands.map((c) => c.n)).toEqual([1, 2, 3, 4]);
    expect(i.commands.every((c) => c.epoch === i.epoch && c.fencer === 'fencer-1')).toBe(true);
    expect(answers.asked).toBeGreaterThan(0);
    expect(JSON.stringify(i)).not.toContain('s3cret');
  });

  it('opens options of its devices that are sealed', async () => {
    const device = { ...bmc.device, options: { cipher: '3', passwd: 'opt-s3cret' } };
    await putSealed(device);
    await startFencer();
    // As inventory, which knows nothing of seals, has ordered it.
    await openIncident({ devices: devicesMark([[device]]) });
    expect(await incidentWhere((x) => x.phase !== 'fencing')).toMatchObject({ phase: 'fenced' });
    expect(writes()).toEqual(['set power 0']);
  });

  it('gives no device anything by options that its key does not open, and says which and why', async () => {
    const { secret: _none, ...bare } = bmc.device;
    const device = { ...bare, options: { passwd: 'opt-s3cret' } };
    await putSealed(device);
    await writeFile(keyFile, randomBytes(32).toString('hex'));
    await startFencer();
    await openIncident({ devices: devicesMark([[device]]) });
    const i = await incidentWhere((x) => x.phase !== 'fencing');
    expect(i).toMatchObject({ phase: 'failed', commands: [] });
    expect(i.steps.at(-1)?.detail).toContain('options of its power device bmc are sealed, and keys.secrets');
    const { devices } = await bus.call('fencer.power.read', { node: NODE }, { timeoutMs: 10_000 });
    expect(devices).toMatchObject([{ power: 'unknown', code: 'CONFIG_INVALID' }]);
    expect(bmc.log()).toEqual([]);
  });

  describe('with a BMC that was proven to be its node’s own', () => {
    const GUID = '00112233445566778899aabbccddee01';
    /** The node is registered with a BMC that says this, and was proven by its own GUID. */
    async function putProven(says: string): Promise<void> {
      await bmc.stop();
      bmc = await startBmc('bmc', says);
      await putNode([[bmc.device]]);
      const basis = identityBasis(bmc.device);
      const powerIdentity = { bmc: { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis } } as const;
      await bus.bucket<NodeRecord>('nodes').mutate(NODE, (now) => now && { ...now.value, powerIdentity });
    }

    it('powers off the one that says so again', async () => {
      await putProven(GUID);
      await startFencer();
      await openIncident();
      expect(await incidentWhere((x) => x.phase !== 'fencing')).toMatchObject({ phase: 'fenced' });
      expect(bmc.log()).toEqual(['get power', 'set power 0', 'get power', 'get power']);
    });

    it.each([
      ['on', 'does not say who it is', '0'.repeat(32), 'IDENTITY_UNREAD'],
      ['off', 'does not say who it is', '0'.repeat(32), 'IDENTITY_UNREAD'],
      ['on', 'says that it is another', '00112233445566778899aabbccddee02', 'IDENTITY_MISMATCH'],
      ['off', 'says that it is another', '00112233445566778899aabbccddee02', 'IDENTITY_MISMATCH'],
    ] as const)(
      'gives nothing to one that is %s and %s, and takes nothing that it says for proof',
      async (power, _what, says, code) => {
        hurried();
        await putProven(says);
        bmc.setPower(power);
        await startFencer();
        await openIncident();
        const i = await incidentWhere((x) => x.phase !== 'fencing');
        expect(i.phase).toBe('failed');
        expect(i.steps.at(-1)?.detail).toContain(code);
        expect(i.commands.filter((c) => c.verb !== 'status')).toEqual([]);
        expect(writes()).toEqual([]);
        expect(bmc.power()).toBe(power);
      },
    );
  });

  it('orders nothing while inventory says no, and nothing after a cancel', async () => {
    answers.recheck = { go: false, reason: 'it is UP' };
    await startFencer();
    await openIncident();
    await until(() => answers.asked >= 2);
    await incidents().mutate(NODE, (e) => (e === undefined ? undefined : { ...e.value, phase: 'cancelled' }));
    answers.recheck = { ...answers.recheck, go: true };
    await passed(1500);
    expect(writes()).toEqual([]);
  });

  it('refuses an incident in which a later leader has written', async () => {
    await openIncident();
    await incidents().mutate(NODE, (e) => (e === undefined ? undefined : { ...e.value, epoch: 1_000_000 }));
    await startFencer();
    await passed(2500);
    expect(writes()).toEqual([]);
    expect((await incidents().get(NODE))?.value.phase).toBe('fencing');
  });

  it('never powers off its own host: it leaves the lease to another, and comes back when that is over', async () => {
    await putNode([[bmc.device]], hostname());
    const other = await WorkerRegistry.announce(bus, {
      service: 'fencer',
      id: 'fencer-9',
      drivers: ['ipmitool'],
      host: 'elsewhere',
    });
    const leases = await bus.bucket<{ holder: string }>('leases').view();
    const holder = (): string | undefined => leases.get('fencer')?.value.holder;
    await startFencer();
    await until(() => holder() === 'fencer-1');
    await openIncident();
    await until(() => holder() === '');
    expect(bmc.log()).toEqual([]);
    await incidents().mutate(NODE, (e) => (e === undefined ? undefined : { ...e.value, phase: 'cancelled' }));
    await until(() => holder() === 'fencer-1');
    await Promise.all([other.close(), leases.close()]);
  });

  it('fails, and says when it is tried again, where the BMC stays on: never fenced', async () => {
    hurried();
    bmc.fault('stuck_on');
    await startFencer();
    await openIncident();
    const i = await incidentWhere((x) => x.phase !== 'fencing');
    expect(i.phase).toBe('failed');
    expect(i.proof).toBeUndefined();
    expect(i.retryAt).toBeGreaterThan(Date.now());
    expect(writes()).toEqual(['set power 0']);
    // Many equal reads are told by a few.
    expect(i.commands.length).toBeLessThan(12);
  });

  it('goes to the next level where the first is silent', async () => {
    // The second level has all the time that it may need.
    Object.assign(FencingNumbers, { firstLevel: 3_000 });
    const pdu = await startBmc('pdu');
    try {
      await bmc.kill();
      await putNode([[bmc.device], [{ ...pdu.device, secret: 'spec=bmc' }]]);
      await startFencer();
      await openIncident();
      const i = await incidentWhere((x) => x.phase !== 'fencing');
      expect(i).toMatchObject({ phase: 'fenced', level: 1, proof: { kind: 'read-back', level: 1 } });
      expect(i.commands.find((c) => c.device === 'bmc')?.result?.code).toBe('BMC_TIMEOUT');
    } finally {
      await pdu.stop();
    }
  });

  const order = async (action: PowerOrder['action'], mode: 'enforce' | 'observe' = 'enforce'): Promise<void> => {
    await bus.bucket<ClusterSettings>('settings').mutate(SETTINGS_KEY, () => {
      const settings = defaultSettings('spec');
      return { ...settings, fencing: { ...settings.fencing, mode } };
    });
    await openIncident({ phase: 'closed', order: { action, by: 'eve', reason: 'spec', at: Date.now(), after: 0 } });
  };

  it('switches on by an operator’s order, with its intent in a record that is closed', async () => {
    bmc.setPower('off');
    await startFencer();
    await order('on');
    const i = await incidentWhere((x) => x.order?.done === true);
    expect(i).toMatchObject({ phase: 'closed', order: { ok: true } });
    expect(bmc.log()).toEqual(['get power', 'set power 1', 'get power']);
    expect(i.commands.find((c) => c.verb === 'on')).toMatchObject({ epoch: i.epoch, result: { ok: true } });
  });

  it('asks the system to shut down by an operator’s order, once, and takes that for no proof', async () => {
    await startFencer();
    await order('soft');
    const i = await incidentWhere((x) => x.order?.done === true);
    expect(i).toMatchObject({ order: { ok: true } });
    expect(i.proof).toBeUndefined();
    expect(bmc.log()).toEqual(['set shutdown 1']);
    expect(i.commands.map((c) => c.verb)).toEqual(['soft']);
  });

  it('writes to no power device by an order in observe', async () => {
    bmc.setPower('off');
    await startFencer();
    await order('on', 'observe');
    const i = await incidentWhere((x) => x.order?.done === true);
    expect(i.order).toMatchObject({ ok: false, detail: expect.stringContaining('not enforce') });
    expect(writes()).toEqual([]);
  });

  it('answers what a node’s power is, and announces the drivers that work here', async () => {
    await startFencer();
    expect(await bus.call('fencer.power.read', { node: NODE }, { timeoutMs: 30_000 })).toEqual({
      devices: [{ id: 'bmc', power: 'on' }],
    });
    const wrong = { ...bmc.device, secret: 'none' };
    const read = await bus.call('fencer.power.read', { node: NODE, devices: [wrong] }, { timeoutMs: 30_000 });
    expect(read.devices[0]).toMatchObject({ power: 'unknown', code: 'BMC_AUTH' });
    await expect(bus.call('fencer.power.read', { node: 'nobody' })).rejects.toMatchObject({ code: 'NODE_UNKNOWN' });
    const view = await WorkerRegistry.watch(bus);
    expect(view.live()).toMatchObject([
      { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'] } as Partial<WorkerRecord>,
    ]);
    await view.close();
  });

  describe('with leaders in processes of their own', () => {
    function startProcess(instance: string): Daemon {
      const child = daemon(process.execPath, [join(process.cwd(), 'dist/apps/fencer/src/main.js')], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: {
          PATH: process.env['PATH'] ?? '',
          MUSTER_CONFIG: join(nats.dir, 'muster.yaml'),
          MUSTER_CREDENTIALS: 'none',
          MUSTER_INSTANCE: instance,
        },
      });
      children.push(child);
      return child;
    }
    async function startLeaderAndAnother(): Promise<Record<string, Daemon>> {
      const yaml = `nats: { servers: ['${nats.url}'] }\nkeys: { secrets: '${keyFile}' }\nlogLevel: silent\n`;
      await writeFile(join(nats.dir, 'muster.yaml'), yaml);
      const both = { 'fencer-1': startProcess('fencer-1'), 'fencer-2': startProcess('fencer-2') };
      const view = await WorkerRegistry.watch(bus);
      await until(() => view.live().length === 2);
      await view.close();
      return both;
    }
    const off = (i: IncidentRecord) => i.commands.find((c) => c.verb === 'off');

    // One that stands still is all that one is that was killed, and wakes.
    it.each(FACTOR > 1 ? (['SIGKILL', 'SIGSTOP'] as const) : (['SIGSTOP'] as const))(
      'another finishes once what a leader left after its intent (%s); the old one orders nothing more',
      async (signal) => {
        const both = await startLeaderAndAnother();
        bmc.fault('slow', '1');
        await openIncident();
        const ordered = await incidentWhere((i) => off(i) !== undefined);
        const first = off(ordered);
        const leader = both[first?.fencer ?? ''];
        if (first === undefined || leader === undefined) throw new Error('nobody ordered');
        leader.kill(signal);
        // What the leader had given goes on as slowly as it began; the next commands do not.
        bmc.heal();
        const i = await incidentWhere((x) => x.phase !== 'fencing');
        expect(i.phase).toBe('fenced');
        expect(i.epoch).toBeGreaterThan(first.epoch);
        expect(i.commands.at(-1)?.fencer).not.toBe(first.fencer);
        const log = bmc.log();
        leader.kill('SIGCONT');
        // A killed one needs no time to show that it does nothing.
        if (signal === 'SIGSTOP') await passed(2000);
        expect(bmc.log()).toEqual(log);
        const after = (await incidents().get(NODE))?.value;
        expect(after?.phase).toBe('fenced');
        expect(after?.commands.filter((c) => c.verb === 'off').length).toBeLessThanOrEqual(2);
      },
    );
  });
});

async function until(what: () => boolean, limitMs = 30_000): Promise<void> {
  const start = performance.now();
  while (!what()) {
    if (performance.now() - start > limitMs) throw new MusterError('TIMEOUT', 'what was waited for did not happen');
    await passed(20);
  }
}
const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
