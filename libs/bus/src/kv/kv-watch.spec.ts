import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quickest } from '#contracts/testing/quickest.js';
import { connectBus, type Bus } from '../index.js';
import { connectionOf } from '../testing/connection-of.js';
import { anyJson } from '../testing/any-json.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { startProxy, type TestProxy } from '../testing/proxy.js';

interface Thing {
  n: number;
}

let nats: TestNats;
let near: Bus;
let proxy: TestProxy;
let far: Bus;

beforeEach(async () => {
  nats = await startTestNats();
  near = await connectBus({ codec: anyJson, name: 'near', servers: [nats.url] });
  await near.createBuckets();
  proxy = await startProxy(nats.url);
  far = await connectBus({ codec: anyJson, name: 'far', servers: [proxy.url] });
});

afterEach(async () => {
  await far?.close();
  await near?.close();
  await proxy?.close();
  await nats?.stop();
});

/** A watch that writes down what it is told, and can be awaited. */
function recorder(bus: Bus) {
  const told: string[] = [];
  let wake: () => void = () => undefined;
  let lives = 0;
  const watch = bus.bucket<Thing>('nodes').watch({
    onChange: (key, value) => {
      told.push(`${key}=${value === undefined ? 'gone' : value.n}`);
      wake();
    },
    onLive: () => {
      lives++;
      wake();
    },
    onGap: () => wake(),
  });
  const until = async (met: () => boolean): Promise<void> => {
    while (!met()) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { watch, told, until, lives: () => lives };
}

describe('a watch', () => {
  it('tells the snapshot, then that it is live, then every change and deletion', async () => {
    const nodes = near.bucket<Thing>('nodes');
    await nodes.create('a.1', { n: 1 });
    await nodes.create('b', { n: 1 });
    await nodes.delete('b');
    const r = recorder(far);
    await r.until(() => r.lives() === 1);
    expect(r.told).toEqual(['a.1=1']);
    expect(r.watch.live).toBe(true);
    const c = await nodes.create('c', { n: 3 });
    // A value that is replaced at once may never be told: only the last one of a key is kept.
    await r.until(() => r.told.length === 2);
    await nodes.update('c', { n: 4 }, c);
    await nodes.delete('a.1');
    await r.until(() => r.told.length === 4);
    expect(r.told.slice(1)).toEqual(['c=3', 'c=4', 'a.1=gone']);
    await r.watch.close();
  });

  it('is not live while it is cut off, and then tells what changed and vanished meanwhile, once each', async () => {
    const nodes = near.bucket<Thing>('nodes');
    for (const key of ['same', 'changed', 'deleted']) await nodes.create(key, { n: 1 });
    const r = recorder(far);
    await r.until(() => r.lives() === 1);
    r.told.length = 0;

    proxy.freeze();
    proxy.cut();
    await r.until(() => !r.watch.live);
    await nodes.mutate('changed', () => ({ n: 2 }));
    await nodes.delete('deleted');
    await nodes.create('new', { n: 1 });
    expect(r.told).toEqual([]);

    proxy.heal();
    proxy.cut();
    await r.until(() => r.lives() === 2);
    expect([...r.told].sort()).toEqual(['changed=2', 'deleted=gone', 'new=1']);
    expect(r.watch.live).toBe(true);
    await r.watch.close();
  });

  it('notices a key whose very marker is gone after the gap', async () => {
    const nodes = near.bucket<Thing>('nodes');
    await nodes.create('purged', { n: 1 });
    await nodes.create('kept', { n: 1 });
    const r = recorder(far);
    await r.until(() => r.lives() === 1);
    r.told.length = 0;
    proxy.freeze();
    proxy.cut();
    await r.until(() => !r.watch.live);
    await connectionOf(near).request('$JS.API.STREAM.PURGE.KV_nodes', JSON.stringify({ filter: '$KV.nodes.purged' }));
    proxy.heal();
    proxy.cut();
    await r.until(() => r.lives() === 2);
    expect(r.told).toEqual(['purged=gone']);
    await r.watch.close();
  });

  it('outlives kill -9 of the server', async () => {
    const nodes = near.bucket<Thing>('nodes');
    await nodes.create('a', { n: 1 });
    const r = recorder(near);
    await r.until(() => r.lives() === 1);
    await nats.kill();
    await r.until(() => !r.watch.live);
    await nats.restart();
    await r.until(() => r.lives() === 2);
    expect(r.told).toEqual(['a=1']);
    await nodes.mutate('a', () => ({ n: 2 }));
    await r.until(() => r.told.length === 2);
    expect(r.told).toEqual(['a=1', 'a=2']);
    await r.watch.close();
  });

  it('is not live while the server is frozen, and comes back', async () => {
    const r = recorder(near);
    await r.until(() => r.lives() === 1);
    const begun = performance.now();
    await nats.pause();
    await r.until(() => !r.watch.live);
    expect(performance.now() - begun).toBeLessThan(5000);
    await nats.resume();
    await r.until(() => r.lives() === 2);
    await r.watch.close();
  });
});

describe('a view', () => {
  it('holds the values, tells changes, and is as current as its watch', async () => {
    const nodes = near.bucket<Thing>('nodes');
    const revision = await nodes.create('a', { n: 1 });
    const view = await far.bucket<Thing>('nodes').view();
    expect(view.get('a')).toEqual({ key: 'a', value: { n: 1 }, revision });
    const told = new Promise<string>((resolve) => view.onChange((key, value) => resolve(`${key}=${value?.n}`)));
    await nodes.delete('a');
    expect(await told).toBe('a=undefined');
    expect(view.entries()).toEqual([]);
    await view.close();
    expect(view.live).toBe(false);
  });

  it('lets ten thousand keys through in good time', async () => {
    const nodes = near.bucket<Thing>('nodes');
    for (let from = 0; from < 10_000; from += 250)
      await Promise.all(Array.from({ length: 250 }, (_, n) => nodes.create(`n${from + n}`, { n })));
    const took = await quickest(5000, async () => {
      const begun = performance.now();
      const view = await far.bucket<Thing>('nodes').view();
      const ms = performance.now() - begun;
      expect(view.entries().length).toBe(10_000);
      await view.close();
      return ms;
    });
    expect(took).toBeLessThan(5000);
  });
});
