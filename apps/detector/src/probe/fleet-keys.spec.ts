import { describe, expect, it } from 'vitest';
import { keyId, sealTo, type DatagramKeySet, type KeysAnswer, type KeysQuestion } from '#contracts';
import { FleetKeys } from './fleet-keys.js';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const set = (version: number, ...keys: Buffer[]): DatagramKeySet => ({
  version,
  phase: 'spread',
  keys: keys.map(keyId),
  by: 'ann',
  startedAt: 1,
  changedAt: 1,
});
const given = (q: KeysQuestion, version: number, ...keys: Buffer[]): KeysAnswer => ({
  sealedKeys: sealTo(q.box ?? '', JSON.stringify({ version, keys: keys.map((k) => k.toString('hex')) })),
});

const keysOf = (ask: (q: KeysQuestion) => Promise<KeysAnswer>): { sut: FleetKeys; failed: unknown[] } => {
  const failed: unknown[] = [];
  return { sut: new FleetKeys({ cluster: 'c', keys: [OLD], ask, failed: (e) => failed.push(e) }), failed };
};

describe("the detector's keys", () => {
  it('are those of the file, and nobody is asked, while the fleet has no others', async () => {
    const { sut, failed } = keysOf(() => Promise.reject(new Error('nobody is to be asked')));
    sut.follow(undefined);
    await sut.step(0);
    sut.follow(set(5, OLD));
    await sut.step(0);
    expect([sut.keys, sut.outdated, failed]).toEqual([[OLD], false, []]);
  });

  it("are asked for from when the fleet's are others until they are had, and only the first failure is told", async () => {
    let answers = 0;
    const { sut, failed } = keysOf((q) =>
      answers++ < 2 ? Promise.reject(new Error('no answer')) : Promise.resolve(given(q, 5, OLD, NEW)),
    );
    sut.follow(set(5, OLD, NEW));
    await sut.step(0);
    expect([sut.keys, failed.length]).toEqual([[OLD], 1]);
    await sut.step(999);
    expect(answers).toBe(1);
    await sut.step(1_000);
    expect([answers, failed.length]).toEqual([2, 1]);
    await sut.step(2_000);
    expect([sut.keys, sut.ids, sut.outdated]).toEqual([[OLD, NEW], [keyId(OLD), keyId(NEW)], false]);
    answers = 0;
    sut.follow(set(6, NEW, OLD));
    await sut.step(3_000);
    expect(failed.length).toBe(2);
  });

  it('are outdated where what they sign is not accepted, or what comes back cannot be proven, and for how long', async () => {
    const { sut } = keysOf(() => Promise.reject(new Error('not permitted')));
    // The new key is given out, and the old one signs.
    sut.follow(set(5, OLD, NEW));
    await sut.step(0);
    expect([sut.outdated, sut.outdatedFor(60_000)]).toEqual([false, 0]);
    // The new one signs, the old one is accepted.
    sut.follow(set(6, NEW, OLD));
    expect(sut.outdated).toBe(true);
    await sut.step(70_000);
    await sut.step(75_000);
    expect(sut.outdatedFor(80_000)).toBe(10_000);
    sut.follow(set(7, NEW));
    await sut.step(81_000);
    expect(sut.outdatedFor(82_000)).toBe(12_000);
  });

  it('are not outdated while theirs are both accepted, and are once the first of them is gone', async () => {
    const { sut } = keysOf((q) => Promise.resolve(given(q, 5, OLD, NEW)));
    sut.follow(set(5, OLD, NEW));
    await sut.step(0);
    sut.follow(set(6, NEW, OLD));
    expect(sut.outdated).toBe(false);
    sut.follow(set(7, NEW));
    expect(sut.outdated).toBe(true);
  });

  it('are not those of an answer that is behind, nor of a record that is', async () => {
    const { sut } = keysOf((q) => Promise.resolve(given(q, 5, OLD, NEW)));
    sut.follow(set(6, NEW, OLD));
    await sut.step(0);
    expect([sut.keys, sut.outdated]).toEqual([[OLD], true]);
    sut.follow(set(5, OLD));
    expect(sut.outdated).toBe(true);
  });
});
