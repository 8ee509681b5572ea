import { describe, expect, it } from 'vitest';
import type { BucketName } from '#contracts';
import { openRecord, ownSeal, powerOptionsSeal } from './record-seal.js';

const key = Buffer.alloc(32, 1);
const keyOf = () => key;
const seal = ownSeal(keyOf);
const device = (options?: object) => ({ id: 'bmc', driver: 'd', address: 'a', ...(options && { options }) });
const vars = { rack: 'r1', db_pwd: 'hidden-3', deep: [{ token: { of: 'hidden-4' } }] };
const options = { plug: '3', passwd: 'hidden-1', url: 'https://u:hidden-2@h' };

const spec = { unit: 'db.service', exec: 'db --password=hidden-5', environment: { DB_PWD: 'hidden-6' } };
const recover = [
  { workload: 'db', spec: { unit: 'log.service' } },
  { workload: 'db', spec },
];

/** In every place of a record where something secret may stand. */
const records: [BucketName, object][] = [
  ['nodes', { name: 'n', vars, powerLevels: [[device(options), device()], [device(options)]] }],
  ['admission', { edit: 'e', changes: [{ kind: 'create', node: { vars, powerLevels: [[device(options)]] } }] }],
  ['admission', { edit: 'e', changes: [{ kind: 'edit', patch: { vars, powerLevels: [[device(options)]] } }] }],
  ['admission', { held: {}, pending: { j: { id: 'j', extraVars: {}, recover }, k: { id: 'k' } } }],
  ['workloads', { name: 'db', recovery: { driver: 'ansible', spec } }],
  ['jobs', { id: 'j', extraVars: {}, recover }],
];

describe('the records of their owner', () => {
  it.each(records)(
    'are sealed in bucket %s where they are stored, and as they were where they are read',
    (bucket, r) => {
      const stored = seal.seal(bucket, r) as object;
      expect(stored).toMatchObject({ schema: 2 });
      expect(JSON.stringify(stored)).not.toContain('hidden');
      expect(seal.open(bucket, stored)).toEqual(r);
      expect(openRecord(keyOf, bucket, stored)).toEqual({ ...r, schema: 2 });
    },
  );

  it.each([
    ['nodes', { name: 'n', note: 'password=x', powerLevels: [[device({ plug: '3', passwd: '' }), device()]] }],
    ['admission', { held: {}, pending: {}, generation: 1 }],
    [
      'admission',
      { edit: 'e', changes: [{ kind: 'edit', patch: { vars: null, powerLevels: null } }, { kind: 'delete' }] },
    ],
    ['incidents', { node: 'n', options }],
    ['jobs', { id: 'j', extraVars: { db_pwd: 'sealed by who puts it there' } }],
  ] satisfies [BucketName, object][])(
    'stay the very same in bucket %s where nothing in them is to be sealed',
    (bucket, r) => {
      expect(seal.seal(bucket, r)).toBe(r);
    },
  );

  it('need no key where none of it is secret', () => {
    const unread = (): never => {
      throw new Error('the key file is read');
    };
    const harmless = { name: 'n', powerLevels: [[device({ plug: '3' })]] };
    expect(ownSeal(unread).seal('nodes', harmless)).toBe(harmless);
    expect(() => ownSeal(unread).seal(...records[0]!)).toThrow('the key file is read');
  });

  it('are sealed alike each time, and open with no other key and without none', () => {
    const [bucket, r] = records[0]!;
    const stored = seal.seal(bucket, r) as object;
    expect(seal.seal(bucket, r)).toEqual(stored);
    for (const other of [undefined, Buffer.alloc(32, 2)])
      expect(() => ownSeal(() => other).open(bucket, stored)).toThrow(
        expect.objectContaining({ code: 'CONFIG_INVALID' }),
      );
  });

  it('are in clear where there is no key, and a text in them that pretends to be sealed is none', () => {
    const [bucket, r] = records[0]!;
    const none = ownSeal(() => undefined);
    expect(none.seal(bucket, r)).toBe(r);
    const pretended = { powerLevels: [[device({ note: 'muster-sealed:1:a.b.c' })]] };
    expect(openRecord(keyOf, 'nodes', pretended)).toBe(pretended);
    expect(seal.open('nodes', seal.seal('nodes', pretended) as object)).toEqual(pretended);
  });
});

describe('the records of a fencer', () => {
  const stored = seal.seal(...records[0]!) as object;

  it('have the options of power devices as they were, and are written as they are', () => {
    const fencer = powerOptionsSeal(keyOf);
    const { vars: _sealed, ...rest } = records[0]![1] as { vars: object };
    expect(fencer.open('nodes', stored)).toMatchObject(rest);
    expect(JSON.stringify(fencer.open('nodes', stored))).not.toMatch(/hidden-[34]/);
    expect(fencer.open('admission', stored)).toBe(stored);
    expect(fencer.seal('incidents', stored)).toBe(stored);
  });

  it('stay sealed where its key is another one, or none', () => {
    for (const other of [undefined, Buffer.alloc(32, 2)])
      expect(powerOptionsSeal(() => other).open('nodes', stored)).toBe(stored);
  });
});
