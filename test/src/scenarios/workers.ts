import { strict as assert } from 'node:assert';
import { request } from 'node:http';
import type { JobRecord } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { leakedTools } from '../../../lab/src/audit/leaks.js';
import { nowNs } from '../observations.js';
import {
  atGate,
  closeGate,
  completed,
  ended,
  freeHosts,
  gated,
  idleWorkers,
  openGate,
  startGated,
  statuses,
  withPlaybook,
} from '../operations.js';
import type { Scenario } from '../scenario.js';
import { servesAnew } from '../serving.js';

const commission = (fleet: Fleet, hosts: readonly string[]): Record<string, unknown> => ({
  nodes: hosts.map((h) => fleet.nodeOf(h)),
  host_group: 'service-worker',
});

/** `provisioner-1` runs as the lab's process `provisioner.1`. */
const processOf = (job: JobRecord): string => (job.worker as string).replace(/-(\d+)$/, '.$1');

/** Is looked at, at short intervals, until `until` has come: no node may ever have two of them. */
async function neverTwice(fleet: Fleet, hosts: readonly string[], until: Promise<unknown>): Promise<void> {
  let over = false;
  const end = until.finally(() => (over = true));
  while (!over) {
    for (const h of hosts) assert.ok(atGate(fleet, h) <= 1, `Ansible runs twice at once on ${h}`);
    await Promise.race([end, new Promise((r) => setTimeout(r, 25))]);
  }
  await end;
}

export const O6: Scenario = {
  name: 'O6',
  title: 'the worker is killed in the middle of a job: another finishes it, Ansible never runs twice at once',
  async run(fleet, say) {
    const hosts = await freeHosts(fleet, 1);
    await withPlaybook(fleet, 'site.yml', gated(fleet, 'site.yml'), async () => {
      const job = await startGated(fleet, hosts, '/commission/nodes', commission(fleet, hosts));
      const since = nowNs();
      await fleet.lab('service', processOf(job), 'kill');
      const other = fleet.until(
        'another worker to run the job',
        async () => {
          const now = await fleet.job(job.id);
          return now.worker !== job.worker && atGate(fleet, hosts[0] as string) === 1 ? true : undefined;
        },
        60_000,
      );
      await neverTwice(fleet, hosts, other);
      say(`taken over after ${((nowNs() - since) / 1e9).toFixed(1)} s`);
      await openGate(fleet, hosts);
      await completed(fleet, job);
      await closeGate(fleet, hosts);
      await fleet.lab('service', processOf(job), 'start');
    });
    assert.deepEqual(await statuses(fleet, hosts), ['Allocated']);
  },
};

/** Ansible and its children. */
const GONE_WITHIN_MS = 2_000;
/** Until it counts as never. */
const GONE_LIMIT_MS = 10_000;

export const O8: Scenario = {
  name: 'O8',
  title: 'cancel: Ansible and its children are gone within 2 s, the status is as after a failure',
  async run(fleet, say) {
    const hosts = await freeHosts(fleet, 2);
    await withPlaybook(fleet, 'site.yml', gated(fleet, 'site.yml'), async () => {
      const job = await startGated(fleet, hosts, '/commission/nodes', commission(fleet, hosts));
      const ansible = new Set(leakedTools(fleet.options.dir).map((line) => line.split(' ')[0]));
      assert.ok(ansible.size > 0, 'Ansible does not run');
      const since = nowNs();
      await fleet.api.post(`/v1/jobs/${job.id}/cancel`, {});
      const none = (left: () => number) => async () => (left() === 0 ? true : undefined);
      const ours = (line: string): boolean => ansible.has(line.split(' ')[0]);
      await fleet.until(
        'Ansible and its children to end',
        none(() => leakedTools(fleet.options.dir).filter(ours).length),
        GONE_LIMIT_MS,
      );
      const ms = (nowNs() - since) / 1e6;
      // What is left there is ended by another run of Ansible, which takes its time to begin.
      await fleet.until(
        'what it had begun on the hosts to end',
        none(() => hosts.reduce((sum, h) => sum + atGate(fleet, h), 0)),
        GONE_LIMIT_MS,
      );
      say(`gone after ${ms.toFixed(0)} ms, on the hosts after ${((nowNs() - since) / 1e6).toFixed(0)} ms`);
      assert.ok(ms <= GONE_WITHIN_MS, `they were gone only after ${ms.toFixed(0)} ms`);
      const done = await ended(fleet, job);
      assert.equal(done.status, 'Errored');
      assert.match(done.error, /cancelled/);
    });
    assert.deepEqual(await statuses(fleet, hosts), ['Unallocated', 'Unallocated']);
  },
};

