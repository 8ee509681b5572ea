import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Module } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { connectBus, credentialsFile, readCredentials, sealSecret, type Bus, type SealedSecret } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { patient } from '#bus/testing/patient.js';
import type { IncidentRecord, NodeRecord, RpcAnswer } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { buildConfig, Rpc, ServiceContext, startInContext, startService, type RunningService } from '#service';
import { FencerModule } from './fencer.module.js';
import { startBmc, type TestBmc } from './testing/bmc.js';
import { incidentWhere, openFencingIncident } from './testing/fencing-incident.js';

const NODE = 'n1-s1';
/** A leader without NATS loses its lease. */
const LEASE_MS = 5_000;

let revision: () => Promise<number>;

@Controller()
class RecheckController {
  @Rpc('inventory.incidents.recheck')
  async recheck(): Promise<RpcAnswer<'inventory.incidents.recheck'>> {
    return { go: true, reason: 'the verdict is DOWN', revision: await revision() };
  }
}

@Module({ controllers: [RecheckController] })
class InventoryStandIn {}

describe('a fencer in a NATS account of its own, when no inventory lives', () => {
  let nats: TestNats;
  /** Sees and writes records, and does nothing else of an inventory's. */
  let store: Bus;
  let bmc: TestBmc;
  let services: RunningService[];
  let ends: (() => Promise<void>)[];

  const base = (user: string) => ({
    instance: `${user}-1`,
    nats: { servers: [nats.url] },
    credentials: credentialsFile(nats.dir, user),
    keys: { secrets: join(nats.dir, 'secrets.key') },
    dataDir: nats.dir,
    logLevel: 'silent',
  });
  const asInventory = async (): Promise<Bus> => {
    const credentials = readCredentials(credentialsFile(nats.dir, 'inventory'));
    return connectBus({ name: 'inventory', servers: [nats.url], credentials });
  };
  /** Answers whether the incident still stands, and has the server make the readings of others. */
  async function startInventory(): Promise<() => Promise<void>> {
    const bus = await asInventory();
    await bus.createBuckets();
    const config = buildConfig(base('inventory'), undefined, 'spec');
    const context = new ServiceContext(config, bus, pino({ level: 'silent' }), 'inventory');
    const running = await startInContext(context, InventoryStandIn);
    let ended: Promise<void> | undefined;
    const end = (): Promise<void> => (ended ??= running.close().then(() => bus.close()));
    ends.push(end);
    return end;
  }
  const startFencer = (): Promise<RunningService> =>
    startService('fencer', FencerModule, { config: buildConfig(base('fencer'), undefined, 'spec') }).then((running) => {
      services.push(running);
      return running;
    });
  const offs = (): string[] => bmc.log().filter((line) => line === 'set power 0');
  const phaseIs = (phase: IncidentRecord['phase'], limitMs = 30_000): Promise<IncidentRecord> =>
    incidentWhere(store, NODE, (i) => i.phase === phase, { limitMs });
  /** It takes a while, so that what happens meanwhile happens before its end. */
  async function powerOffBegins(): Promise<void> {
    bmc.fault('slow', '1');
    await openFencingIncident(store, NODE);
    while (offs().length === 0) await pause(10);
    bmc.heal();
  }

  beforeEach(async () => {
    [services, ends] = [[], []];
    nats = await startTestNats({ users: true });
    bmc = await startBmc();
    const key = randomBytes(32);
    await writeFile(join(nats.dir, 'secrets.key'), key.toString('hex'));
    const maker = await asInventory();
    await maker.createBuckets();
    await maker.close();
    store = patient(await asInventory());
    revision = async () => (await store.bucket<IncidentRecord>('incidents').get(NODE))?.revision ?? 0;
    await store.bucket<SealedSecret>('secrets').create('spec=bmc', sealSecret(key, 's3cret'));
    const networks = { management: { address: '127.0.0.1' } };
    const node = aNode(NODE, { networks, powerLevels: [[bmc.device]], state: 'Disappeared', prevState: 'Discovered' });
    await store.bucket<NodeRecord>('nodes').create(NODE, node);
  });
  afterEach(async () => {
    await Promise.all(services.map((s) => s.close()));
    await Promise.all(ends.map((end) => end()));
    await store.close();
    await bmc.stop();
    await nats.stop();
  });

  it('finishes the command that it has begun, on a new connection as well', { timeout: 60_000 }, async () => {
    const endInventory = await startInventory();
    await startFencer();
    await powerOffBegins();
    await Promise.all([endInventory(), nats.restart()]);
    expect(await phaseIs('fenced')).toMatchObject({ proof: { kind: 'read-back' } });
    expect(offs()).toHaveLength(1);
  });

  it(
    'powers nothing off of which it was told meanwhile, and does so when there is one',
    { timeout: 60_000 },
    async () => {
      const endInventory = await startInventory();
      await startFencer();
      await Promise.all([endInventory(), nats.restart()]);
      await openFencingIncident(store, NODE);
      await pause(3_000);
      expect(offs()).toEqual([]);
      await startInventory();
      expect(await phaseIs('fenced')).toMatchObject({ proof: { kind: 'read-back' } });
      expect(offs()).toHaveLength(1);
    },
  );

  it('does nothing from a lost lease on until there is one, and then finishes', { timeout: 90_000 }, async () => {
    const endInventory = await startInventory();
    await startFencer();
    await powerOffBegins();
    await Promise.all([endInventory(), nats.kill()]);
    await pause(LEASE_MS + 1_000);
    await nats.restart();
    await pause(LEASE_MS);
    const read = bmc.log().length;
    await pause(2_000);
    expect(bmc.log()).toHaveLength(read);
    expect((await store.bucket<IncidentRecord>('incidents').get(NODE))?.value.phase).toBe('fencing');
    await startInventory();
    expect(await phaseIs('fenced', 60_000)).toMatchObject({ proof: { kind: expect.any(String) as string } });
  });

  it(
    'is not ready when it starts, and takes up what is there as soon as there is one',
    { timeout: 60_000 },
    async () => {
      await openFencingIncident(store, NODE);
      let ready = false;
      const starting = startFencer().then(() => (ready = true));
      await pause(3_000);
      expect([ready, bmc.log()]).toEqual([false, []]);
      await startInventory();
      await starting;
      await phaseIs('fenced');
      expect(offs()).toHaveLength(1);
    },
  );
});
