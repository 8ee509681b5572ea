import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { parseBmcLine } from '../../../lab/src/audit/bmc-log.js';
import { BMC_USER } from '../../../lab/src/bmc.js';
import { runLab } from '../../../lab/src/fleet/lab-command.js';
import { run } from '../../../lab/src/run.js';
import { until } from '../../../lab/src/until.js';
import type { Death, Failover } from './deaths.js';
import { Ledger } from './ledger.js';
import { configuration, corosyncConf, initScript, installation } from './pacemaker-files.js';
import type { CorosyncTimes, PacemakerNode } from './pacemaker-files.js';
import { powerTrace } from './traces.js';

export type { CorosyncTimes } from './pacemaker-files.js';

const WORKLOAD = 'work';
/** The first election alone takes 20 s. */
const START_LIMIT_MS = 120_000;
const RUNNING_LIMIT_MS = 90_000;
const LOOK_MS = 500;

interface LabHost {
  name: string;
  netns: string;
  networks: { management: string; backend: string };
  bmc: { address: string; port: number; log: string };
  logs: string;
}

interface HostsOfLab {
  hosts: LabHost[];
  controls: { netns: string; networks: { management: string; oob: string } }[];
  namespaces: { bmc: string };
  bmcPassword: string;
  ledger: string;
}

/** Corosync and Pacemaker on hosts of the lab: the same machines, BMCs, death and work as Muster's. */
export class PacemakerCluster implements Failover {
  readonly ledger: Ledger;
  /** What it is set to, for people. */
  settings = '';

  private constructor(
    readonly dir: string,
    private readonly info: HostsOfLab,
  ) {
    this.ledger = new Ledger(info.ledger, WORKLOAD);
  }

