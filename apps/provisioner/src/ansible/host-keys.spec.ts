import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { changedKey, fingerprint, isInFile, knownHostsText, learnedKeys, type HostKeys } from './host-keys.js';

let dir: string;
let key: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-keys-'));
  execaSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', join(dir, 'k')]);
  key = readFileSync(join(dir, 'k.pub'), 'utf8').trim();
});
afterAll(() => rmSync(dir, { recursive: true }));

const host = (alias: string, pinned: string[] = [], inFile = false): HostKeys => ({ alias, pinned, inFile });

describe('host keys', () => {
  it('are named as ssh-keygen does', () => {
    const { stdout } = execaSync('ssh-keygen', ['-l', '-f', join(dir, 'k.pub')]);
    expect(stdout.split(' ')[1]).toBe(fingerprint(key));
  });

  it('on record make the file of a run; what is no key cannot bring lines of its own into it', () => {
    const text = knownHostsText([host('n1', [key]), host('n2'), host('n3', [`${key}\n* ${key}`, 'ssh-rsa', ''])]);
    expect(text).toBe(`n1 ${key}\n`);
  });

  it('that ssh has added are those of hosts without any', () => {
    const hosts = new Map([
      ['n1', host('n1', [key])],
      ['address-0', host('job-1.10.0.0.1')],
      ['n3', host('n3', [], true)],
    ]);
    const text = `n1 ${key}\nn1 ssh-rsa ${'A'.repeat(40)}\njob-1.10.0.0.1 ${key}\nn3 ${key}\nother ${key}\nhalf`;
    expect(learnedKeys(text, hosts)).toEqual(new Map([['address-0', [key]]]));
  });

  it('are found in an operator’s file, by plain names and hashed ones', () => {
    const file = join(dir, 'known_hosts');
    writeFileSync(file, `# n9 in a comment\nn1,10.0.0.1 ${key}\nn2 ${key}\n`);
    const names = ['n1', '10.0.0.1', 'n2', 'n9', 'n'];
    const found = () => names.filter((name) => isInFile(readFileSync(file, 'utf8'), name));
    expect(found()).toEqual(['n1', '10.0.0.1', 'n2']);
    execaSync('ssh-keygen', ['-H', '-f', file]);
    expect(readFileSync(file, 'utf8')).not.toMatch(/^n/m);
    expect(found()).toEqual(['n1', '10.0.0.1', 'n2']);
  });

  it('that have changed are told with what was expected and what to do', () => {
    const said =
      'The fingerprint for the ED25519 key sent by the remote host is\nSHA256:abc+/9.\nHost key verification failed.';
    expect(changedKey('n1', said, host('n1', [key]))).toBe(
      `ssh host key of n1 has changed: expected ${fingerprint(key)}, it shows SHA256:abc+/9; if the node was reinstalled, forget the old key: muster node unset n1 ssh-host-keys`,
    );
    expect(changedKey('n1', said, host('n1', [], true), '/etc/kh')).toContain('is not the one that /etc/kh has for n1');
    expect(changedKey('n1', 'Connection refused', host('n1', [key]))).toBeUndefined();
  });
});
