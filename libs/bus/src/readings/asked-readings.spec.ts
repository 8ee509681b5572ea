import { EventEmitter, once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { publicKeyOf } from '#contracts/keys/nkey.js';
import {
  Bus,
  connectBus,
  credentialsFile,
  readCredentials,
  readRevokerKey,
  revokeAgentUsers,
  type BusPorts,
  type KvView,
} from '../index.js';
import { connectPorts } from '../nats/connect.js';
import type { SubscribeOptions } from '../ports/wire.js';
import { anyJson } from '../testing/any-json.js';
import { installedAndNewer } from '../testing/newer-nats.js';
import { startTestNats, type TestNats } from '../testing/nats.js';

let nats: TestNats;
/** Answers no readings. */
let store: Bus;
let fencer: Bus;
let open: { close(): Promise<void> }[] = [];
const as = (user: string) => ({
  name: user,
  servers: [nats.url],
  credentials: readCredentials(credentialsFile(nats.dir, user)),
  // What is written here are no records.
  codec: { ...anyJson, decode: () => ({ value: {} }) },
});

/**
 * An inventory that hears what it is asked so much later.
 * @returns `idle`: when all that it was asked so far has reached the server
 */
async function startInventory(lateMs: number): Promise<{ idle: () => Promise<void> }> {
  const ports = await connectPorts(as('inventory'));
  const late: Promise<void>[] = [];
  const subscribe = (subject: string, o: SubscribeOptions) =>
    ports.wire.subscribe(subject, {
      ...o,
      onMessage: (m) => void late.push(pause(lateMs, undefined, { ref: false }).then(() => o.onMessage(m))),
    });
  const wire = Object.create(ports.wire, { subscribe: { value: subscribe } }) as BusPorts['wire'];
  open.push(ports.wire);
  await new Bus({ ...ports, wire }).createBuckets();
  return {
    idle: async () => {
      await Promise.all(late);
      await ports.wire.flush();
    },
  };
}

async function viewed(): Promise<KvView<unknown>> {
  const view = await fencer.bucket('nodes').view();
  open.push(view);
  return view;
}

describe.each(installedAndNewer())('with %s, a reading that is asked of inventory', (_name, program) => {
  beforeAll(async () => {
    nats = await startTestNats({ users: true, agents: ['n1'], ...(program !== undefined && { program }) });
    const maker = await connectBus(as('inventory'));
    await maker.createBuckets();
    await maker.close();
    store = await connectBus(as('inventory'));
    await store.bucket('nodes').create('n1-s1', {});
    fencer = await connectBus(as('fencer'));
  });
  afterEach(async () => {
    await Promise.all(open.map((o) => o.close()));
    open = [];
  });
  afterAll(async () => {
    await Promise.all([fencer.close(), store.close()]);
    await nats.stop();
  });

  it('comes also from an inventory that needs seconds for each answer', { timeout: 20_000 }, async () => {
    const { idle } = await startInventory(2_500);
    const seen: string[] = [];
    const told = new EventEmitter();
    const note = (what: string): void => void (seen.push(what), told.emit(what));
    const watch = fencer.bucket('nodes').watch({
      onChange: (key) => note(key),
      onLive: () => note('live'),
      onGap: () => note('gap'),
    });
    open.push(watch);
    await once(told, 'live');
    // Asked again meanwhile: the server has made it once, or each message would come twice.
    await idle();
    const changed = once(told, 'n2-s2');
    await store.bucket('nodes').create('n2-s2', {});
    await changed;
    expect(seen).toEqual(['n1-s1', 'live', 'n2-s2']);
  });

  it('comes from another inventory where the one that was asked stands still', { timeout: 20_000 }, async () => {
    await startInventory(600_000);
    await startInventory(0);
    for (let i = 0; i < 8; i++) await viewed();
  });

  it('comes within 2 s after there is an inventory again', { timeout: 20_000 }, async () => {
    const waiting = viewed();
    await pause(3_000);
    await startInventory(0);
    const begun = performance.now();
    await waiting;
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('goes on when a user is revoked meanwhile', { timeout: 20_000 }, async () => {
    await startInventory(0);
    const view = await viewed();
    const key = readRevokerKey(join(nats.dir, 'keys', 'revoker.key'));
    const { seed } = readCredentials(credentialsFile(nats.dir, 'agent=n1'));
    await revokeAgentUsers({ key, servers: [nats.url] }, [publicKeyOf(seed)]);
    const revision = await store.bucket('nodes').create('n3-s3', {});
    expect(await view.shows(revision, 5_000)).toBe(true);
  });
});
