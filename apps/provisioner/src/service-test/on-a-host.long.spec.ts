import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { freePort } from '#bus/testing/free-port.js';
import { defaultHostGroups, type NodeResult } from '#contracts';
import { AnsibleConfig } from '#service';
import { runAnsible } from '../ansible/ansible-run.js';
import { stepFiles, subjectOf, type PlanInput } from '../jobs/job-plan.js';
import { nextStep } from '../jobs/pipeline.js';
import type { StepDone } from '../jobs/step-order.js';
import { readServices } from '../services/service-folder.js';
import { program } from '../testing/playbooks.js';
import { job, node } from '../testing/records.js';
import { startSshd, type TestSshd } from '../testing/sshd.js';
import { stepReport } from './step-report.js';

const systemctl = fileURLToPath(new URL('../testing/systemctl.py', import.meta.url));

const SITE = `- name: Write web.conf
  ansible.builtin.template:
    src: web.conf.j2
    dest: '{{ muster_root }}/etc/web.conf'
    mode: '0644'
- name: Its unit
  muster_service:
    unit: web.service
    files:
      - path: '{{ muster_units }}/web.service'
        content: "{{ lookup('ansible.builtin.template', 'web.service.j2') | b64encode }}"
`;
const CHECK = `- name: Look at web
  muster_check:
    unit: web.service
`;
const CHECK_FILES = `    files:
      - path: '{{ muster_root }}/etc/web.conf'
        content: "{{ lookup('ansible.builtin.template', 'web.conf.j2') | b64encode }}"
      - path: '{{ muster_units }}/web.service'
        content: "{{ lookup('ansible.builtin.template', 'web.service.j2') | b64encode }}"
`;
const CLEANUP = `- name: Take web away
  muster_service:
    unit: web.service
    state: absent
    remove: ['{{ muster_units }}/web.service', '{{ muster_root }}/etc/web.conf']
`;

