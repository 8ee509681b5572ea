import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { defaultHostGroups } from '#contracts';
import { AnsibleConfig } from '#service';
import { stepFiles } from '../jobs/job-plan.js';
import { testPlaybooks, type TestPlaybooks } from '../testing/playbooks.js';
import { job, node } from '../testing/records.js';
import { sshKey, startSshd, type TestSshd } from '../testing/sshd.js';
import { runAnsible, type AnsibleOutcome } from './ansible-run.js';
import { fingerprint, isInFile } from './host-keys.js';

let dir: string;
let sshd: TestSshd;
let playbooks: TestPlaybooks;
let other: { ed25519: string; rsa: string };
let outcome: AnsibleOutcome;
let knownHosts: string;
/** One each: to the same address ssh would go by the connection of whoever came first, and look at no key. */
const addresses = Array.from({ length: 7 }, (_, i) => `127.0.0.${i + 1}`);

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'muster-sshd-'));
  sshd = await startSshd(dir, addresses);
  playbooks = await testPlaybooks();
  await playbooks.set('cleanup', ['raw: "true"']);
  other = { ed25519: sshKey(join(dir, 'e')), rsa: sshKey(join(dir, 'r'), 'rsa') };
  knownHosts = join(dir, 'known_hosts');
  writeFileSync(knownHosts, `In-File-SN1 ${sshd.hostKey}\nin-file-changed ${other.ed25519}\n`);
  outcome = await run({
    'new-SN1': undefined,
    'pinned-SN1': [sshd.hostKey],
    changed: [other.ed25519],
    'other-kind': [other.rsa],
    damaged: ['no key at all'],
    'In-File-SN1': undefined,
    'in-file-changed': undefined,
  });
});
afterAll(async () => {
  await sshd?.stop();
  await playbooks?.remove();
  rmSync(dir, { recursive: true, force: true });
});

/** All of these nodes are the one sshd; what is on record of them differs. */
async function run(pins: Record<string, string[] | undefined>): Promise<AnsibleOutcome> {
  const config = Object.assign(new AnsibleConfig(), {
    playbooks: playbooks.dir,
    privateKey: sshd.privateKey,
    user: userInfo().username,
    knownHosts,
  });
  const names = Object.keys(pins);
  const nodes = names.map((name, i) =>
    node(name, {
      networks: { management: { address: addresses[i] as string } },
      vars: { ansible_port: sshd.port, ansible_become: false },
      ...(pins[name] && { sshHostKeys: pins[name] }),
    }),
  );
  const inFile = (alias: string): boolean => isInFile(readFileSync(knownHosts, 'utf8'), alias);
  const settings = { hostGroups: defaultHostGroups, globals: {}, ansible: {} };
  const files = stepFiles(
    { job: job('j1', { nodes: names }), nodes, settings, ansible: config, inFile },
    { step: 'cleanup', nodes: names, run: 'r1' },
  );
  return runAnsible({
    clock: systemClock,
    step: 'cleanup',
    config,
    nodes: names,
    inventory: files.inventory,
    extraVars: files.extraVars,
    hostKeys: files.hostKeys,
    leaseUntil: () => process.hrtime.bigint() + 60_000_000_000n,
    limitMs: 60_000,
    onLine: () => undefined,
    signal: new AbortController().signal,
  });
}

describe('contact by ssh', () => {
  it('takes the key of a node that has none on record, and tells it', () => {
    expect(outcome.results['new-SN1']).toMatchObject({ ok: true });
    expect(outcome.learned).toEqual(new Map([['new-SN1', [sshd.hostKey]]]));
  });

  it('is had with a node that shows the key on record, or in the operator’s file', () => {
    expect(outcome.results['pinned-SN1']).toMatchObject({ ok: true });
    expect(outcome.results['In-File-SN1']).toMatchObject({ ok: true });
    expect(readFileSync(knownHosts, 'utf8').split('\n')).toHaveLength(3);
  });

  it('is refused to one that shows another key, also of a kind that was never pinned, and says what to do', () => {
    const expected = (name: string, key: string) => `ssh host key of ${name} has changed: expected ${fingerprint(key)}`;
    expect(outcome.results['changed']).toMatchObject({
      ok: false,
      message: `${expected('changed', other.ed25519)}, it shows ${fingerprint(sshd.hostKey)}; if the node was reinstalled, forget the old key: muster node unset changed ssh-host-keys`,
    });
    expect(outcome.results['other-kind']?.message).toContain(expected('other-kind', other.rsa));
    // Unreadable is not unknown: it would take any key.
    expect(outcome.results['damaged']?.message).toContain('expected what is on record, which is no key');
    expect(outcome.results['in-file-changed']?.message).toContain(
      `is not the one that ${knownHosts} has for in-file-changed`,
    );
  });
});
