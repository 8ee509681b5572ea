import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import {
  addAgentUsers,
  connectBus,
  credentialsFile,
  hasSeparateServices,
  readCredentials,
  readRevokerKey,
  revokeAgentUsers,
  separateServices,
  type Bus,
  type BusCredentials,
} from '../index.js';
import { publicKeyOf } from '#contracts/keys/nkey.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { shareAccount } from '../testing/shared-account.js';
import { connectedServices } from './revocation.js';
import { ApartServices, type ApartService } from '../users/permissions.js';

let nats: TestNats;
let inventory: Bus;
const open: Bus[] = [];
const credentials = (user: string): BusCredentials => readCredentials(credentialsFile(nats.dir, user));
const connectAs = async (c: BusCredentials): Promise<Bus> => {
  const bus = await connectBus({ name: c.user, servers: [nats.url], credentials: c });
  open.push(bus);
  return bus;
};
const reads = async (bus: Bus, service: ApartService): Promise<string[]> =>
  (await bus.bucket(service === 'gateway' ? 'tokens' : 'settings').list()).map((e) => e.key);

beforeAll(async () => {
  nats = await startTestNats({ users: true });
  await shareAccount(nats.dir);
  await nats.restart();
  inventory = await connectAs(credentials('inventory'));
  await inventory.createBuckets();
});

afterAll(async () => {
  await Promise.all(open.map((bus) => bus.close()));
  await nats.stop();
});

describe('an installation whose services share the account of the records', () => {
  const before = new Map<ApartService, BusCredentials>();

  it('goes on as it is, also when agents are added', async () => {
    await addAgentUsers(nats.dir, ['n1']);
    expect(hasSeparateServices(nats.dir)).toBe(false);
    for (const service of ApartServices) {
      before.set(service, credentials(service));
      expect(before.get(service)?.ownAccount).toBeUndefined();
      expect(await reads(await connectAs(credentials(service)), service)).toEqual([]);
    }
  });

  it('gets accounts of their own for them once, which hold from the next start of NATS on', async () => {
    expect(await separateServices(nats.dir)).toBe(true);
    expect(hasSeparateServices(nats.dir)).toBe(true);
    const made = ApartServices.map((service) => credentials(service).seed);
    expect(await separateServices(nats.dir)).toBe(false);
    await addAgentUsers(nats.dir, ['n2']);
    expect(ApartServices.map((service) => credentials(service).seed)).toEqual(made);
    await expect(connectAs(credentials('gateway'))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });

    await Promise.all(open.splice(0).map((bus) => bus.close()));
    await nats.restart();
    inventory = await connectAs(credentials('inventory'));
    await inventory.createBuckets();
    for (const service of ApartServices) {
      expect(await reads(await connectAs(credentials(service)), service)).toEqual([]);
      // Copies of the former file are worthless.
      await expect(connectAs(before.get(service)!)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    }
  });

  it('keeps them when a user is revoked while NATS runs, and sees who is connected', async () => {
    const key = readRevokerKey(join(nats.dir, 'keys', 'revoker.key'));
    expect((await connectedServices({ key, servers: [nats.url] })).sort()).toEqual(
      [...ApartServices, 'inventory'].sort(),
    );
    const agent = credentials('agent=n1');
    await revokeAgentUsers({ key, servers: [nats.url] }, [publicKeyOf(agent.seed)]);
    await expect(connectAs(agent)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    const detector = await connectAs(credentials('detector'));
    await detector.emit('audit', 'x', {} as never);
    expect(await reads(detector, 'detector')).toEqual([]);
  });
});