describe('the test of a service on a host, by real Ansible over ssh', () => {
  let dir: string;
  let root: string;
  let port: number;
  let sshd: TestSshd;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-service-test-'));
    root = join(dir, 'machine');
    port = await freePort();
    sshd = await startSshd(dir);
    await program(`${root}/usr/local/bin/systemctl`, await readFile(systemctl, 'utf8'));
    await mkdir(`${root}/etc/systemd/system`, { recursive: true });
    await writeFile(`${root}/etc/hosts`, '127.0.0.1 localhost\n');
    await mkdir(`${root}/run/units`, { recursive: true });
  });
  afterEach(async () => {
    const pid = Number(await readFile(`${root}/run/units/web.service`, 'utf8').catch(() => '0'));
    const isRunning = pid > 0 && (await stat(`/proc/${pid}`).catch(() => undefined)) !== undefined;
    if (isRunning) process.kill(pid, 'SIGKILL');
    await sshd.stop();
    await rm(dir, { recursive: true, force: true });
  });

  async function test(tasks: { site: string; check: string; cleanup: string }): Promise<NodeResult> {
    const put = async (path: string, text: string): Promise<void> => {
      await mkdir(join(dir, 'content/web', path, '..'), { recursive: true });
      await writeFile(join(dir, 'content/web', path), text);
    };
    await put('service.yml', 'version: 3\ngroups: {service-worker: server, service-master: absent}\n');
    await put('defaults.yml', `web_port: ${port}\n`);
    await put('templates/web.conf.j2', 'mode {{ muster_mode }}\n');
    await put(
      'templates/web.service.j2',
      '[Service]\nExecStart=/usr/bin/python3 -m http.server {{ web_port }} --bind 127.0.0.1 --directory {{ muster_root }}/etc\n',
    );
    for (const [name, text] of Object.entries(tasks)) await put(`tasks/${name}.yml`, text);

    const ansible = new AnsibleConfig();
    Object.assign(ansible, { services: join(dir, 'content'), privateKey: sshd.privateKey });
    const plan: PlanInput = {
      job: job('j1', { kind: 'service-test', nodes: ['n1'], services: ['web'] }),
      nodes: [
        node('n1', {
          networks: { management: { address: '127.0.0.1' } },
          vars: { muster_root: root, ansible_port: sshd.port },
          sshHostKeys: [sshd.hostKey],
        }),
      ],
      settings: { hostGroups: defaultHostGroups, globals: {}, ansible: {} },
      ansible,
      services: (await readServices(ansible)) ?? [],
    };
    const done: StepDone[] = [];
    for (;;) {
      const next = nextStep({ kind: 'service-test', nodes: ['n1'], service: 'web', done, resumed: false });
      if ('end' in next) return next.results['n1'] ?? { ok: false, step: '' };
      const part = next.test?.part ?? 'begin';
      const files = stepFiles(plan, {
        step: next.run,
        nodes: ['n1'],
        run: `r${done.length}`,
        ...(next.test && { test: next.test }),
      });
      const outcome = await runAnsible({
        clock: systemClock,
        step: next.run,
        config: ansible,
        nodes: ['n1'],
        inventory: files.inventory,
        extraVars: files.extraVars,
        hostKeys: files.hostKeys,
        ...(files.services && { services: files.services }),
        leaseUntil: () => process.hrtime.bigint() + 120_000_000_000n,
        limitMs: 120_000,
        onLine: () => undefined,
        signal: new AbortController().signal,
      });
      const { service, hostGroup, mode } = subjectOf(plan);
      const { ok = false, message = '' } = outcome.results['n1'] ?? {};
      const report = stepReport(outcome.lines ?? [], {
        host: 'n1',
        service: 'web',
        folder: service.folder,
        ok,
        message,
      });
      done.push({
        step: next.run,
        cancelled: false,
        results: outcome.results,
        test: { part, report, hostGroup, mode },
      });
    }
  }

  it('is content with one that is right, and leaves nothing', async () => {
    const result = await test({ site: SITE, check: CHECK + CHECK_FILES, cleanup: CLEANUP });
    expect(result.test?.wrong).toEqual([]);
    expect(result.test?.steps.map((s) => s.step)).toHaveLength(8);
    expect(result).toMatchObject({ ok: true, test: { hostGroup: 'service-worker', mode: 'server' } });
    await expect(stat(`${root}/etc/web.conf`)).rejects.toThrow('ENOENT');
    expect(await readFile(`${root}/etc/hosts`, 'utf8')).toBe('127.0.0.1 localhost\n');
  }, 600_000);

  it('names a second run that changes, a check that sees no drift, and what a cleanup leaves', async () => {
    const note = `- name: Note the run\n  ansible.builtin.command: 'true'\n`;
    const result = await test({
      site: SITE + note,
      check: CHECK,
      cleanup: `- name: Take web away\n  ansible.builtin.debug: {msg: tomorrow}\n`,
    });
    const wrong = result.test?.wrong.map((w) => `${w.file}: ${w.what}`) ?? [];
    expect(wrong[0]).toBe('tasks/site.yml:12: a second run changed "Note the run": it is not idempotent');
    expect(wrong.slice(1, -1).sort()).toEqual([
      `tasks/check.yml: says ok although ${root}/etc/systemd/system/web.service (templates/web.service.j2) was changed by hand`,
      `tasks/check.yml: says ok although ${root}/etc/web.conf (templates/web.conf.j2) was changed by hand`,
    ]);
    expect(wrong.at(-1)).toMatch(
      new RegExp(
        `^tasks/cleanup.yml: left unit web.service, ${root}/etc/web.conf, port tcp ${port}, process \\d+ \\(/usr/bin/python3 .*http.server.*\\)`,
      ),
    );
    expect(result.ok).toBe(false);
  }, 600_000);

  it('names the task that fails, with its file and line, and cleans up', async () => {
    const bad = `- name: Ask for more\n  ansible.builtin.fail: {msg: no more}\n`;
    const result = await test({ site: SITE + bad, check: CHECK + CHECK_FILES, cleanup: CLEANUP });
    expect(result.test?.wrong).toEqual([{ file: 'tasks/site.yml:12', what: '"Ask for more" failed: no more' }]);
    expect(result.test?.steps.map((s) => s.step)).toEqual(['begin', 'site', 'end']);
    await expect(stat(`${root}/etc/web.conf`)).rejects.toThrow('ENOENT');
  }, 600_000);
});
