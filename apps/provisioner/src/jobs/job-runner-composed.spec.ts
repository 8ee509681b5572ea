import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, silentLog, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  defaultSettings,
  isEndedJob,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import { buildConfig } from '#service';
import type { RunEnd } from '../ansible/ansible-events.js';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import type { AnsibleOutcome, AnsibleRunOptions } from '../ansible/ansible-run.js';
import { job, node } from '../testing/records.js';
import { whenJob } from '../testing/when-job.js';
import { JobRunner } from './job-runner.js';

/** Ansible in memory: each run succeeds at once, or where `hangs` says so when it is ended. */
class PlayedAnsible implements AnsibleHost {
  readonly ran: string[] = [];
  hangs = (_step: string): boolean => false;
  onHang: () => void = () => undefined;

  whyUnfit = (): Promise<undefined> => Promise.resolve(undefined);
  missingContent = (): undefined => undefined;
  services = (): Promise<[]> => Promise.resolve([]);
  knownHosts = (): undefined => undefined;
  agentArchive = (): Promise<never> => Promise.reject(new Error('there is none'));
  removeAbandoned = (): Promise<void> => Promise.resolve();

  async run(o: AnsibleRunOptions): Promise<AnsibleOutcome> {
    this.ran.push(o.step);
    o.onLine(`played ${o.step}`);
    if (!this.hangs(o.step)) return this.outcome(o, { exitCode: 0, tail: '' });
    await new Promise<void>((resolve) => {
      o.signal.addEventListener('abort', () => resolve(), { once: true });
      this.onHang();
    });
    return this.outcome(o, { exitCode: null, tail: '', ended: 'cancelled' });
  }

  private outcome(o: AnsibleRunOptions, end: RunEnd): AnsibleOutcome {
    const ok = end.ended === undefined;
    const results = Object.fromEntries(o.nodes.map((name) => [name, { ok, step: o.step }]));
    return { results, facts: new Map(), learned: new Map(), end, tookMs: 1 };
  }
}

describe('a job runner that is composed without Nest', () => {
  let nats: TestNats;
  let bus: Bus;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await bus.createBuckets();
    await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, defaultSettings('spec'));
    await bus.bucket<NodeRecord>('nodes').create('n1', node('n1', { status: 'Provisioning' }));
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    await bus.close();
    await nats.stop();
  });

  async function start(instance: string, ansible: AnsibleHost, parallel = 4): Promise<() => Promise<void>> {
    const config = buildConfig({ instance, dataDir: 'played', ansible: { parallel } }, undefined, 'spec');
    const own = await connectBus({ name: instance, servers: [nats.url] });
    const displaced = (): void => undefined;
    const runner = new JobRunner({ bus: own, config, log: silentLog, host: 'control-1', ansible, displaced });
    await runner.start();
    let stopped: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await runner.stop();
      await own.close();
    };
    const stop = (): Promise<void> => (stopped ??= end());
    closing.push(stop);
    return stop;
  }

  const ended = (id: string): Promise<JobRecord> => whenJob(bus, id, isEndedJob);

  it('carries a job out on the machine that it was given', async () => {
    const ansible = new PlayedAnsible();
    await start('p1', ansible);
    await bus.bucket<JobRecord>('jobs').create('j1', job('j1', { kind: 'maintenance' }));
    expect(await ended('j1')).toMatchObject({ status: 'Complete', worker: 'p1', generation: 1, task: 'site' });
    expect(ansible.ran).toEqual(['cleanup', 'site']);
    let log = '';
    for await (const chunk of bus.readLog('j1', { follow: true })) log += chunk.text;
    expect(log).toContain('played cleanup\n');
  });

  it('carries on with the job of one that stopped, and releases its nodes first', async () => {
    const [first, second] = [new PlayedAnsible(), new PlayedAnsible()];
    const hung = new Promise<void>((resolve) => (first.onHang = resolve));
    first.hangs = () => true;
    const stop = await start('p2', first);
    await bus.bucket<JobRecord>('jobs').create('j2', job('j2'));
    await hung;
    await start('p3', second);
    await stop();
    expect(await ended('j2')).toMatchObject({ status: 'Complete', worker: 'p3', generation: 2 });
    expect([first.ran, second.ran]).toEqual([['site'], ['release', 'site']]);
  });

  it('refuses what Ansible must not be given, without having begun', async () => {
    const ansible = new PlayedAnsible();
    await start('p4', ansible);
    const extraVars = { ansible_ssh_common_args: '-oProxyCommand=id' };
    await bus.bucket<JobRecord>('jobs').create('j3', job('j3', { extraVars }));
    const record = await ended('j3');
    expect(record).toMatchObject({
      status: 'Errored',
      error: expect.stringContaining('ansible_ssh_common_args') as unknown,
    });
    expect(record.startedAt).toBeUndefined();
    expect(ansible.ran).toEqual([]);
  });

  it('does not begin a job of a conductor that has been replaced', async () => {
    const ansible = new PlayedAnsible();
    await start('p5', ansible, 1);
    const jobs = bus.bucket<JobRecord>('jobs');
    await jobs.create('j4', job('j4', { conductor: 7 }));
    await ended('j4');
    // While it runs, the one after it waits for its turn.
    const hung = new Promise<void>((resolve) => (ansible.onHang = resolve));
    ansible.hangs = (step) => step === 'check';
    await jobs.create('j5', job('j5', { conductor: 9, kind: 'check' }));
    await hung;
    await jobs.create('j6', job('j6', { conductor: 8, kind: 'recover', recover: [] }));
    await jobs.mutate('j5', (j) => j && { ...j.value, cancel: { by: 'ann', at: 0 } });
    expect(await ended('j6')).toMatchObject({
      status: 'Errored',
      error: expect.stringContaining('STALE_TOKEN') as unknown,
      // The conductor gets above it: where the store went back, it is the present one.
      outranked: 9,
    });
    // What was cancelled may be let go of by then, or not.
    expect(ansible.ran.filter((step) => step !== 'release')).toEqual(['site', 'check']);
  });

  it('gives up a job that was taken again and again, without another run', async () => {
    const ansible = new PlayedAnsible();
    await start('p6', ansible);
    await bus.bucket<JobRecord>('jobs').create('j7', job('j7', { generation: 5 }));
    const record = await ended('j7');
    expect(record).toMatchObject({ status: 'Errored', generation: 6, results: { n1: { ok: false } } });
    expect(record.error).toContain('taken 6 times');
    expect(record.startedAt).toBeDefined();
    expect(ansible.ran).toEqual([]);
  });
});
