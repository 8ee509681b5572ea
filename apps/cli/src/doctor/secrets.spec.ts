import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentKeyView, AgentToken, TokenRecord } from '#contracts';
import { fileFindings, type FileFacts } from './files.js';
import type { Finding } from './finding.js';
import { localFacts } from './local-files.js';
import { tokenFindings } from './tokens.js';

const DAY = 86_400_000;
const now = 1000 * DAY;
const states = (findings: Finding[], check: string): string[] =>
  findings.filter((f) => f.check === check).map((f) => f.state);

describe('the doctor on tokens and keys', () => {
  const token = (o: Partial<TokenRecord> = {}) => ({ id: 't', name: 'ci', role: 'operator' as const, by: 'ann', createdAt: 0, ...o }); // prettier-ignore
  const enrol = (o: Partial<AgentToken> = {}): AgentToken => ({ id: 'e', by: 'ann', createdAt: 0, expiresAt: now + 3_600_000, uses: 1, usedBy: [], ...o }); // prettier-ignore
  const key = (o: Partial<AgentKeyView> = {}): AgentKeyView => ({ phase: 'idle' as never, keys: ['k'], changedAt: now - DAY, nodes: 1, waitsFor: [], ...o }); // prettier-ignore
  const sut = (tokens: ReturnType<typeof token>[], enrols: AgentToken[], k: AgentKeyView): Finding[] =>
    tokenFindings({ value: tokens }, { value: enrols }, { value: k }, now);

  it('is content with tokens that last, enrolment that ends soon, and a key of this year', () =>
    expect(sut([token({ expiresAt: now + 90 * DAY }), token()], [enrol()], key()).map((f) => f.state)).toEqual([
      'ok',
      'ok',
      'ok',
    ]));
  it('warns of a token that ends, or has ended', () =>
    expect(
      states(sut([token({ expiresAt: now + DAY }), token({ expiresAt: now - 1 })], [], key()), 'token.api'),
    ).toEqual(['warn', 'warn']));
  it('warns of an agent token that lets nodes in for long, not of one that is used up', () => {
    const expiresAt = now + 2 * DAY;
    expect(states(sut([], [enrol({ expiresAt })], key()), 'token.agent')).toEqual(['warn']);
    expect(states(sut([], [enrol({ expiresAt, usedBy: ['a'] })], key()), 'token.agent')).toEqual(['ok']);
  });
  it('finds agents without the keys, and warns of a key that is old', () => {
    const of = (o: Partial<AgentKeyView>): string[] => states(sut([], [], key(o)), 'key.datagram');
    expect(of({ waitsFor: [{ name: 'a', heard: true }] })).toEqual(['bad']);
    expect(of({ changedAt: now - 366 * DAY })).toEqual(['warn']);
    expect(of({ phase: 'file' })).toEqual(['ok']);
  });
  it('says unknown to who may not ask', () => {
    const no = { failed: 'not asked: this needs role admin' };
    expect(tokenFindings(no, no, no, now).map((f) => f.state)).toEqual(['unknown', 'unknown', 'unknown']);
  });
});

describe('the doctor on files', () => {
  const file = (o: Partial<FileFacts> = {}): FileFacts => ({
    path: '/etc/muster/keys/secrets.key',
    what: 'the key',
    needed: true,
    found: { mode: 0o100600, uid: 1, isFolder: false, isEmpty: false },
    ...o,
  });
  const found = (mode: number, o: { isFolder?: boolean; isEmpty?: boolean } = {}): string => {
    const facts = file({ found: { mode, uid: 1, isFolder: false, isEmpty: false, ...o } });
    const [f] = fileFindings({ dir: '/etc/muster', files: [facts] }, now);
    return `${f?.state} ${f?.remedy ?? ''}`.trim();
  };

  it('finds what others may read or write, with the command that ends it', () => {
    expect(found(0o100600)).toBe('ok');
    expect(found(0o100640)).toBe('bad chmod 600 /etc/muster/keys/secrets.key');
    expect(found(0o100602)).toBe('bad chmod 600 /etc/muster/keys/secrets.key');
    expect(found(0o040755, { isFolder: true })).toBe('bad chmod 700 /etc/muster/keys/secrets.key');
    expect(found(0o100600, { isEmpty: true })).toBe('bad restore it from a backup');
  });

  it('finds what is missing, and does not guess what it may not see', () => {
    const { found: _gone, ...gone } = file();
    const of = (f: FileFacts): string | undefined => fileFindings({ dir: '/', files: [f] }, now)[0]?.state;
    expect([of(gone), of({ ...gone, needed: false }), of(file({ found: 'denied' }))]).toEqual([
      'bad',
      'skipped',
      'unknown',
    ]);
  });

  it('warns of files of several users', () => {
    const other = file({ found: { mode: 0o100600, uid: 0, isFolder: false, isEmpty: false } });
    expect(states(fileFindings({ dir: '/', files: [file(), other] }, now), 'file.owner')).toEqual(['warn']);
  });

  it('says that it skips them where there is no installation', () =>
    expect(fileFindings(localFacts('/nowhere', {}), now).map((f) => f.state)).toEqual(['skipped']));

  describe('of a real folder', () => {
    let dir: string;
    beforeEach(() => {
      dir = mkdtempSync(join(tmpdir(), 'muster-doctor-'));
      for (const folder of ['keys', 'creds', 'ssh']) mkdirSync(join(dir, folder));
      const text = 'cluster: muster\nansible:\n  privateKey: "ssh/id" # ours\nkeys:\n  secrets: keys/other.key\n';
      writeFileSync(join(dir, 'muster.yaml'), text, { mode: 0o600 });
      for (const f of ['keys/datagram.key', 'keys/other.key', 'keys/agents.key', 'ssh/id'])
        writeFileSync(join(dir, f), 'x', { mode: 0o600 });
    });
    afterEach(() => rmSync(dir, { recursive: true, force: true }));

    it('looks at those that muster.yaml names, and at those of muster init', () => {
      chmodSync(join(dir, 'ssh/id'), 0o644);
      const of = (path: string): string | undefined =>
        fileFindings(localFacts(undefined, { MUSTER_CONFIG: join(dir, 'muster.yaml') }), now).find(
          (f) => f.subject === join(dir, path),
        )?.state;
      expect(of('keys/other.key')).toBe('ok');
      expect(of('keys/secrets.key')).toBeUndefined();
      expect(of('ssh/id')).toBe('bad');
      expect(of('keys/revoker.key')).toBe('bad');
      expect(of('keys/operator.key')).toBe('skipped');
    });
  });
});
