import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import type { Clock } from '#contracts/ports/clock.js';
import type { PeerList } from '#contracts/wire/peers.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import type { AgentLog } from '../log/agent-log.js';
import { parsePeerList } from './parse-peer-list.js';
import { PeerCache } from './peer-cache.js';
import { Refresher } from './refresher.js';

const SELF = { node: 'a', cluster: 'c' };
const list = (version: number, peers = ['b', 'd']): PeerList => ({
  version,
  cluster: 'c',
  self: { name: 'a', networks: { management: '127.0.0.1' } },
  peers: peers.map((name, i) => ({ name, networks: { management: `127.0.0.${i + 2}` } })),
  port: 7946,
  detection: DetectionProfiles.lan,
});
const quiet: AgentLog = { info() {}, warn() {}, error() {} };
/** Every key is in use, and nothing is drawn. */
const calm = { lacksKeys: () => false, clock: systemClock, random: { ...systemRandom, number: () => 0.5 } };

describe('a peer list', () => {
  it.each<[string, unknown]>([
    ['nothing', null],
    ['an error of the control plane', { code: 'NODE_UNKNOWN', message: 'no such node' }],
    ['of another cluster', { ...list(1), cluster: 'other' }],
    ['of another node', { ...list(1), self: { name: 'z', networks: { management: '127.0.0.1' } } }],
    ['without addresses', { ...list(1), peers: [{ name: 'b', networks: {} }] }],
    ['with an address that is none', { ...list(1), peers: [{ name: 'b', networks: { management: 7 } }] }],
    ['that names a peer twice', list(1, ['b', 'b'])],
    ['that names ourselves', list(1, ['a'])],
    ['without one of the numbers', { ...list(1), detection: { ...DetectionProfiles.lan, misses: undefined } }],
    ['with a number as a text', { ...list(1), detection: { ...DetectionProfiles.lan, interval: '500' } }],
    ['without a version', { ...list(1), version: undefined }],
    ['with a network on which no server is named', { ...list(1), nats: { management: [] } }],
    ['with a server that is none', { ...list(1), nats: { management: ['nats://a b:4222'] } }],
    ['with servers that are no list', { ...list(1), nats: { management: 'nats://a:4222' } }],
    ['with servers of no network', { ...list(1), nats: ['nats://a:4222'] }],
    ['with more servers than a cluster has', { ...list(1), nats: { management: Array(17).fill('nats://a:4222') } }],
    [
      'with numbers that let a stale report say that a node is down',
      { ...list(1), detection: { ...DetectionProfiles.lan, freshness: 9000 } },
    ],
  ])('is refused: %s', (_what, raw) => {
    expect(() => parsePeerList(JSON.stringify(raw), SELF)).toThrow(/is |has |names|NODE_UNKNOWN|freshness/);
  });
});

describe('a peer that is known by a host name', () => {
  it('is not probed there, and does not spoil the list', () => {
    const networks = { management: 'b.example', backend: '127.0.0.9' };
    const parsed = parsePeerList(JSON.stringify({ ...list(1), peers: [{ name: 'b', networks }] }), SELF);
    expect(parsed.peers).toEqual([{ name: 'b', networks: { backend: '127.0.0.9' } }]);
  });
});

