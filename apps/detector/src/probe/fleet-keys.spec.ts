import { describe, expect, it } from '@jest/globals';
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

  it("are outdated from when the fleet's are others, and are asked for until they are had", async () => {
    let answers = 0;
    const { sut, failed } = keysOf((q) =>
      answers++ === 0 ? Promise.reject(new Error('no answer')) : Promise.resolve(given(q, 5, OLD, NEW)),
    );
    sut.follow(set(5, OLD, NEW));
    expect(sut.outdated).toBe(true);
    await sut.step(0);
    expect([sut.keys, sut.outdated, failed.length]).toEqual([[OLD], true, 1]);
    await sut.step(999);
    expect(answers).toBe(1);
    await sut.step(1_000);
    expect([sut.keys, sut.ids, sut.outdated]).toEqual([[OLD, NEW], [keyId(OLD), keyId(NEW)], false]);
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
