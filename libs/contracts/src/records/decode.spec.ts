import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { PERMITS_KEY } from '../admission/admission.js';
import { MusterError } from '../errors/errors.js';
import { Buckets, type BucketName } from '../names/subjects.js';
import { runs } from '../testing/chance.js';
import { decode, unreadable } from './decode.js';
import { standIn } from './stand-in.js';

interface Line {
  bucket: BucketName;
  key: string;
  value: unknown;
}

const stored = readFileSync(join(process.cwd(), 'test/fixtures/store/eb7662b/store.ndjson'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Line)
  .filter((line) => line.value !== null);

const keysOf = (bucket: BucketName): string[] => [
  'toString',
  ...stored.filter((l) => l.bucket === bucket).map((l) => l.key),
];

/** Never throws; and what was read can be written again. */
function holds(bucket: BucketName, key: string, text: string): boolean {
  const decoded = decode(bucket, key, text);
  if ('why' in decoded) return decoded.why !== '';
  return JSON.parse(JSON.stringify(decoded.value)) !== undefined;
}

const changed = (value: unknown, path: readonly number[], to: unknown): unknown => {
  if (path.length === 0 || typeof value !== 'object' || value === null) return to;
  const names = Object.keys(value);
  const name = names[(path[0] ?? 0) % Math.max(1, names.length)];
  if (name === undefined) return to;
  const inner = changed((value as Record<string, unknown>)[name], path.slice(1), to);
  return Array.isArray(value)
    ? value.map((x: unknown, i) => (String(i) === name ? inner : x))
    : { ...value, [name]: inner };
};

describe('a record of a bucket', () => {
  it('is read as an earlier version has written it', () => {
    const unread = stored.flatMap(({ bucket, key, value }) => {
      const decoded = decode(bucket, key, JSON.stringify(value));
      if ('why' in decoded) return [`${bucket}/${key}: ${decoded.why}`];
      expect(decoded.value).toEqual(value);
      return [];
    });
    expect(unread).toEqual([]);
    expect(stored.length).toBeGreaterThan(200);
  });

  it('of a later schema is not read, and one without a schema is of the first', () => {
    const one = stored.find((l) => l.bucket === 'workloads') as Line;
    const of = (more: object) => decode('workloads', one.key, JSON.stringify({ ...(one.value as object), ...more }));
    expect(of({ schema: 1 })).toHaveProperty('value');
    expect(of({ schema: 2 })).toHaveProperty('value');
    for (const schema of [3, 1.5])
      expect(of({ schema })).toEqual({ why: `its schema is ${schema}, and this version reads 1 and 2` });
  });

  it('is opened where its schema says that it is sealed, and whole though it cannot be opened', () => {
    const one = stored.find((l) => l.bucket === 'workloads') as Line;
    const read = (more: object, open: () => unknown) =>
      decode('workloads', one.key, JSON.stringify({ ...(one.value as object), ...more }), open);
    const opened = { ...(one.value as object), priority: 99 };
    expect(read({ schema: 2 }, () => opened)).toEqual({ value: opened });
    for (const clear of [{}, { schema: 1 }]) expect(read(clear, () => opened)).not.toEqual({ value: opened });
    expect(read({ schema: 2 }, () => ({}))).toEqual({ why: 'name is missing' });
    const shut = read({ schema: 2 }, () => {
      throw new MusterError('CONFIG_INVALID', 'there is no key');
    });
    expect(shut).toEqual({ why: 'there is no key', sealed: true });
    const remedy = (sealed: object) =>
      unreadable({ bucket: 'workloads', key: one.key, revision: 1, why: 'there is no key', ...sealed }).message;
    expect(remedy({ sealed: true })).toMatch(/keys\.secrets.*only where that file is lost: muster record delete/);
    expect(remedy({})).not.toContain('keys.secrets');
  });

  it('speaks for its own key only', () => {
    const { value } = stored.find((l) => l.bucket === 'nodes') as Line;
    expect(decode('nodes', 'another', JSON.stringify(value))).toEqual({ why: 'name is not its key' });
  });

  it.each(Buckets)('of %s never throws, whatever JSON or text it is', (bucket) => {
    const keys = keysOf(bucket);
    fc.assert(
      fc.property(fc.constantFrom(...keys), fc.oneof(fc.json(), fc.string()), (key, text) => holds(bucket, key, text)),
      { numRuns: runs(150) },
    );
  });

  it('never throws where it was cut off, or one member of it is something else', () => {
    const odd = fc.constantFrom(null, 1e308, -1, 0.5, '', 'x', [], {}, true, [null], { toString: 1 }, [[[]]]);
    fc.assert(
      fc.property(
        fc.constantFrom(...stored),
        fc.array(fc.nat(20), { maxLength: 6 }),
        odd,
        fc.nat(),
        (l, path, to, n) => {
          const text = JSON.stringify(l.value);
          return (
            holds(l.bucket, l.key, text.slice(0, n % text.length)) &&
            holds(l.bucket, l.key, JSON.stringify(changed(l.value, path, to)))
          );
        },
      ),
      { numRuns: runs(400) },
    );
  });

  /** Members that are followed where they are there, each as something else; and the record of which they are. */
  const odd: [bucket: BucketName, member: string, values: unknown[]][] = [
    ['incidents', 'lacking', [7, 'ipmitool']],
    ['incidents', 'devices', [7]],
    ['incidents', 'devicesAfter', ['x', -1]],
    ['incidents', 'onBefore', [7, { n: 1 }]],
    [
      'incidents',
      'denied',
      [7, { bmc: 7 }, { bmc: { basis: 'x', at: 1 } }, { bmc: { basis: 'x', seen: { guid: 7 }, at: 1 } }],
    ],
    ['incidents', 'drill', [true, { at: 'x' }, { at: 1, result: 'ok' }]],
    ['incidents', 'silentBefore', ['host1', [7]]],
    ['incidents', 'collateral', [7, { at: 1 }, { at: 1, nodes: [7] }, { at: 1, nodes: {} }]],
    ['incidents', 'contradiction', [true, { at: 1, devices: 'x' }, { at: 1, devices: 'x', recovery: 7 }]],
    ['incidents', 'proof', [7, { kind: 'manual', at: 1, doubt: true }, { kind: 'manual', at: 1, doubt: { at: 'x' } }]],
    ['incidents', 'takenBack', [true, { by: 'eve' }]],
    ['incidents', 'wantedAt', [7]],
    ['incidents', 'orderedAt', ['x']],
    [
      'incidents',
      'verdict',
      [{ node: 'n', verdict: 'DOWN', epoch: 1, seq: 1, reason: '', evidence: { observers: 7 } }],
    ],
    ['nodes', 'powerIdentity', [7, { bmc: 7 }, { bmc: { result: 'mine', at: 1, basis: '' } }]],
    ['nodes', 'hardware', ['x', { at: 1, boardSerial: 7 }]],
    ['nodes', 'lifeSeen', [7, { d: { place: 'x', channels: 'ssh', at: 1 } }]],
    ['nodes', 'lifeSignWaived', [true]],
    ['nodes', 'provisioned', [{ checksum: 'c', at: 1, job: 'j', services: 'web' }]],
    ['jobs', 'results', [{ 'n-1': { ok: true, step: 'site', services: 'web' } }]],
    ['workers', 'failing', ['ipmitool', 7]],
    ['workers', 'reads', ['2']],
  ];

  it.each(odd)('of %s is not read where %s is something else, which programs follow', (bucket, member, values) => {
    const l = stored.find((x) => x.bucket === bucket) as Line;
    for (const value of values) {
      const decoded = decode(bucket, l.key, JSON.stringify({ ...(l.value as object), [member]: value }));
      expect([value, decoded]).toEqual([value, { why: expect.stringMatching(new RegExp(`^${member}\\b`)) as string }]);
    }
  });

  it.each([
    ['trips', [7, [7], [{ id: 's', cause: 'brake', at: 1 }], [{ id: 's', cause: 'brake', at: 1, members: { n: 7 } }]]],
    ['ages', [7, { 'permit=i': 'x' }, { 'permit=i': null }]],
    ['blindness', [true, { epoch: 1 }]],
  ])('of the permits is not read where %s is something else: every gate goes by it', (member, values) => {
    for (const value of values) {
      const decoded = decode('admission', PERMITS_KEY, JSON.stringify({ granted: [], [member]: value }));
      expect([value, decoded]).toEqual([value, { why: expect.stringMatching(new RegExp(`^${member}\\b`)) as string }]);
    }
  });

  it.each([
    ['numbers that are infinite', (t: string) => t.replace(/\d+/, '1e400')],
    ['a thousand levels', (t: string) => t.replace(/\{/, `{"deep":${'['.repeat(1000)}${']'.repeat(1000)},`)],
    ['200,000 levels', (t: string) => t.replace(/\{/, `{"deep":${'['.repeat(200_000)}${']'.repeat(200_000)},`)],
  ])('with %s is not read', (_what, spoil) => {
    const node = stored.find((l) => l.bucket === 'jobs') as Line;
    expect(decode('jobs', node.key, spoil(JSON.stringify(node.value)))).toHaveProperty('why');
  });

  it('of a megabyte is read like a small one', () => {
    const node = stored.find((l) => l.bucket === 'nodes') as Line;
    const value = { ...(node.value as object), vars: { big: 'x'.repeat(1_000_000) } };
    expect(decode('nodes', node.key, JSON.stringify(value))).toHaveProperty('value');
  });

  it('has names like toString in its maps where they were put there, and nowhere else', () => {
    const node = stored.find((l) => l.bucket === 'nodes') as Line;
    const text = JSON.stringify({ ...(node.value as object), vars: { plain: 1 } });
    const read = (t: string): Record<string, unknown> => {
      const decoded = decode('nodes', node.key, t);
      if ('why' in decoded) throw new Error(decoded.why);
      return (decoded.value as { vars: Record<string, unknown> }).vars;
    };
    for (const name of ['toString', 'constructor', '__proto__', 'valueOf', 'hasOwnProperty']) {
      expect(read(text)[name]).toBeUndefined();
      const vars = read(text.replace('"plain"', JSON.stringify(name)));
      expect(vars[name]).toBe(1);
      expect(JSON.stringify({ ...vars })).toBe(`{${JSON.stringify(name)}:1}`);
    }
  });
});

describe('what stands in for an incident that cannot be read', () => {
  it('is open, and is no record that could be stored and read', () => {
    const instead = standIn({ bucket: 'incidents', key: 'n', revision: 7, why: 'it is not JSON' });
    expect(instead).toMatchObject({ node: 'n', phase: 'suppressed', unreadable: 'it is not JSON' });
    expect(decode('incidents', 'n', JSON.stringify(instead))).toEqual({
      why: 'unreadable is no member of a stored incident',
    });
    expect(standIn({ bucket: 'nodes', key: 'n', revision: 7, why: 'it is not JSON' })).toBeUndefined();
  });
});
