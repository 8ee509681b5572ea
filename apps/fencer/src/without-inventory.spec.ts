import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Controller, Module } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
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

/** Answers that the incident still stands, on the record as it is. */
function inventoryStandIn(revision: () => Promise<number>): new () => object {
  @Controller()
  class RecheckController {
    @Rpc('inventory.incidents.recheck')
    async recheck(): Promise<RpcAnswer<'inventory.incidents.recheck'>> {
      return { go: true, reason: 'the verdict is DOWN', revision: await revision() };
    }
  }

  @Module({ controllers: [RecheckController] })
  class InventoryStandIn {}
  return InventoryStandIn;
}

/** A nats-server, a dead node with its BMC, and the services that a case starts. */
class Site {
  private readonly services: RunningService[] = [];
  private readonly inventories: (() => Promise<void>)[] = [];

  private constructor(
    readonly nats: TestNats,
    readonly bmc: TestBmc,
    /** Sees and writes records, and does nothing else of an inventory's. */
    readonly store: Bus,
  ) {}

  static async start(): Promise<Site> {
    const nats = await startTestNats({ users: true });
    const bmc = await startBmc();
    const key = randomBytes(32);
    await writeFile(join(nats.dir, 'secrets.key'), key.toString('hex'));
    const maker = await asInventory(nats);
    await maker.createBuckets();
    await maker.close();
    const store = patient(await asInventory(nats));
    await store.bucket<SealedSecret>('secrets').create('spec=bmc', sealSecret(key, 's3cret'));
    const networks = { management: { address: '127.0.0.1' } };
    const node = aNode(NODE, { networks, powerLevels: [[bmc.device]], state: 'Disappeared', prevState: 'Discovered' });
    await store.bucket<NodeRecord>('nodes').create(NODE, node);
    return new Site(nats, bmc, store);
  }

  async end(): Promise<void> {
    await Promise.all(this.services.map((s) => s.close()));
    await Promise.all(this.inventories.map((end) => end()));
    await this.store.close();
    await this.bmc.stop();
    await this.nats.stop();
  }

  /** Answers whether the incident still stands, and has the server make the readings of others. */
  async startInventory(): Promise<() => Promise<void>> {
    const bus = await asInventory(this.nats);
    await bus.createBuckets();
    const config = buildConfig(this.base('inventory'), undefined, 'spec');
    const context = new ServiceContext(config, bus, pino({ level: 'silent' }), 'inventory');
    const revision = async (): Promise<number> => (await this.incident())?.revision ?? 0;
    const running = await startInContext(context, inventoryStandIn(revision));
    let ended: Promise<void> | undefined;
    const end = (): Promise<void> => (ended ??= running.close().then(() => bus.close()));
    this.inventories.push(end);
    return end;
  }

  async startFencer(): Promise<RunningService> {
    const config = buildConfig(this.base('fencer'), undefined, 'spec');
    const running = await startService('fencer', FencerModule, { config });
    this.services.push(running);
    return running;
  }

  offs(): string[] {
    return this.bmc.log().filter((line) => line === 'set power 0');
  }

  incident() {
    return this.store.bucket<IncidentRecord>('incidents').get(NODE);
  }

  phaseIs(phase: IncidentRecord['phase'], limitMs = 30_000): Promise<IncidentRecord> {
    return incidentWhere(this.store, NODE, (i) => i.phase === phase, { limitMs });
  }

  /** It takes a while, so that what happens meanwhile happens before its end. */
  async powerOffBegins(): Promise<void> {
    this.bmc.fault('slow', '1');
    await openFencingIncident(this.store, NODE);
    while (this.offs().length === 0) await pause(10);
    this.bmc.heal();
  }

  private base(user: string) {
    return {
      instance: `${user}-1`,
      nats: { servers: [this.nats.url] },
      credentials: credentialsFile(this.nats.dir, user),
      keys: { secrets: join(this.nats.dir, 'secrets.key') },
      dataDir: this.nats.dir,
      logLevel: 'silent',
    };
  }
}

async function asInventory(nats: TestNats): Promise<Bus> {
  const credentials = readCredentials(credentialsFile(nats.dir, 'inventory'));
  return connectBus({ name: 'inventory', servers: [nats.url], credentials });
}

const onSite = (run: (site: Site) => Promise<void>) => async (): Promise<void> => {
  const site = await Site.start();
  try {
    await run(site);
  } finally {
    await site.end();
  }
};

// Each mostly waits: side by side, each on a site of its own.
describe.concurrent('a fencer in a NATS account of its own, when no inventory lives', () => {
  it(
    'finishes the command that it has begun, on a new connection as well',
    { timeout: 60_000 },
    onSite(async (site) => {
      const endInventory = await site.startInventory();
      await site.startFencer();
      await site.powerOffBegins();
      await Promise.all([endInventory(), site.nats.restart()]);
      expect(await site.phaseIs('fenced')).toMatchObject({ proof: { kind: 'read-back' } });
      expect(site.offs()).toHaveLength(1);
    }),
  );

  it(
    'powers nothing off of which it was told meanwhile, and does so when there is one',
    { timeout: 60_000 },
    onSite(async (site) => {
      const endInventory = await site.startInventory();
      await site.startFencer();
      await Promise.all([endInventory(), site.nats.restart()]);
      await openFencingIncident(site.store, NODE);
      await pause(3_000);
      expect(site.offs()).toEqual([]);
      await site.startInventory();
      expect(await site.phaseIs('fenced')).toMatchObject({ proof: { kind: 'read-back' } });
      expect(site.offs()).toHaveLength(1);
    }),
  );

  it(
    'does nothing from a lost lease on until there is one, and then finishes',
    { timeout: 90_000 },
    onSite(async (site) => {
      const endInventory = await site.startInventory();
      await site.startFencer();
      await site.powerOffBegins();
      await Promise.all([endInventory(), site.nats.kill()]);
      await pause(LEASE_MS + 1_000);
      await site.nats.restart();
      await pause(LEASE_MS);
      const read = site.bmc.log().length;
      await pause(2_000);
      expect(site.bmc.log()).toHaveLength(read);
      expect((await site.incident())?.value.phase).toBe('fencing');
      await site.startInventory();
      expect(await site.phaseIs('fenced', 60_000)).toMatchObject({
        proof: { kind: expect.any(String) as string },
      });
    }),
  );

  it(
    'is not ready when it starts, and takes up what is there as soon as there is one',
    { timeout: 60_000 },
    onSite(async (site) => {
      await openFencingIncident(site.store, NODE);
      let ready = false;
      const starting = site.startFencer().then(() => (ready = true));
      await pause(3_000);
      expect([ready, site.bmc.log()]).toEqual([false, []]);
      await site.startInventory();
      await starting;
      await site.phaseIs('fenced');
      expect(site.offs()).toHaveLength(1);
    }),
  );
});
