import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connectPorts } from '#bus/nats/connect.js';
import { startTestNats } from '#bus/testing/nats.js';
import { startProxy, type TestProxy } from '#bus/testing/proxy.js';
import type { Wire } from '#bus/ports/wire.js';
import type { ContractWorld } from './contract-world.js';
import { Pulse } from './pulse.js';

/** A real nats-server. @param program its path; absent: the one that specs run against */
export async function realWorld(program?: string): Promise<ContractWorld> {
  const nats = await startTestNats(program === undefined ? {} : { program });
  const wires: Wire[] = [];
  const proxies: TestProxy[] = [];
  const store = join(nats.dir, 'js');
  const saved = join(nats.dir, 'saved');
  const own = await connectPorts({ name: 'contract', servers: [nats.url] });
  wires.push(own.wire);
  const pulse = new Pulse(own.wire);
  const until = async (holds: () => boolean): Promise<void> => {
    for (const end = performance.now() + 30_000; !holds(); await pause(2))
      if (performance.now() > end) throw new Error('it never came to be');
  };
  const restart = async (): Promise<void> => {
    await nats.restart();
    await until(() => own.wire.connected);
  };
  return {
    version: own.wire.serverInfo?.version ?? '',
    played: false,
    client: async (name) => {
      const proxy = await startProxy(nats.url);
      proxies.push(proxy);
      const { wire, messages } = await connectPorts({ name, servers: [proxy.url] });
      wires.push(wire);
      return {
        wire,
        messages,
        loseAnswer: () => proxy.mute(),
        cut: () => {
          proxy.freeze();
          proxy.cut();
        },
        heal: async () => {
          let back = false;
          const off = wire.onStatus((status) => (back ||= status === 'connected'));
          proxy.heal();
          proxy.cut();
          await until(() => back);
          off();
        },
      };
    },
    run: (work) => work,
    until,
    advance: (ms) => pause(ms),
    restart,
    remember: async () => {
      await nats.kill();
      await rm(saved, { recursive: true, force: true });
      await cp(store, saved, { recursive: true });
      await restart();
    },
    rollBack: async (streams) => {
      await nats.kill();
      for (const path of await streamFolders(saved)) {
        if (!streams.some((name) => path.endsWith(`/streams/${name}`))) continue;
        await rm(join(store, path), { recursive: true, force: true });
        await mkdir(dirname(join(store, path)), { recursive: true });
        await cp(join(saved, path), join(store, path), { recursive: true });
      }
      await restart();
    },
    recreate: async (stream) => {
      const { config } = await own.messages.info(stream);
      await own.wire.request(`$JS.API.STREAM.DELETE.${stream}`, '', { timeoutMs: 5000 });
      await own.messages.createStream(config);
    },
    watchStandstill: () => pulse.watch(),
    close: async () => {
      await pulse.end();
      await Promise.all(wires.map((wire) => wire.close()));
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await nats.stop();
    },
  };
}

/** Relative to the store. */
async function streamFolders(store: string): Promise<string[]> {
  const all = await readdir(store, { recursive: true, encoding: 'utf8' });
  return all.map((path) => `/${path}`).filter((path) => /\/streams\/[^/]+$/.test(path));
}
