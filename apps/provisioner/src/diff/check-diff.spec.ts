import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { CheckDiff, Finding, PartDiff } from '#contracts';
import { masker } from './masking.js';
import { boundedDiff } from './bounded-diff.js';
import { checkDiff, type CheckDiffInput } from './check-diff.js';
import type { NodeParts, PartText, ServiceParts } from './node-parts.js';

const SECRET = 'hunter2-of-today';
const OLD = 'letmein-of-last-year';

const text = (of: string): PartText => ({
  size: Buffer.byteLength(of),
  sha256: createHash('sha256').update(of).digest('hex'),
  text: of,
});
const binary = (of: string): PartText => ({ size: text(of).size, sha256: text(of).sha256 });
const parts = (o: Partial<ServiceParts> = {}): ServiceParts => ({
  ...{ settings: { version: '3', group: 'service-worker', mode: 'server' } },
  ...{ variables: {}, templates: {}, files: {}, secrets: [] },
  ...o,
});
const ok: Finding = { service: 'web', result: 'ok', why: '' };

function diff(
  last: ServiceParts | undefined,
  now: ServiceParts | undefined,
  o: Partial<Omit<CheckDiffInput, 'parts'>> & { standing?: NodeParts['standing'] } = {},
): CheckDiff {
  const by = (p?: ServiceParts) => new Map(p === undefined ? [] : [['web', p]]);
  const { standing = [], ...rest } = o;
  return checkDiff({
    ...{ findings: [ok], isAsRecorded: false, secrets: [], mask: (of: string) => of, ...rest },
    parts: { now: by(now), last: by(last), unreadable: new Map(), standing },
  });
}
const partsOf = (d: CheckDiff): PartDiff[] => d.services.flatMap((s) => s.parts);
const linesOf = (d: CheckDiff): string[] => partsOf(d).flatMap((p) => p.lines);
const templates = (last: string, now: string, o: Partial<ServiceParts> = {}): CheckDiff =>
  diff(parts({ templates: { 'web.conf.j2': text(last) } }), parts({ templates: { 'web.conf.j2': text(now) }, ...o }));
const stands = (there: string | undefined, wanted: string) => [
  { service: 'web', path: '/etc/web.conf', wanted: text(wanted), ...(there !== undefined && { stands: text(there) }) },
];

describe('what differs on a node', () => {
  it('is nothing where all is as it was set up last', () => {
    const p = parts({ variables: { a: { b: [1] } }, templates: { t: text('x\n') } });
    expect(diff(p, structuredClone(p))).toEqual({ services: [{ service: 'web', parts: [] }] });
  });

  it('is told by part: version, group, mode, a variable, a template, a file, and what stands there', () => {
    const last = parts({
      settings: { version: '3', group: 'service-worker', mode: 'server' },
      variables: { web_port: 80, web_hosts: ['a', 'b'], web_old: true },
      templates: { 'web.conf.j2': text('listen 80\nhost a\n') },
      files: { 'logo.png': binary('one'), 'index.html': text('hello\n') },
    });
    const now = parts({
      settings: { version: '4', group: 'service-worker', mode: 'proxy' },
      variables: { web_port: 8080, web_hosts: ['a', 'c'] },
      templates: { 'web.conf.j2': text('listen 8080\nhost a\n') },
      files: { 'logo.png': binary('three'), 'index.html': text('hello') },
    });
    const sums = [binary('one').sha256, binary('three').sha256];
    expect(partsOf(diff(last, now, { standing: stands('listen 81\nhost a\n', 'listen 8080\nhost a\n') }))).toEqual([
      { kind: 'setting', name: 'mode', lines: ['-server', '+proxy'] },
      { kind: 'setting', name: 'version', lines: ['-3', '+4'] },
      { kind: 'variable', name: 'web_hosts', lines: ['@@ -1,4 +1,4 @@', ' [', '   "a",', '-  "b"', '+  "c"', ' ]'] },
      { kind: 'variable', name: 'web_old', lines: ['-true'] },
      { kind: 'variable', name: 'web_port', lines: ['-80', '+8080'] },
      { kind: 'template', name: 'web.conf.j2', lines: ['@@ -1,2 +1,2 @@', '-listen 80', '+listen 8080', ' host a'] },
      { kind: 'file', name: 'index.html', lines: ['@@ -1 +1,2 @@', ' hello', '+\\ no newline at end'] },
      {
        ...{ kind: 'file', name: 'logo.png', note: 'too large to be shown line by line, or no text' },
        lines: [`-sha256 ${sums[0]}, 3 bytes`, `+sha256 ${sums[1]}, 5 bytes`],
      },
      { kind: 'standing', name: '/etc/web.conf', lines: ['@@ -1,2 +1,2 @@', '-listen 81', '+listen 8080', ' host a'] },
    ]);
  });

  it('names a file that is missing there, and writes out what would steer a terminal', () => {
    expect(partsOf(diff(parts(), parts(), { standing: stands(undefined, 'a\u001b[2Jb\r\n\tc\n') }))).toEqual([
      {
        ...{ kind: 'standing', name: '/etc/web.conf', note: 'missing' },
        lines: ['@@ -0,0 +1,2 @@', '+a\\u001b[2Jb\\u000d', '+\tc'],
      },
    ]);
  });

  it('is not guessed where nobody knows what was set up last, but where the checksum on record is the same', () => {
    const standing = stands('a\n', 'b\n');
    expect(diff(undefined, parts(), { standing }).services).toEqual([
      {
        service: 'web',
        unknown: 'what was set up last is not known: nothing of it is kept on the node',
        parts: [{ kind: 'standing', name: '/etc/web.conf', lines: ['@@ -1 +1 @@', '-a', '+b'] }],
      },
    ]);
    expect(diff(undefined, parts(), { isAsRecorded: true }).services).toEqual([{ service: 'web', parts: [] }]);
    const unknown: Finding = { service: 'web', result: 'unknown', why: 'no such tool' };
    const why = (findings: Finding[]) => diff(parts(), undefined, { findings }).services[0]?.unknown;
    expect(why([unknown])).toBe('what would be set up is not known: its check failed');
    expect(why([ok])).toMatch(/the playbooks did not tell it/);
  });

  it('names a service that was set up there, and would not be now', () => {
    expect(diff(parts(), undefined, { findings: [] }).services).toEqual([
      { service: 'web', parts: [{ kind: 'setting', name: 'service', lines: ['-set up', '+no part of this node'] }] },
    ]);
  });
});