  /** For as long as the work takes, with one resource that runs. Its folder stays where something went wrong. */
  static async with(
    nodes: number,
    times: CorosyncTimes,
    work: (cluster: PacemakerCluster) => Promise<void>,
  ): Promise<void> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-pacemaker-'));
    try {
      await runLab({ dir }, ['up', '--hosts-only', '--nodes', String(nodes), '--port', '0']);
      const cluster = new PacemakerCluster(dir, (await runLab({ dir }, ['info'])) as HostsOfLab);
      await cluster.start(times);
      await work(cluster);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      await runLab({ dir }, ['down']).catch((also: unknown) => {
        throw new AggregateError([cause, also], `${why}; and the lab in ${dir} could not be taken down`);
      });
      throw new MusterError('COMMAND_FAILED', `${why}; the logs are kept in ${dir}`, {}, { cause });
    }
    await runLab({ dir }, ['down']);
    await rm(dir, { recursive: true, force: true });
  }

  carrier(): string {
    return this.ledger.carrier();
  }

  async fail(victim: string): Promise<Death> {
    const elsewhere = this.ledger.awaitElsewhere(victim);
    const gaps = this.gaps();
    const { ns } = (await runLab(this, ['kill', victim])) as { ns: number };
    const beat = await elsewhere(ns, RUNNING_LIMIT_MS);
    const log = await readFile(this.host(victim).bmc.log, 'utf8');
    const { offSentMs } = powerTrace(
      log.split('\n').flatMap((line) => parseBmcLine(victim, line) ?? []),
      ns,
    );
    if (offSentMs === undefined)
      throw new MusterError(
        'COMMAND_FAILED',
        `the work of ${victim} runs on ${beat.host}, and its BMC was never asked`,
      );
    const starved = this.gaps() - gaps;
    return {
      victim,
      to: beat.host,
      offSentMs,
      runningMs: (beat.ns - ns) / 1e6,
      ...(starved > 0 && { starved: 'a corosync was not scheduled in time' }),
    };
  }

  async whole(victim: string): Promise<void> {
    await runLab(this, ['boot', victim]);
    await this.online(victim);
  }

  private async start(times: CorosyncTimes): Promise<void> {
    await this.routeToBmcs();
    const files = this.writeFiles(times);
    await Promise.all(this.info.hosts.map(({ name }) => this.exec(name, 'sh', join(files, 'install'), files)));
    await this.online();
    const anyone = this.other();
    for (const scope of ['crm_config', 'resources'])
      await this.exec(anyone, 'cibadmin', '--modify', '--scope', scope, '--xml-file', join(files, `${scope}.xml`));
    await until('the work to run', START_LIMIT_MS, () => this.ledger.carrier(), LOOK_MS);
    await this.online();
    const map = await this.exec(anyone, 'corosync-cmapctl');
    const ms = (key: string): string | undefined =>
      new RegExp(`runtime\\.config\\.totem\\.${key} .*= (\\d+)`).exec(map)?.[1];
    this.settings = `token ${ms('token')} ms, consensus ${ms('consensus')} ms, off without on`;
  }

  /** By way of the control machine: the lab's own hosts have no business with BMCs. */
  private async routeToBmcs(): Promise<void> {
    const { hosts, namespaces } = this.info;
    const { netns: ctl, networks: control } = this.info.controls[0]!;
    const range = (address: string): string => address.replace(/\d+$/, '0/24');
    await run('ip', ['netns', 'exec', ctl, 'sysctl', '-qw', 'net.ipv4.ip_forward=1']);
    await run('ip', ['-n', namespaces.bmc, 'route', 'add', range(control.management), 'via', control.oob]);
    for (const { netns } of hosts)
      await run('ip', ['-n', netns, 'route', 'add', range(control.oob), 'via', control.management]);
  }

  /** In the folder that hosts see as it is. */
  private writeFiles(times: CorosyncTimes): string {
    const files = join(this.dir, 'lib', 'pacemaker');
    mkdirSync(files);
    const nodes = this.info.hosts.map(({ name, networks, bmc }, i): PacemakerNode => ({
      name,
      id: i + 1,
      rings: [networks.management, networks.backend],
      bmc,
    }));
    const login = { user: BMC_USER, password: readFileSync(this.info.bmcPassword, 'utf8').trim() };
    const { options, resources } = configuration(nodes, WORKLOAD, login);
    const put = (name: string, content: string | Buffer): void => writeFileSync(join(files, name), content);
    put('authkey', randomBytes(256));
    put('corosync.conf', corosyncConf(nodes, times));
    put(WORKLOAD, initScript(join(this.dir, 'lib', 'heartbeat.py'), WORKLOAD));
    put('crm_config.xml', options);
    put('resources.xml', resources);
    put('install', installation(WORKLOAD));
    return files;
  }

  /** Every node is an online member, and nothing is under way, as another than the one that has just come says. */
  private async online(comer?: string): Promise<void> {
    const { hosts } = this.info;
    const ask = this.other(comer);
    await until(
      'every Pacemaker node to be online',
      START_LIMIT_MS,
      async () => {
        const state = await this.exec(ask, 'crm_mon', '-1', '--output-as=xml');
        const nodes = [...state.matchAll(/<node name="[^"]*" [^>]*online="true"[^>]*unclean="false"[^>]*>/g)];
        const members = nodes.filter(([text]) => text.includes('pending="false"'));
        return members.length === hosts.length ? true : undefined;
      },
      LOOK_MS,
    );
    await this.exec(ask, 'crm_resource', '--wait', '--timeout=60');
  }

  private other(than?: string): string {
    return (this.info.hosts.find(({ name }) => name !== than) as LabHost).name;
  }

  private host(name: string): LabHost {
    return this.info.hosts.find((h) => h.name === name) as LabHost;
  }

  /** Times that a corosync has noticed that it did not get the processor. */
  private gaps(): number {
    return this.info.hosts.reduce((sum, { logs }) => {
      const log = readFileSync(join(logs, 'corosync.log'), 'utf8');
      return sum + log.split('not scheduled for').length - 1;
    }, 0);
  }

  private async exec(host: string, ...command: string[]): Promise<string> {
    const answer = (await runLab(this, ['exec', host, '--', ...command])) as { stdout: string };
    return answer.stdout;
  }
}
