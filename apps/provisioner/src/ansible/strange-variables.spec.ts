import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '#bus';
import { defaultHostGroups, MusterError, type JobRecord, type NodeRecord } from '#contracts';
import { AnsibleConfig } from '#service';
import { stepFiles } from '../jobs/job-plan.js';
import { program, testPlaybooks, type TestPlaybooks } from '../testing/playbooks.js';
import { job, node } from '../testing/records.js';
import { runAnsible } from './ansible-run.js';

/** What the operator may send is a shell on the control machine if Ansible ever takes it for a template or a program. */
describe('variables of people who are no administrators, given to a real Ansible', () => {
  let dir: string;
  let playbooks: TestPlaybooks;
  let mark: string;
  let evil: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-strange-'));
    mark = join(dir, 'ran');
    evil = join(dir, 'python3');
    await program(evil, `#!/bin/sh\ntouch ${mark}\nexec /usr/bin/python3 "$@"\n`);
    playbooks = await testPlaybooks();
    // As content of one's own may be: it goes through members, puts texts together, and asks the control machine.
    await playbooks.set('site', [
      'copy: {content: "{{ item.key }}={{ item.value }}", dest: "{{ out }}"}\n      loop: "{{ settings_of_app | dict2items }}"',
      'set_fact: {joined: "{{ first }}{{ second }}", told: "{{ settings_of_app | to_json }}"}',
      'debug: {msg: "{{ joined }} {{ told }}"}',
      'debug: {msg: "{{ item.key }}"}\n      loop: "{{ muster_recover[0].spec | dict2items }}"',
      'command: echo asked\n      delegate_to: localhost',
    ]);
  });
  beforeEach(() => rm(mark, { force: true }));
  afterAll(async () => {
    await playbooks.remove();
    await rm(dir, { recursive: true });
  });

  const shell = (): string => `{{ lookup('pipe', 'touch ${mark}') }}`;
  const harmless = { settings_of_app: { level: 'info' }, first: 'a', second: 'b' };

  /** @returns what became of it: `ok`, what failed, or the code of the refusal before anything was run */
  async function run(o: {
    request?: Record<string, unknown>;
    node?: Partial<NodeRecord>;
    recover?: NonNullable<JobRecord['recover']>;
  }): Promise<string> {
    const ansible = new AnsibleConfig();
    ansible.playbooks = playbooks.dir;
    ansible.extraVars = { ansible_connection: 'local', out: join(dir, 'out') };
    const variables = { ...harmless, ...o.request };
    try {
      const files = stepFiles(
        {
          job: job('j1', { extraVars: variables }),
          nodes: [node('n1', { networks: { management: { address: '127.0.0.1' } }, ...o.node })],
          settings: { hostGroups: defaultHostGroups, globals: {}, ansible: {} },
          ansible,
        },
        { step: 'site', nodes: ['n1'], run: 'r1', ...(o.recover && { recover: o.recover }) },
      );
      const { results } = await runAnsible({
        clock: systemClock,
        step: 'site',
        config: ansible,
        nodes: [...files.hosts.values()],
        inventory: files.inventory,
        extraVars: files.extraVars,
        hostKeys: files.hostKeys,
        leaseUntil: () => process.hrtime.bigint() + 120_000_000_000n,
        limitMs: 120_000,
        onLine: () => undefined,
        signal: new AbortController().signal,
      });
      const [result] = Object.values(results);
      return result?.ok === true ? 'ok' : (result?.message ?? 'no result');
    } catch (error) {
      return MusterError.from(error).code;
    }
  }

  it.each<[string, () => Parameters<typeof run>[0]]>([
    ['a template in the name of a member', () => ({ request: { settings_of_app: { [shell()]: 'x' } } })],
    ['one that is deep inside', () => ({ request: { settings_of_app: { a: [{ [shell()]: 1 }] } } })],
    ['one of the node’s own variables', () => ({ node: { vars: { x: { [shell()]: 1 } } } })],
    ['an interpreter', () => ({ request: { ansible_python_interpreter: evil } })],
    ['a way to become another', () => ({ request: { ansible_become_method: 'ksu' } })],
    ['an interpreter of a node', () => ({ node: { vars: { ansible_python_interpreter: evil } } })],
  ])('%s is refused', async (_name, input) => {
    expect([await run(input()), existsSync(mark)]).toEqual(['BAD_REQUEST', false]);
  });

  it('templates as values, in two halves, and in the spec of a workload that was stored long ago run nothing here', async () => {
    const request = { settings_of_app: { x: shell() }, first: '{', second: shell().slice(1) };
    const recover = [{ workload: 'db', generation: 1, driver: 'ansible' as const, spec: { [shell()]: 'x' } }];
    expect([await run({ request, recover }), existsSync(mark)]).toEqual(['ok', false]);
  });

  it('how a host is reached may be said for all hosts of a run, and holds for none that the content asks besides', async () => {
    await playbooks.set('site', [
      `copy: {content: "{{ ansible_user }} {{ hostvars['localhost'].ansible_user | default('none') }}", dest: "{{ out }}"}`,
    ]);
    expect(await run({ request: { ansible_user: 'root', ansible_become: false } })).toBe('ok');
    expect(await readFile(join(dir, 'out'), 'utf8')).toBe('root none');
  });

  it('the names that content written for contiv’s cluster manager has for a host are the host’s, whoever sends others', async () => {
    await playbooks.set('site', ['copy: {content: "{{ node_name }} {{ node_addr }}", dest: "{{ out }}"}']);
    expect(await run({ node: { vars: { node_name: 'other', node_addr: '10.9.9.9' } } })).toBe('ok');
    expect(await readFile(join(dir, 'out'), 'utf8')).toBe('n1 127.0.0.1');
  });

  it('and so it may be for an address that is discovered', () => {
    const files = stepFiles(
      {
        job: job('j1', { kind: 'discover', nodes: ['10.0.0.9'], extraVars: { ansible_user: 'ops', x: 1 } }),
        nodes: [],
        settings: { hostGroups: [], globals: {}, ansible: {} },
        ansible: new AnsibleConfig(),
      },
      { step: 'discover', nodes: ['10.0.0.9'], run: 'r1' },
    );
    expect(parse(files.inventory)).toMatchObject({
      all: { hosts: { 'address-0': { ansible_user: 'ops', node_name: 'address-0', node_addr: '10.0.0.9' } } },
    });
    expect(parse(files.extraVars)).toEqual({ x: 1, muster_job: 'j1', muster_run: 'r1' });
  });
});
