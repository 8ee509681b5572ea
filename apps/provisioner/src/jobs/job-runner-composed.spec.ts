import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
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
import { JobRunner } from './job-runner.js';

/** Ansible in memory: each run succeeds at once, or where `hangs` says so when it is ended. */
class PlayedAnsible implements AnsibleHost {
  readonly ran: string[] = [];
  hangs = (_step: string): boolean => false;
  onHang: () => void = () => undefined;

  trouble = (): Promise<undefined> => Promise.resolve(undefined);
  missingContent = (): undefined => undefined;
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

  async function start(instance: string, ansible: AnsibleHost): Promise<() => Promise<void>> {
    const config = buildConfig({ instance, dataDir: 'played' }, undefined, 'spec');
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

  async function ended(id: string): Promise<JobRecord> {
    const view = await bus.bucket<JobRecord>('jobs').view();
    try {
      return await new Promise((resolve) => {
        const look = (): void => {
          const value = view.get(id)?.value;
          if (value !== undefined && isEndedJob(value)) resolve(value);
        };
        view.onChange(look);
        look();
      });
    } finally {
      await view.close();
    }
  }

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
});