/** In the order in which they are restarted; the gateway is the operator's own way in, and comes last. */
const SERVICES = ['detector', 'inventory', 'provisioner', 'fencer', 'gateway'];

export const O9: Scenario = {
  name: 'O9',
  title: 'every service is restarted, one after the other, in the middle of a job: nothing is lost',
  async run(fleet) {
    const hosts = await freeHosts(fleet, 2);
    await withPlaybook(fleet, 'site.yml', gated(fleet, 'site.yml'), async () => {
      const job = await startGated(fleet, hosts, '/commission/nodes', commission(fleet, hosts));
      for (const service of SERVICES) {
        const anew = await servesAnew(fleet, service);
        await fleet.lab('service', service, 'kill');
        await fleet.lab('service', service, 'start');
        await fleet.until(
          `${service} to serve again`,
          // Where nobody answers yet, it does not.
          async () => ((await anew().catch(() => false)) ? true : undefined),
          30_000,
        );
      }
      await openGate(fleet, hosts);
      await completed(fleet, job);
      await closeGate(fleet, hosts);
    });
    assert.deepEqual(await statuses(fleet, hosts), ['Allocated', 'Allocated']);
  },
};

const LINES = 100_000;
const LONG_LINE = 1_048_576;

/** One task tells 100,000 lines, one a line of 1 MB; then the own check. */
const talkative = `- name: Talk
  hosts: all
  gather_facts: false
  tasks:
    - name: Many lines
      ansible.builtin.debug:
        msg: '{{ range(${LINES}) | list }}'
    - name: A long line
      ansible.builtin.debug:
        msg: '{{ "x" * ${LONG_LINE} }}'
- name: Go on
  ansible.builtin.import_playbook: own-check.yml
`;

/** Follows a job's log, and never reads a byte of the answer's body. */
function deafReader(fleet: Fleet, job: string): { close(): void } {
  const req = request(`${fleet.api.base}/v1/jobs/${job}/log?follow=true`, (res) => res.pause());
  req.on('error', () => undefined); // it is cut off in the end, by us
  req.end();
  return { close: () => req.destroy() };
}

export const O7: Scenario = {
  name: 'O7',
  title: '100,000 log lines, a line of 1 MB, a reader that never reads: the job is as fast, the log complete',
  async run(fleet, say) {
    const node = fleet.nodeOf((await idleWorkers(fleet))[0] as string);
    await withPlaybook(fleet, 'check.yml', talkative, async () => {
      const seconds: number[] = [];
      for (const deaf of [false, true]) {
        const { job } = await fleet.api.post<{ job: string }>('/v1/operations', { kind: 'check', nodes: [node] });
        const reader = deaf ? deafReader(fleet, job) : undefined;
        const done = await completed(fleet, await fleet.job(job));
        reader?.close();
        seconds.push(((done.endedAt as number) - (done.startedAt as number)) / 1000);
        const log = await fleet.api.text(`/v1/jobs/${job}/log`);
        assert.ok(log.includes('x'.repeat(LONG_LINE)), 'the long line is not whole');
        const numbers = log.match(/^ *\d+,?$/gm) ?? [];
        assert.equal(numbers.length, LINES, `${numbers.length} of ${LINES} lines are in the log`);
      }
      const [alone, beside] = seconds as [number, number];
      say(`${alone.toFixed(1)} s, beside a deaf reader ${beside.toFixed(1)} s`);
      assert.ok(beside < 2 * alone + 2, `${beside.toFixed(1)} s instead of ${alone.toFixed(1)} s`);
    });
  },
};
