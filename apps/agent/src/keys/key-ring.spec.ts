import { constants, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { keyId, type KeysQuestion } from '#contracts/wire/datagram-key-set.js';
import { decodeDatagram, encodeDatagram } from '#contracts/wire/datagram.js';
import { sealTo } from '#contracts/keys/sealed-to.js';
import { KeyRing } from './key-ring.js';

const [OLD, NEW, NEXT] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer];
const said: unknown[] = [];
const note = (...words: unknown[]): void => void said.push(words);

let dir: string;
let changes: number;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-keys-'));
  changes = 0;
  said.length = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const ring = async (enrolled = [OLD], stateDir = dir): Promise<KeyRing> => {
  const sut = new KeyRing({
    cluster: 'c',
    enrolled,
    stateDir,
    changed: () => changes++,
    log: { info: note, warn: note, error: note },
  });
  await sut.load();
  return sut;
};
/** As inventory does: sealed to the one who asks. */
const give = async (sut: KeyRing, version: number, keys: Buffer[]): Promise<string> => {
  const rest = hand(sut, version, keys);
  await sut.settled();
  return rest;
};
const hand = (sut: KeyRing, version: number, keys: Buffer[]): string => {
  const question = sut.question();
  const { box } = JSON.parse(question.text) as Required<KeysQuestion>;
  const given = JSON.stringify({ version, keys: keys.map((k) => k.toString('hex')) });
  return question.read(JSON.stringify({ version: 4, peers: [], sealedKeys: sealTo(box, given) }));
};
const names = (...keys: Buffer[]): string[] => keys.map(keyId);

describe("an agent's keys", () => {
  it('are those of the enrolment until others come, which are in use at once and after a restart', async () => {
    const sut = await ring();
    expect([sut.keys, sut.ids, sut.cluster]).toEqual([[OLD], names(OLD), 'c']);
    expect(JSON.parse(await give(sut, 7, [OLD, NEW]))).toEqual({ version: 4, peers: [] });
    expect([sut.keys, sut.ids, changes]).toEqual([[OLD, NEW], names(OLD, NEW), 1]);
    expect((await ring()).keys).toEqual([OLD, NEW]);
    expect((await stat(join(dir, 'datagram-keys.json'))).mode & 0o777).toBe(0o600);
    for (const key of [OLD, NEW]) expect(JSON.stringify(said)).not.toContain(key.toString('hex'));
  });

  it('prove the very next datagram', async () => {
    const sut = await ring();
    const datagram = {
      type: 1,
      from: 1n,
      to: 2n,
      epoch: 3n,
      boot: 0,
      network: 0,
      listVersion: 4,
      nonce: Buffer.alloc(16),
    } as const;
    const before = encodeDatagram(datagram, sut);
    expect(decodeDatagram(before, sut)).toMatchObject({ from: 1n });
    await give(sut, 7, [NEW]);
    expect(decodeDatagram(before, sut)).toBe('mac');
    expect(decodeDatagram(encodeDatagram(datagram, sut), { cluster: 'c', keys: [NEW] })).toMatchObject({ from: 1n });
  });

  it('are never those of an answer that is behind', async () => {
    const sut = await ring();
    await give(sut, 7, [NEW]);
    await give(sut, 6, [OLD, NEW]);
    await give(sut, 7, [OLD]);
    expect([sut.keys, changes]).toEqual([[NEW], 1]);
    expect((await ring()).keys).toEqual([NEW]);
  });

  it('are those of the enrolment again, where the host was enrolled anew', async () => {
    await give(await ring(), 7, [NEW]);
    const anew = await ring([NEXT]);
    expect(anew.keys).toEqual([NEXT]);
    await give(anew, 7, [NEXT, NEW]);
    expect((await ring([NEXT])).keys).toEqual([NEXT, NEW]);
  });

  it('are not used, nor told of, before they are on disk', async () => {
    await writeFile(join(dir, 'file'), '');
    const sut = await ring([OLD], join(dir, 'file'));
    await give(sut, 7, [NEW]);
    expect([sut.keys, sut.ids, changes]).toEqual([[OLD], names(OLD), 0]);
    expect(sut.warning).toMatch(/^datagram keys: /);
  });

  it('stay where what came is of no use, and that is said until others came', async () => {
    const sut = await ring();
    const other = sut.question();
    const { box } = JSON.parse(other.text) as Required<KeysQuestion>;
    const broken = JSON.stringify({ version: 9, sealedKeys: sealTo(box, '{"version":9,"keys":["x"]}') });
    expect(JSON.parse(other.read(broken))).toEqual({ version: 9 });
    expect([sut.keys, sut.warning]).toEqual([[OLD], expect.stringContaining('hex digits')]);
    const forSomebodyElse = sut.question();
    forSomebodyElse.read(broken);
    expect(sut.keys).toEqual([OLD]);
    await give(sut, 9, [NEW]);
    expect([sut.keys, sut.warning]).toEqual([[NEW], undefined]);
  });

  it('are those of the enrolment where the disk has none that can be read, and that is said', async () => {
    await writeFile(join(dir, 'datagram-keys.json'), `{"version": 7, "keys": ["${NEW.toString('hex')}`);
    const sut = await ring();
    expect([sut.keys, sut.warning]).toEqual([[OLD], expect.stringContaining('datagram-keys.json is of no use')]);
    expect(JSON.stringify(said)).not.toContain(NEW.toString('hex'));
    await give(sut, 7, [NEW]);
    expect(sut.warning).toBeUndefined();
    expect(await readFile(join(dir, 'datagram-keys.json'), 'utf8')).toContain(NEW.toString('hex'));
  });

  it('do not keep the peers waiting for a disk that hangs, and are written one after the other', async () => {
    const sut = await ring();
    // Whoever opens this to write waits until somebody reads it; then it cannot be synced.
    const aside = join(dir, `datagram-keys.json.${process.pid}.new`);
    execaSync('mkfifo', [aside]);
    try {
      for (const [version, keys] of [
        [7, [OLD, NEW]],
        [9, [NEW]],
        [8, [NEW, OLD]],
      ] as const)
        expect(JSON.parse(hand(sut, version, [...keys]))).toEqual({ version: 4, peers: [] });
      expect([sut.keys, changes]).toEqual([[OLD], 0]);
    } finally {
      // No process ends while one of its threads waits for a reader. To open without waiting frees whoever writes.
      const reader = await open(aside, constants.O_RDONLY | constants.O_NONBLOCK);
      await sut.settled();
      await reader.close();
    }
    expect([sut.keys, changes, sut.warning]).toEqual([[NEW], 1, undefined]);
    expect((await ring()).keys).toEqual([NEW]);
  });

  it('are lacking where a list names others that came later', async () => {
    const sut = await ring();
    await give(sut, 7, [OLD, NEW]);
    const lacks = (version: number, ...keys: Buffer[]): boolean => sut.lacks({ version, keys: names(...keys) });
    expect([lacks(8, NEW, OLD), lacks(8, OLD, NEW), lacks(7, NEW, OLD), lacks(6, OLD)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(sut.lacks(undefined)).toBe(false);
    expect(sut.lacks({ version: 9 } as never)).toBe(false);
  });

  it('are not needed to read an answer without any', async () => {
    const { read } = (await ring()).question();
    expect(read('{"version":1}')).toBe('{"version":1}');
    expect(read('null')).toBe('null');
  });
});
