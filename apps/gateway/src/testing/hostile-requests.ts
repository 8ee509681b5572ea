import fc from 'fast-check';
import { spoiled, type ApiPaths } from './spoiled-bodies.js';

/** A request as it goes out. */
export interface HostileRequest {
  /** As in the reference: `POST /v1/nodes/{name}/cordon`. */
  route: string;
  method: string;
  /** With what stands in for its names, and a query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

const NAMES = [
  ...Array.from({ length: 30 }, () => 'rack1-a1'),
  ...['10.0.0.11', 'active', 'last', 'db', 'bmc', 'bucket-anew=jobs'],
  ...['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf', 'prototype', 'then', 'length'],
  ...['%ff', '%', '%00', '%0d%0a', '%2e%2e%2f', '..', '.', '-', '*', '%3E', 'a.b.c', 'a%20b', '%F0%9F%99%82', '{{x}}'],
  ...[
    'x'.repeat(255),
    'x'.repeat(300),
    'x'.repeat(5_000),
    '%25'.repeat(200),
    '1e400',
    '-1',
    'null',
    'undefined',
    '%7B%7D',
  ],
];
const QUERY_NAMES = [
  ...['limit', 'cursor', 'fields', 'names', 'selector', 'status', 'inService', 'at', 'since', 'kind', 'node', 'from'],
  ...['follow', 'all', 'format', 'nodes', 'toString', '__proto__', 'constructor', 'x'],
];
const QUERY_VALUES = [
  ...['', '1', '0', '-1', '1e400', 'NaN', 'true', 'false', 'x', 'null', '%ff', '%', 'yaml', 'csv', 'UP', 'a,b', 'name'],
  ...['vars.a=1', 'vars.toString=1', 'toString', '=,=', '(((((', 'name!=x', '9999999999999999', '2026-01-01', '0x10'],
  ...['{"after":"a","columns":["toString"]}', '{"after":1}', '[]', 'x'.repeat(2_000), ','.repeat(2_000)],
];
const HEADERS: Record<string, string>[] = [
  {},
  {},
  {},
  { 'if-match': '"1"' },
  { 'if-match': '*' },
  { 'if-match': 'x'.repeat(1_000) },
  { 'idempotency-key': 'k' },
  { 'idempotency-key': ' ' },
  { 'idempotency-key': 'x'.repeat(1_000) },
  { 'last-event-id': '-1' },
  { authorization: 'Bearer x' },
  { authorization: 'Basic eDp5' },
  { 'x-muster-user': "'; rm" },
  { 'x-forwarded-for': '::1, x' },
  { 'content-type': 'text/plain' },
  { accept: 'application/xml' },
];

const query = fc
  .array(fc.tuple(fc.constantFrom(...QUERY_NAMES), fc.constantFrom(...QUERY_VALUES)), { maxLength: 3 })
  .map((pairs) =>
    pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${encodeURI(value)}`).join('&')}`,
  );

/** Of every route of the reference, and every verb that it has. */
export function hostileRequests(paths: ApiPaths): fc.Arbitrary<HostileRequest>[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([verb, operation]) => {
      const content = Object.values(operation.requestBody?.content ?? {})[0];
      const method = verb.toUpperCase();
      const body =
        content === undefined ? fc.option(fc.json(), { nil: undefined }) : bodyOf(path, content.example ?? {});
      return fc
        .record({ name: fc.constantFrom(...NAMES), query, headers: fc.constantFrom(...HEADERS), body })
        .map((r) => ({
          route: `${method} ${path}`,
          method,
          path: path.replace(/\{\w+\}/g, r.name) + r.query,
          headers: { 'content-type': 'application/json', ...r.headers },
          // A GET of the old surface may have one too.
          ...(r.body !== undefined && { body: r.body }),
        }));
    }),
  );
}

const bodyOf = (path: string, example: unknown): fc.Arbitrary<string> =>
  path.endsWith('/nodes/import') ? fc.oneof(spoiled(example), imports) : spoiled(example);

const lines = fc.nat({ max: 3_000 });
const yaml = fc.oneof(
  lines.map(
    (n) => `nodes:\n${Array.from({ length: n }, (_, i) => `- {label: r, serial: s${i}, networks: {}}\n`).join('')}`,
  ),
  lines.map((n) => `nodes: [{vars: {${Array.from({ length: 20 * n }, (_, i) => `k${i}: ${i}`).join(', ')}}}]`),
  lines.map((n) => `nodes: ${'['.repeat(n)}${']'.repeat(n)}`),
  lines.map((n) => `a: &a [x]\nnodes: [${'*a,'.repeat(10 * n)}]`),
  fc.constant(
    `a: &a [x,x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((c, i) => `${c}: &${c} [${`*${'abcdefg'[i]},`.repeat(10)}]\n`)
      .join('')}nodes: *h`,
  ),
  lines.map((n) => `? ${'? '.repeat(n)}x`),
  lines.map((n) => `nodes: "${'\\x41'.repeat(10 * n)}`),
  lines.map((n) => `nodes: !!binary ${'A'.repeat(100 * n)}`),
  lines.map((n) => `${'- '.repeat(n)}x`),
  lines.map((n) => `nodes:\n${'  '.repeat(n)}x: 1`),
  lines.map((n) => `${'x: |\n  y\n'.repeat(n)}`),
  fc.string({ unit: 'binary', maxLength: 500 }),
);
const csv = fc.oneof(
  lines.map((n) => `name,${'var:a,'.repeat(20 * n)}\n`),
  lines.map((n) => `${Array.from({ length: 20 * n }, (_, i) => `var:v${i}`).join(',')}\n1`),
  lines.map(
    (n) => `label,serial,management\n${Array.from({ length: n }, (_, i) => `r,s${i},10.1.0.${i % 250}\n`).join('')}`,
  ),
  lines.map((n) => `name\n${'"'.repeat(100 * n)}`),
  lines.map((n) => `label,serial,power.options\n${`a,b,"{""x"":""${'y'.repeat(n)}""}"\n`.repeat(20)}`),
  lines.map((n) => `name\n${'\n\r'.repeat(50 * n)}`),
  fc.constantFrom(
    'var:toString,name\n1,a',
    'network:toString,label,serial\nx,a,b',
    'var:__proto__\n1',
    'power.9.9.id\nx',
  ),
  fc.string({ unit: 'binary', maxLength: 500 }),
);
/** Files that have cost somebody's parser minutes. */
const imports = fc
  .oneof(
    fc.record({ format: fc.constant('yaml'), content: yaml, dryRun: fc.boolean() }),
    fc.record({ format: fc.constant('csv'), content: csv, dryRun: fc.boolean() }),
    fc.record({ format: fc.constant('csv'), content: yaml }),
  )
  .map((file) => JSON.stringify(file));
