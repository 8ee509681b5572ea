import { randomInt } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  BUCKET_BIRTHS_KEY,
  connectBus,
  hostFolder,
  initHosts,
  Lease,
  loadStore,
  parseControlHosts,
  readCredentials,
  restoredStore,
  saveStore,
  tokenFloor,
  type Bus,
  type ControlHost,
  type NewGeneration,
} from '../index.js';
import { generationFloor, ReadyStream, STORE_GENERATION_KEY, type StoreGeneration } from '#contracts';
import { connectPorts } from '../nats/connect.js';
import { wantedStreams } from '../streams/storage.js';
import { initCluster } from '../init/init-cluster.js';
import { freePort } from '../testing/free-port.js';
import { whenClusterServes } from '../testing/nats-cluster.js';
import { listening } from '../testing/nats.js';
import { SystemNats } from '../testing/nats-process.js';
import { newerNats } from '../testing/newer-nats.js';

const birthsOf = (births: ReadonlyMap<string, Date | undefined>): Record<string, string | undefined> =>
  Object.fromEntries([...births].map(([bucket, at]) => [bucket, at?.toISOString()]));

const newer = newerNats();
const title = 'the store of one control host';

('program' in newer ? describe : describe.skip)(
  'program' in newer ? title : `${title} (skipped: ${newer.missing})`,
  () => {
    const program = 'program' in newer ? newer.program : '';
    const top = mkdtempSync(join(tmpdir(), 'muster-copy-'));
    const etc = join(top, 'etc');
    // The ports are the product's own: so the addresses are ours alone.
    const net = `127.${randomInt(16, 250)}.${randomInt(1, 250)}`;
    const three = parseControlHosts(`ctl1=${net}.1,ctl2=${net}.2,ctl3=${net}.3`);
    let stores = 0;
    let running: SystemNats[] = [];
    const open: Bus[] = [];

    /** NATS of these hosts, with new stores; resolves when it can be written to. */
    async function start(hosts: readonly ControlHost[]): Promise<string[]> {
      const at = join(top, `stores-${++stores}`);
      const place = ({ name }: ControlHost) => ({ dir: hostFolder(etc, name), store: join(at, name) });
      await initHosts(etc, { cluster: 'spec', agents: [], hosts, place, natsVersion: '2.15.1' });
      running = hosts.map(({ name }) => new SystemNats(join(hostFolder(etc, name), 'nats.conf'), program));
      await Promise.all(running.map((server) => server.start()));
      await Promise.all(hosts.map((h) => listening(4222, h.management)));
      return hosts.map((h) => `nats://${h.management}:4222`);
    }
    const stop = async (): Promise<void> => {
      await Promise.all(open.splice(0).map((bus) => bus.close()));
      await Promise.all(running.splice(0).map((server) => server.kill()));
    };
    const credentials = () => readCredentials(join(hostFolder(etc, 'ctl1'), 'creds', 'inventory.json'));
    const inventory = async (servers: string[]): Promise<Bus> => {
      const bus = await connectBus({ name: 'inventory', servers, credentials: credentials() });
      open.push(bus);
      return bus;
    };

    /** Every message of every stream, with its revision, time and headers, and the last one that it had. */
    async function content(servers: string[]): Promise<Record<string, unknown>> {
      const { messages, wire } = await connectPorts({ name: 'inventory', servers, credentials: credentials() });
      try {
        const all: Record<string, unknown> = {};
        for (const { name } of wantedStreams(1)) {
          const { lastSeq } = await messages.info(name);
          const kept = [];
          // Nobody reads what is in it.
          const isReadable = name !== ReadyStream.name;
          for (let seq = 0; isReadable;) {
            const m = await messages.next(name, '>', seq);
            if (m === undefined) break;
            kept.push(m);
            seq = m.seq + 1;
          }
          all[name] = { lastSeq, kept };
        }
        return all;
      } finally {
        await wire.close();
      }
    }

    afterEach(stop);
    afterAll(() => rmSync(top, { recursive: true }));

    it('goes to three and back to one with every record, revision and time', async () => {
      let servers = await start(three.slice(0, 1));
      const bus = await inventory(servers);
      await bus.createBuckets({ replicas: 1 });
      const nodes = bus.bucket('workloads');
      await nodes.delete('gone', undefined);
      for (let i = 0; i < 5; i++) await nodes.delete(`w${i % 2}`, undefined);
      const text = 'x'.repeat(100_000);
      const { messages, wire } = await connectPorts({ name: 'inventory', servers, credentials: credentials() });
      for (let i = 0; i < 30; i++)
        await messages.append('muster.event.spec.x', `${i} ${text}`, { id: `spec-${i}`, timeoutMs: 5_000 });
      await messages.purge('MUSTER', { subject: 'muster.event.spec.x', keep: 20 });
      await wire.close();
      const born = async (of: Bus) => ({ created: birthsOf(await of.bucketBirths()) });
      await bus.bucket('settings').create(BUCKET_BIRTHS_KEY, await born(bus));
      const before = await content(servers);
      expect(JSON.stringify(before)).toContain(text);

      const refused = saveStore(join(top, 'early'), { dir: etc, servers });
      await expect(refused).rejects.toThrow('inventory is connected to NATS: stop the services');
      expect(existsSync(join(top, 'early'))).toBe(false);
      await bus.close();
      const joined = join(top, 'joined');
      const onStream = async () => void (open.length === 1 && (await inventory(servers)));
      await expect(saveStore(joined, { dir: etc, servers, onStream })).rejects.toThrow(
        'inventory is connected to NATS',
      );
      await expect(loadStore(joined, 1, { dir: etc, servers })).rejects.toThrow('holds no store');
      await open.pop()?.close();
      const saved = join(top, 'saved');
      await saveStore(saved, { dir: etc, servers });
      for (const file of readdirSync(saved))
        expect([file, statSync(join(saved, file)).mode & 0o777]).toEqual([file, 0o600]);
      await stop();

      servers = await start(three);
      await whenClusterServes(() => loadStore(saved, 3, { dir: etc, servers }));
      // Written by the load: when the buckets were made that are there now.
      const { KV_settings: settings, ...loaded } = await content(servers);
      const { KV_settings: settingsBefore, ...others } = before;
      expect(loaded).toEqual(others);
      expect(settings).not.toEqual(settingsBefore);
      const [second] = three.slice(1);
      await expect(loadStore(saved, 3, { dir: etc, servers })).rejects.toThrow('and nothing is written over it');
      const onThree = await inventory([`nats://${second!.management}:4222`]);
      await onThree.createBuckets({ replicas: 3 });
      expect(await onThree.bucket('settings').read(BUCKET_BIRTHS_KEY)).toMatchObject({ value: await born(onThree) });
      expect((await onThree.streamFacts()).map((f) => f.replicas)).not.toContain(1);
      await onThree.bucket('workloads').delete('later', undefined);
      await onThree.close();
      const after = await content(servers);
      expect(after).not.toEqual(before);
      const again = join(top, 'again');
      await saveStore(again, { dir: etc, servers });
      await stop();

      servers = await start(three.slice(0, 1));
      await loadStore(again, 1, { dir: etc, servers });
      const { KV_settings: _then, ...kept } = after;
      expect(await content(servers)).toMatchObject(kept);
      await (await inventory(servers)).createBuckets({ replicas: 1 });
    });

    /** Tokens of so many terms of a fencing leader, each given up for the next. */
    async function terms(servers: string[], count: number): Promise<number[]> {
      const bus = await inventory(servers);
      const tokens: number[] = [];
      for (let n = 0; n < count; n++) {
        const lease = new Lease(bus, { name: 'fencer', holder: `f${n}`, floor: () => tokenFloor(bus, () => 0) });
        lease.start();
        tokens.push(await lease.whenHeld());
        await lease.stop();
      }
      await bus.close();
      open.length = 0;
      return tokens;
    }

    it('has tokens above all that were ever given, also when an older copy of it is loaded, and again', async () => {
      let servers = await start(three.slice(0, 1));
      const bus = await inventory(servers);
      await bus.createBuckets({ replicas: 1 });
      await bus.close();
      open.length = 0;
      await terms(servers, 1);
      const copy = join(top, 'older');
      const copied = Date.now();
      await saveStore(copy, { dir: etc, servers });
      const given = await terms(servers, 4);
      const generations: number[] = [];
      for (let load = 0; load < 2; load++) {
        await stop();
        servers = await start(three.slice(0, 1));
        await loadStore(copy, 1, { dir: etc, servers });
        const loaded = await inventory(servers);
        const kept = await loaded.bucket<StoreGeneration>('settings').get(STORE_GENERATION_KEY);
        await loaded.close();
        open.length = 0;
        generations.push(kept?.value.generation ?? 0);
        expect(Date.parse(kept?.value.loaded?.copied ?? '')).toBeLessThanOrEqual(copied);
        expect(Date.parse(kept?.value.loaded?.at ?? '')).toBeGreaterThan(copied);
        expect(readFileSync(join(etc, 'store-generation'), 'utf8')).toBe(`${generations.at(-1)}\n`);
        const next = await terms(servers, 2);
        expect(Math.min(...next)).toBeGreaterThan(Math.max(...given));
        given.push(...next);
        // As if the clock were set back before the next load.
        if (load === 0) writeFileSync(join(etc, 'store-generation'), `${generations[0]! + 86_400}\n`);
      }
      expect(generations[1]).toBe(generations[0]! + 86_401);
    });

    it('put back by hand begins a generation as well, once no service runs, and what else is to be written is written first', async () => {
      let servers = await start(three.slice(0, 1));
      await expect(restoredStore({ dir: etc, servers })).rejects.toThrow('keeps nothing of Muster');
      const bus = await inventory(servers);
      await bus.createBuckets({ replicas: 1 });
      await expect(restoredStore({ dir: etc, servers })).rejects.toThrow('inventory is connected to NATS');
      await bus.close();
      open.length = 0;
      await terms(servers, 1);
      const store = join(top, `stores-${stores}`, 'ctl1');
      await Promise.all(running.splice(0).map((server) => server.kill()));
      cpSync(store, join(top, 'by-hand'), { recursive: true });
      servers = await start(three.slice(0, 1));
      await stop();
      // As a person does it: NATS is stopped, and starts on the files of before.
      const now = join(top, `stores-${stores}`, 'ctl1');
      rmSync(now, { recursive: true });
      cpSync(join(top, 'by-hand'), now, { recursive: true });
      running = [new SystemNats(join(hostFolder(etc, 'ctl1'), 'nats.conf'), program)];
      await running[0]!.start();
      await listening(4222, three[0]!.management);
      const begun: unknown[] = [];
      const begin = async (before: Bus, of: NewGeneration): Promise<void> => {
        begun.push([of, await before.bucket('settings').read(STORE_GENERATION_KEY)]);
      };
      const of = await restoredStore({ dir: etc, servers, begin });
      expect(Date.parse(of.copied)).toBeLessThan(Date.parse(of.at));
      expect(begun).toEqual([[of, undefined]]);
      const after = await inventory(servers);
      const kept = await after.bucket<StoreGeneration>('settings').get(STORE_GENERATION_KEY);
      expect(kept?.value.loaded).toEqual(of);
      await after.close();
      open.length = 0;
      expect((await terms(servers, 1))[0]).toBeGreaterThanOrEqual(generationFloor(kept?.value.generation ?? 0));

      // One that services have found, and have written to since.
      const found = { copied: '2026-01-01T00:00:00.000Z', at: '2026-01-02T00:00:00.000Z', found: true as const };
      const finder = await inventory(servers);
      await finder
        .bucket<StoreGeneration>('settings')
        .mutate(STORE_GENERATION_KEY, (now) => ({ generation: now!.value.generation + 1, loaded: found }));
      await finder.close();
      open.length = 0;
      expect((await restoredStore({ dir: etc, servers })).copied).toBe(found.copied);
    });

    it('is not taken from a folder that was never finished', async () => {
      const servers = await start(three.slice(0, 1));
      await expect(saveStore(join(top, 'nothing'), { dir: etc, servers })).rejects.toThrow('keeps nothing of Muster');
      await expect(loadStore(join(top, 'nothing'), 1, { dir: etc, servers })).rejects.toThrow('holds no store');
      await expect(saveStore(etc, { dir: etc, servers })).rejects.toThrow('is not empty');
    });
  },
);

it('says what is to run, and from where it is reached, where NATS does not answer who is connected', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-copy-'));
  try {
    // Nobody listens there.
    const servers = [`127.0.0.1:${await freePort()}`];
    await initCluster(dir, { cluster: 'spec', natsListen: servers, storeDir: join(dir, 'js'), agents: [] });
    const o = { dir, servers: servers.map((at) => `nats://${at}`) };
    for (const ask of [() => restoredStore(o), () => saveStore(join(dir, 'copy'), o)])
      await expect(ask()).rejects.toMatchObject({
        code: 'BUS_UNAVAILABLE',
        message: expect.stringMatching(/^NATS at nats:\/\/127.* cannot be reached from here, .* --nats$/) as string,
      });
    expect(existsSync(join(dir, 'copy'))).toBe(false);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