describe('a secret in what differs', () => {
  const variable = (value: unknown): ServiceParts => parts({ variables: { db_password: value } });
  const all = (d: CheckDiff): string => JSON.stringify(d);
  const forms = (secret: string): string[] => [
    secret,
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}`).toString('base64').slice(4, -4)),
    encodeURIComponent(secret),
  ];
  const expectHidden = (d: CheckDiff, ...secrets: string[]): void => {
    for (const secret of secrets) for (const form of forms(secret)) expect(all(d)).not.toContain(form);
  };

  it('is masked by the name of its variable, and that it is another is told all the same', () => {
    const d = diff(variable(OLD), variable(SECRET));
    expect(partsOf(d)).toEqual([
      { kind: 'variable', name: 'db_password', lines: ['-***', '+***'], note: 'differs in what is hidden' },
    ]);
    const nested = diff(
      parts({ variables: { db: { user: 'a', password: OLD } } }),
      parts({ variables: { db: { user: 'b', password: SECRET } } }),
    );
    expectHidden(nested, OLD, SECRET);
    expect(linesOf(nested)).toContain('+  "user": "b",');
  });

  it('is masked however short it is, where its name says so', () => {
    expect(linesOf(diff(variable('abc'), variable({ of: ['x1'] })))).toEqual(['-***', '+***']);
  });

  it('is masked where another variable holds it', () => {
    const d = diff(
      parts({ variables: { db_password: OLD, db_line: `user:${OLD}` } }),
      parts({ variables: { db_password: SECRET, db_line: `user:${SECRET}` } }),
    );
    expectHidden(d, OLD, SECRET);
    expect(linesOf(d)).toContain('+user:********');
  });

  it('is masked in a template, the old one as well as the new one, as it is and in base64', () => {
    const rendered = (secret: string): string =>
      `listen 80\nrequirepass ${secret}\nbasic ${Buffer.from(`user:${secret}`).toString('base64')}\n`;
    const d = diff(
      parts({ templates: { t: text(rendered(OLD)) }, secrets: [OLD] }),
      parts({ templates: { t: text(rendered(SECRET)) }, secrets: [SECRET] }),
    );
    expectHidden(d, OLD, SECRET);
    expect(partsOf(d)[0]).toMatchObject({
      lines: [
        '@@ -1,3 +1,3 @@',
        ' listen 80',
        expect.any(String),
        expect.any(String),
        expect.any(String),
        expect.any(String),
      ],
    });
  });

  it('that the run knows of is masked, whoever else knows it', () => {
    const last = parts({ templates: { t: text(`greet ${OLD}\n`) } });
    const now = parts({ templates: { t: text('x\n') } });
    expectHidden(diff(last, now, { secrets: [OLD] }), OLD);
    expectHidden(diff(last, now, { mask: masker([OLD]) }), OLD);
  });

  it.each([
    ['a line that says so', `db_password = ${SECRET}\n`],
    ['the password of a URL', `url postgres://u:${SECRET}@db/x\n`],
    ['the passwords of two URLs', `url postgres://u:other@db/x\nurl postgres://u:${SECRET}@db/y\n`],
    ['a name, and its value on the next line', `password:\n  ${SECRET}\n`],
    ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\nshort\n-----END RSA PRIVATE KEY-----\n`],
  ])('that nobody has named is hidden with its line: %s', (_, line) => {
    expectHidden(templates('a\n', `a\n${line}b\n`), SECRET);
    expect(linesOf(templates('a\n', `a\n${line}b\n`))).toContain('+b');
    expectHidden(templates(`a\n${line}b\n`, 'a\n'), SECRET);
    expectHidden(templates(`${line}b\n`, `${line}c\n`), SECRET);
    expectHidden(diff(parts(), parts(), { standing: stands(`a\n${line}`, 'a\n') }), SECRET);
  });

  it('of several lines is hidden line by line, however short they are and however they are indented', () => {
    const key = 'abc\nde-fgh\nijk';
    const d = templates('a\n', 'a\n  abc\n  de-fgh\n  ijk', { secrets: [key] });
    expect(linesOf(d)).toEqual(['@@ -1 +1,5 @@', ' a', '+***', '+***', '+***', '+\\ no newline at end']);
  });

  it('that somebody wrote there by hand is not shown: of a file that holds one, only lines that were rendered are', () => {
    const wanted = `listen 80\nrequirepass ${SECRET}\nend\n`;
    const there = 'listen 80\ngreet written-by-hand\nend\nold line\n';
    const last = parts({ templates: { t: text(`old line\n`) }, secrets: [SECRET] });
    const d = diff(last, parts({ templates: last.templates, secrets: [SECRET] }), { standing: stands(there, wanted) });
    expect(linesOf(d)).toEqual([...['@@ -1,4 +1,3 @@', ' listen 80', '-***', '+***', ' end', '-old line']]);
    expectHidden(d, SECRET, 'written-by-hand');
  });

  it('in a file whose name is that of one is not shown at all, nor a hash that it could be guessed by', () => {
    const files = (of: string): ServiceParts => parts({ files: { 'tls/server.key': text(of) } });
    const d = diff(files('one\n'), files('other\n'));
    expect(partsOf(d)).toEqual([
      { kind: 'file', name: 'tls/server.key', lines: ['-***', '+***'], note: 'hidden for its name' },
    ]);
    const large = (of: string): ServiceParts => parts({ files: { 'store.token': binary(of) } });
    expect(all(diff(large('1'), large('2')))).not.toMatch(/[0-9a-f]{64}/);
  });

  it('that is all that differs is told as such', () => {
    const d = diff(
      parts({ templates: { t: text(`requirepass ${OLD}\n`) }, secrets: [OLD] }),
      parts({ templates: { t: text(`requirepass ${SECRET}\n`) }, secrets: [SECRET] }),
    );
    expect(partsOf(d)).toEqual([
      {
        ...{ kind: 'template', name: 't', note: 'differs in what is hidden' },
        lines: ['@@ -1 +1 @@', '-***', '+***'],
      },
    ]);
  });
});

describe('a diff in the record of a job', () => {
  const long = (lines: number, of = 'x'): PartDiff => ({
    ...{ kind: 'file', name: 'f' },
    lines: Array.from({ length: lines }, () => `+${of}`),
  });

  it('is whole where it is small', () => {
    const small: CheckDiff = { services: [{ service: 'web', unknown: 'why', parts: [long(3)] }] };
    expect(boundedDiff(small, 1)).toEqual(small);
  });

  it('is cut by line, part, node and job, and says how much', () => {
    expect(boundedDiff({ services: [{ service: 'web', parts: [long(301)] }] }, 1)).toMatchObject({
      services: [{ parts: [{ cut: 1 }] }],
      cut: 1,
    });
    const line = boundedDiff({ services: [{ service: 'web', parts: [long(1, 'x'.repeat(9_000))] }] }, 1);
    expect(linesOf(line)[0]).toHaveLength(501);
    const large: CheckDiff = {
      services: Array.from({ length: 20 }, (_, i) => ({ service: `s${i}`, parts: [long(290, 'x'.repeat(400))] })),
    };
    for (const [nodes, most] of [
      [1, 65_536],
      [1_000, 1_048],
    ] as const) {
      const bounded = boundedDiff(large, nodes);
      expect(JSON.stringify(linesOf(bounded)).length).toBeLessThan(most * 1.1);
      expect(bounded.cut).toBeGreaterThan(5_000);
      expect(bounded.services).toHaveLength(20);
    }
  });
});