describe('the cache and the refresher', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-peers-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it.each([
    ['half-written', '{"version": 3, "clus'],
    ['empty', ''],
    ['of zeros', '\0\0\0\0'],
  ])('uses the copy, which is as new, when the list is %s, and says so', async (_what, broken) => {
    const cache = new PeerCache(dir, SELF);
    await cache.save(list(1));
    await cache.save(list(2));
    await writeFile(join(dir, 'peers.json'), broken);
    const loaded = await new PeerCache(dir, SELF).load();
    expect(loaded.list?.version).toBe(2);
    expect(loaded.warning).toContain('peers.json');
    await cache.save(list(3));
    expect(await new PeerCache(dir, SELF).load()).toEqual({ list: list(3) });
  });

  it('starts with the list on disk before anybody has answered', async () => {
    await new PeerCache(dir, SELF).save(list(4));
    const accepted: number[] = [];
    const never = new Promise<string>(() => undefined);
    const sut = new Refresher({
      self: SELF,
      cache: new PeerCache(dir, SELF),
      ask: () => never,
      accept: (l) => accepted.push(l.version),
      log: quiet,
      ...calm,
    });
    await sut.start();
    expect(accepted).toEqual([4]);
    await sut.stop();
  });

  /** Answers one after the other; resolves when the last has been taken. */
  const refreshed = async (
    answers: (string | Error)[],
    cache = new PeerCache(dir, SELF),
  ): Promise<{ sut: Refresher; accepted: number[] }> => {
    const accepted: number[] = [];
    let done = (): void => undefined;
    const asked = new Promise<void>((resolve) => (done = resolve));
    const left = [...answers];
    const sut = new Refresher({
      self: SELF,
      cache,
      ask: () => {
        const next = left.shift();
        if (next === undefined) {
          done();
          return new Promise<string>(() => undefined);
        }
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      },
      accept: (l) => accepted.push(l.version),
      log: quiet,
      ...calm,
      numbers: { period: 1, firstRetry: 1, retry: 1, mostRetry: 1, deadline: 10, jitter: 0 },
    });
    await sut.start();
    await asked;
    await sut.stop();
    return { sut, accepted };
  };

  it('keeps the last good list through errors, empty and broken ones, and takes the next good one', async () => {
    const { accepted, sut } = await refreshed([
      JSON.stringify(list(1)),
      new Error('no server'),
      JSON.stringify(list(2, [])),
      'garbage',
      JSON.stringify(list(3)),
    ]);
    expect(accepted).toEqual([1, 3]);
    expect(sut.warning).toBeUndefined();
  });

  it('writes a list anew that was broken on disk, also where the control plane has the same', async () => {
    await new PeerCache(dir, SELF).save(list(1));
    await writeFile(join(dir, 'peers.json'), '');
    const { accepted } = await refreshed([JSON.stringify(list(1))]);
    expect(accepted).toEqual([1]);
    expect(parsePeerList(await readFile(join(dir, 'peers.json'), 'utf8'), SELF).version).toBe(1);
  });

  it('writes a list again that could not be written', async () => {
    let tries = 0;
    class FullAtFirst extends PeerCache {
      override save(l: PeerList): Promise<void> {
        return tries++ === 0 ? Promise.reject(new Error('no space left')) : super.save(l);
      }
    }
    const same = JSON.stringify(list(1));
    const { accepted, sut } = await refreshed([same, same, same], new FullAtFirst(dir, SELF));
    expect(accepted).toEqual([1]);
    expect(tries).toBe(2);
    expect(sut.warning).toBeUndefined();
    expect((await new PeerCache(dir, SELF).load()).list?.version).toBe(1);
  });

  it('has stopped once nothing of it writes any more, and takes no answer after that', async () => {
    let answer: (text: string) => void = () => undefined;
    const saving: (() => void)[] = [];
    let begun: () => void = () => undefined;
    const saves = new Promise<void>((resolve) => (begun = resolve));
    class Slow extends PeerCache {
      override save(): Promise<void> {
        begun();
        return new Promise((resolve) => saving.push(resolve));
      }
    }
    const cache = new Slow(dir, SELF);
    const accepted: number[] = [];
    const ask = (): Promise<string> => new Promise((resolve) => (answer = resolve));
    const make = (): Refresher =>
      new Refresher({ self: SELF, cache, ask, accept: (l) => accepted.push(l.version), log: quiet, ...calm });
    const [saver, asker] = [make(), make()];
    await saver.start();
    answer(JSON.stringify(list(1)));
    await saves;
    const told: string[] = [];
    const stopped = saver.stop().then(() => told.push('stopped'));
    await asker.start();
    await asker.stop();
    answer(JSON.stringify(list(2)));
    await new Promise((resolve) => setImmediate(resolve));
    told.push('written');
    saving[0]?.();
    await stopped;
    expect([told, saving.length, accepted]).toEqual([['written', 'stopped'], 1, [1]]);
  });

  it('takes the next list while the disk hangs with the one before, and writes it once the disk goes on', async () => {
    let goOn: () => void = () => undefined;
    const hanging = new Promise<void>((resolve) => (goOn = resolve));
    class Hanging extends PeerCache {
      override async save(l: PeerList): Promise<void> {
        saves.push(l.version);
        await hanging;
        return super.save(l);
      }
    }
    const saves: number[] = [];
    const accepted: number[] = [];
    const answers = [list(1), list(2), list(3)];
    let done: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (done = resolve));
    const sut = new Refresher({
      self: SELF,
      cache: new Hanging(dir, SELF),
      ask: () => {
        const next = answers.shift();
        if (next) return Promise.resolve(JSON.stringify(next));
        done();
        return new Promise<string>(() => undefined);
      },
      accept: (l) => accepted.push(l.version),
      log: quiet,
      ...calm,
      numbers: { period: 1, firstRetry: 1, retry: 1, mostRetry: 1, deadline: 10, jitter: 0 },
    });
    await sut.start();
    await asked;
    expect([accepted, saves]).toEqual([[1, 2, 3], [1]]);
    goOn();
    await sut.stop();
    expect([saves, (await new PeerCache(dir, SELF).load()).list?.version]).toEqual([[1, 3], 3]);
  });

  describe('with a list whose keys are not in use', () => {
    const numbers = { period: 300_000, firstRetry: 1, retry: 1_000, mostRetry: 4_000, deadline: 10, jitter: 0.1 };
    /** Waits that were planned, ms, in order; nothing waits for the clock. */
    const waits = async (lacks: boolean[], random: number): Promise<number[]> => {
      const planned: number[] = [];
      let lacking = lacks.shift() ?? false;
      let end: () => void = () => undefined;
      const over = new Promise<void>((resolve) => (end = resolve));
      const after: Clock['after'] = (ms, fn) => {
        planned.push(Math.round(ms));
        if (lacks.length === 0) end();
        else
          setImmediate(() => {
            lacking = lacks.shift() as boolean;
            fn();
          });
        return { cancel: () => undefined };
      };
      const cache = new PeerCache(dir, SELF);
      await cache.save(list(1));
      const sut = new Refresher({
        self: SELF,
        cache,
        ask: () => Promise.resolve(JSON.stringify(list(1))),
        accept: () => undefined,
        lacksKeys: () => lacking,
        clock: { ...systemClock, after },
        random: { ...systemRandom, number: () => random },
        log: quiet,
        numbers,
      });
      await sut.start();
      await over;
      await sut.stop();
      return planned;
    };

    it('asks again soon, and less and less often, until they are', async () => {
      expect(await waits([true, true, true, true, true, false], 0.5)).toEqual([
        1_000, 2_000, 4_000, 4_000, 4_000, 300_000,
      ]);
      expect(await waits([true, true], 0)).toEqual([900, 1_800]);
      expect(await waits([false], 0)).toEqual([300_000]);
    });
  });

  it('says why its list may be old', async () => {
    const { accepted, sut } = await refreshed([JSON.stringify(list(1)), JSON.stringify(list(2, []))]);
    expect(accepted).toEqual([1]);
    expect(sut.warning).toContain('empty');
  });

  it('says that its list on disk is broken, also while nobody answers, and until a good one has taken its place', async () => {
    await new PeerCache(dir, SELF).save(list(1));
    await writeFile(join(dir, 'peers.json'), '');
    const alone = await refreshed([new Error('no server')]);
    expect(alone.sut.warning).toMatch(/^peer list: .*peers\.json .*; no server$/);
    const healed = await refreshed([JSON.stringify(list(1))]);
    expect(healed.sut.warning).toBeUndefined();
  });

  it('believes that the last other node is gone when a newer list is empty again and again', async () => {
    const empty = JSON.stringify(list(2, []));
    const { accepted, sut } = await refreshed([JSON.stringify(list(1)), empty, empty, empty, empty, empty]);
    expect([accepted, sut.list?.peers, sut.warning]).toEqual([[1, 2], [], undefined]);
  });

  it.each([
    ['not newer', [1, 1, 1, 1, 1, 1]],
    ['older', [0, 0, 0, 0, 0, 0]],
  ])('never believes an empty list that is %s', async (_what, versions) => {
    const { accepted, sut } = await refreshed([
      JSON.stringify(list(1)),
      ...versions.map((v) => JSON.stringify(list(v, []))),
    ]);
    expect(accepted).toEqual([1]);
    expect(sut.warning).toContain('empty');
  });

  it('counts anew how often a list was empty when another came in between', async () => {
    const [empty, whole] = [JSON.stringify(list(2, [])), JSON.stringify(list(1))];
    const { accepted } = await refreshed([whole, empty, empty, empty, whole, empty, empty, empty]);
    expect(accepted).toEqual([1]);
    const older = JSON.stringify(list(0));
    const mixed = await refreshed([whole, older, older, older, empty, empty, empty]);
    expect(mixed.accepted).toEqual([1]);
  });

  it('does not believe one older list, but believes a control plane that was set back', async () => {
    const older = JSON.stringify(list(5));
    const { accepted } = await refreshed([
      JSON.stringify(list(9)),
      older,
      JSON.stringify(list(9)),
      older,
      older,
      older,
      older,
    ]);
    expect(accepted).toEqual([9, 5]);
  });
});
