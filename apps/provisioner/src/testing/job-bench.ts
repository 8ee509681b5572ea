import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { connectBus, silentLog, type Bus } from '#bus';
import { daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { processesWith } from '#bus/testing/processes.js';
import {
  defaultSettings,
  isEndedJob,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
} from '#contracts';
import { buildConfig, type ServiceConfig } from '#service';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import { ownAnsibleHost } from '../ansible/own-ansible-host.js';
import { JobRunner } from '../jobs/job-runner.js';
import { testPlaybooks, type TestPlaybooks } from './playbooks.js';
import { job, node } from './records.js';
import { whenJob } from './when-job.js';

/** Seals secrets of settings and jobs. */
export const KEY = '22'.repeat(32);

/** A process of its own, with the built guard. */
const provisionerMain = fileURLToPath(new URL('../../../../dist/apps/provisioner/src/main.js', import.meta.url));

export interface Worker {
  bus: Bus;
  close(): Promise<void>;
}

/**
 * A real NATS server with three nodes, playbooks that run on this very machine, and workers that run them: what the specs of
 * the job runner stand on. Its hooks come with it: workers and playbooks are each test's own.
 */
export function jobBench(): JobBench {
  const bench = new JobBench();
  beforeAll(() => bench.start());
  afterAll(() => bench.stop());
  beforeEach(() => bench.open());
  afterEach(() => bench.clear());
  return bench;
}

class JobBench {
  nats!: TestNats;
  bus!: Bus;
  playbooks!: TestPlaybooks;
  dataDir!: string;
  private running: { close(): Promise<void> }[] = [];
  private count = 0;
  private selfTest: Promise<string | undefined> | undefined;

  async start(): Promise<void> {
    this.nats = await startTestNats();
    this.bus = await connectBus({ name: 'spec', servers: [this.nats.url] });
    await this.bus.createBuckets();
    await this.bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, defaultSettings('spec'));
    for (const name of ['n1', 'n2', 'n3'])
      await this.bus.bucket<NodeRecord>('nodes').create(name, node(name, { status: 'Provisioning' }));
    this.dataDir = await mkdtemp(join(tmpdir(), 'muster-prov-'));
    await writeFile(join(this.dataDir, 'secrets.key'), KEY);
  }

  async stop(): Promise<void> {
    await this.bus.close();
    await this.nats.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async open(): Promise<void> {
    this.playbooks = await testPlaybooks();
  }

  async clear(): Promise<void> {
    await Promise.all(this.running.map((r) => r.close()));
    this.running = [];
    await this.playbooks.remove();
  }

  /** Each time another. */
  next(): number {
    return ++this.count;
  }

  /** A provisioner as a process of its own, by this instance's name; whoever starts it ends it. */
  process(instance: string): ReturnType<typeof daemon> {
    const file = join(this.dataDir, `${instance}.json`);
    const { nats, ansible, keys } = this.settingsOf();
    writeFileSync(file, JSON.stringify({ instance, credentials: 'none', nats, ansible, keys }));
    return daemon(process.execPath, [provisionerMain], {
      env: { PATH: process.env['PATH'], MUSTER_CONFIG: file },
      stdio: 'ignore',
    });
  }

  /** A worker in this process. */
  async worker(): Promise<Worker> {
    const config = this.configOf(`p${this.next()}`);
    const own = await connectBus({ name: config.instance, servers: config.nats.servers });
    const displaced = (): void => undefined;
    const ansible = this.thisMachine(own);
    const runner = new JobRunner({ bus: own, config, log: silentLog, host: 'control-1', ansible, displaced });
    await runner.start();
    let closed = false;
    const it = {
      bus: own,
      close: async () => {
        if (closed) return;
        closed = true;
        await runner.stop();
        await own.close();
      },
    };
    this.running.push(it);
    return it;
  }

  async submit(more: Partial<JobRecord> = {}): Promise<string> {
    const id = `job-${this.next()}`;
    await this.bus.bucket<JobRecord>('jobs').create(id, job(id, more));
    return id;
  }

  /** The record as soon as it fits. */
  when(id: string, fits: (j: JobRecord) => boolean): Promise<JobRecord> {
    return whenJob(this.bus, id, fits);
  }

  ended(id: string): Promise<JobRecord> {
    return this.when(id, isEndedJob);
  }

  async logOf(id: string): Promise<string> {
    let text = '';
    for await (const chunk of this.bus.readLog(id, { follow: true })) text += chunk.text;
    return text;
  }

  /** Until Ansible has come as far as to run this. */
  async runs(command: string): Promise<void> {
    while (processesWith(command).length === 0) await pause(50);
  }

  private settingsOf() {
    return {
      keys: { secrets: join(this.dataDir, 'secrets.key') },
      nats: { servers: [this.nats.url] },
      ansible: { playbooks: this.playbooks.dir, extraVars: { ansible_connection: 'local' } },
    };
  }

  private configOf(instance: string): ServiceConfig {
    return buildConfig({ instance, dataDir: this.dataDir, ...this.settingsOf() }, undefined, 'spec');
  }

  /** This machine. Whether its Ansible works is asked once: that is a start of it, too. */
  private thisMachine(own: Bus): AnsibleHost {
    const host = ownAnsibleHost(own);
    return { ...host, whyUnfit: (config, settings) => (this.selfTest ??= host.whyUnfit(config, settings)) };
  }
}
