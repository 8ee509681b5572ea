import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runGuarded, type GuardResult } from '#bus';
import type { Clock, NodeResult } from '#contracts';
import type { AnsibleConfig } from '#service';
import { factsOf, nodeResults, type RunEnd, type Step } from './ansible-events.js';
import { sshFailure } from './ssh-failure.js';
import { changedKey, knownHostsText, learnedKeys, type HostKeys } from './host-keys.js';
import { linesOf, LineTail } from './line-tail.js';
import { makeServiceRoles } from '../services/service-roles.js';
import type { Service } from '../services/service-folder.js';
import { givePartsFolder, readPartsFolder, type PartsOfRun } from '../diff/parts-folder.js';
import type { NodeParts } from '../diff/node-parts.js';
import { RunFolder } from './run-folder.js';

export interface AnsibleRunOptions {
  step: Step;
  config: AnsibleConfig;
  /** Names as in the inventory. */
  nodes: readonly string[];
  inventory: string;
  extraVars: string;
  /** Of every host in the inventory, by its name there. */
  hostKeys: ReadonlyMap<string, HostKeys>;
  /** The operator's own services, where the step has to do with them. */
  services?: ServicesOfRun;
  /** What the services are made of is gathered. @default not */
  parts?: PartsOfRun;
  /** CLOCK_MONOTONIC, ns: until when the lease of the job stands, as of now. Asked again and again while it runs. */
  leaseUntil: () => bigint;
  /** Longest time of the step, ms. */
  limitMs: number;
  onLine: (line: string) => void;
  /** Event lines while it runs, a moment late and not all: for showing how far it is. */
  onEvents?: (lines: string[]) => void;
  /** A cancel; a reason that is a text is told as the nodes' message. */
  signal: AbortSignal;
}

export interface ServicesOfRun {
  all: readonly Service[];
  /** By name in the inventory: the services that the step must tell of. */
  expected: ReadonlyMap<string, readonly string[]>;
  /** Of all, those that may be set up again by themselves. */
  alone: readonly string[];
}

export interface AnsibleOutcome {
  results: Record<string, NodeResult>;
  /** By name in the inventory; of those that told any. */
  facts: Map<string, unknown>;
  /** Keys that hosts without any have shown, by name in the inventory. */
  learned: Map<string, string[]>;
  /** By name in the inventory, where it was asked what differs. It holds secrets in clear. */
  parts?: Map<string, NodeParts>;
  end: RunEnd;
  tookMs: number;
  /** service-test: the event lines. */
  lines?: string[];
}

/** Nothing of the service's environment that leads Ansible elsewhere; a pyenv's shims are not in it either. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** How often the guard is told the lease's new end, ms: less than the fifth of a lease. */
const EXTEND_MS = 500;
const TAIL_LINES = 5;

/** From dist, or from the sources (specs). */
const here = (folder: string): string => fileURLToPath(new URL(`${folder}/playbooks`, import.meta.url));
/** The playbooks that come with Muster; those of a run may be others. */
export const ownPlaybooks = existsSync(here('../../../..')) ? here('../../../..') : here('../../../../..');

/** The plugin that tells results as JSON lines; it comes with Muster, also for other people's playbooks. */
const ownPlugins = join(ownPlaybooks, 'callback_plugins');

/** Tells a service's part of the effective configuration. */
const ownEffective = join(ownPlaybooks, 'tasks', 'service-effective.yml');
/** Tells by which content a service's files are known on a node. */
const ownRendered = join(ownPlaybooks, 'tasks', 'service-rendered.yml');

export const playbookOf = (step: Step, config: AnsibleConfig): string =>
  ({
    site: config.sitePlaybook,
    cleanup: config.cleanupPlaybook,
    check: config.checkPlaybook,
    recover: config.recoverPlaybook,
    discover: 'discover.yml',
    install: 'install.yml',
    release: 'release.yml',
    'service-test': 'service-test.yml',
  })[step];

/** What Muster itself needs on a node comes with Muster. */
const folderOf = (step: Step, config: AnsibleConfig): string =>
  ['release', 'discover', 'install', 'service-test'].includes(step) ? ownPlaybooks : config.playbooks;

/**
 * One playbook on the nodes of a job, under the guard: it dies with the lease, also when this process is stopped.
 * @throws COMMAND_FAILED where Ansible cannot be started at all
 */
export async function runAnsible(o: AnsibleRunOptions & { clock: Clock }): Promise<AnsibleOutcome> {
  const folder = await RunFolder.create();
  try {
    const inventory = await folder.write('inventory.yml', o.inventory);
    const vars = await folder.write('vars.yml', o.extraVars);
    const limit = await folder.write('limit', `${o.nodes.join('\n')}\n`);
    const events = await folder.write('events', '');
    const services = o.services?.all ?? [];
    if (services.length > 0)
      await makeServiceRoles(folder.file('services'), services, { effective: ownEffective, rendered: ownRendered });
    const knownHosts = await folder.write('known_hosts', knownHostsText(o.hostKeys.values()));
    const partsOf = o.parts === undefined ? {} : await givePartsFolder(folder.file('parts'), o.parts);
    const env = { ...environment(o, folder, { events, knownHosts }), ...partsOf };
    const hardEnd = o.clock.monotonicNs() + BigInt(o.limitMs) * 1_000_000n;
    const deadline = (): bigint => {
      const lease = o.leaseUntil();
      return lease < hardEnd ? lease : hardEnd;
    };
    const tail = new Tail();
    const run = runGuarded({
      command: 'ansible-playbook',
      args: [
        ...['-i', inventory, '--limit', `@${limit}`, '-e', `@${vars}`],
        ...(services.length > 0 ? ['-e', JSON.stringify({ muster_service_roles: folder.file('services') })] : []),
        playbookOf(o.step, o.config),
      ],
      cwd: folderOf(o.step, o.config),
      env,
      deadlineNs: deadline(),
      maxOutput: 1,
      signal: o.signal,
      onLine: (line) => {
        o.onLine(line);
        tail.line(line);
      },
    });
    const extending = o.clock.every(EXTEND_MS, () => run.extend(deadline()));
    const following = o.onEvents === undefined ? undefined : new LineTail(o.clock, events, o.onEvents);
    let done: GuardResult;
    try {
      done = await run.done;
    } finally {
      extending.cancel();
      await following?.close();
    }
    const end: RunEnd = { exitCode: done.exitCode, tail: done.exitCode === 0 ? '' : tail.text };
    if (o.signal.aborted && done.killed) {
      end.ended = 'cancelled';
      if (typeof o.signal.reason === 'string') end.why = o.signal.reason;
    } else if (done.timedOut || done.refused || done.killed)
      end.ended = o.clock.monotonicNs() >= hardEnd ? 'time-limit' : 'lease-lost';
    const lines = await linesOf(events);
    return {
      results: withAdvice(nodeResults(o.step, o.nodes, lines, end, o.services?.expected), o),
      facts: factsOf(lines),
      learned: learnedKeys(await readFile(knownHosts, 'utf8'), o.hostKeys),
      end,
      tookMs: done.tookMs,
      ...(o.step === 'service-test' && { lines }),
      ...(o.parts?.compare === true && { parts: await readPartsFolder(folder.file('parts'), o.nodes) }),
    };
  } finally {
    await folder.remove();
  }
}

/** ssh's own words say nothing of what is to be done here. */
function withAdvice(results: Record<string, NodeResult>, o: AnsibleRunOptions): Record<string, NodeResult> {
  return Object.fromEntries(
    Object.entries(results).map(([name, result]) => {
      const host = o.hostKeys.get(name);
      const why = host && changedKey(host.alias, result.message ?? '', host, o.config.knownHosts);
      const message = why ?? (result.message === undefined ? undefined : sshFailure(result.message, o.config));
      return [name, message === undefined ? result : { ...result, message }];
    }),
  );
}

/** The end of the output; from Ansible's own error on, where it says one. */
class Tail {
  private lines: string[] = [];
  private found = false;

  line(line: string): void {
    if (line.trim() === '' || (this.found && this.lines.length >= TAIL_LINES)) return;
    if (!this.found && line.startsWith('ERROR!')) {
      this.found = true;
      this.lines = [];
    }
    this.lines.push(line.slice(0, 500));
    if (this.lines.length > TAIL_LINES) this.lines.shift();
  }

  get text(): string {
    return this.lines.join(' ');
  }
}

function environment(
  o: AnsibleRunOptions,
  folder: RunFolder,
  files: { events: string; knownHosts: string },
): Record<string, string> {
  const { config } = o;
  const settings = join(folderOf(o.step, config), 'ansible.cfg');
  // ssh adds what it learns to the first. Whether it may is said for each host in the inventory.
  const known = [files.knownHosts, ...(config.knownHosts === undefined ? [] : [config.knownHosts])];
  const ssh = [
    `UserKnownHostsFile=${known.map((path) => `"${path}"`).join(' ')}`,
    'HashKnownHosts=no',
    'UpdateHostKeys=no',
    'CheckHostIP=no',
    'BatchMode=yes',
    'ConnectTimeout=5',
    'ServerAliveInterval=2',
    'ServerAliveCountMax=3',
    // A recovery is one task: a connection that stands by for a next one would only cost its set-up.
    ...(o.step === 'recover' ? ['ControlMaster=no'] : ['ControlMaster=auto', 'ControlPersist=15s']),
  ];
  return {
    PATH,
    LANG: 'C.UTF-8',
    LC_ALL: 'C.UTF-8',
    PYTHONDONTWRITEBYTECODE: '1',
    MUSTER_EVENTS_FILE: files.events,
    ...(existsSync(settings) ? { ANSIBLE_CONFIG: settings } : {}),
    ANSIBLE_CALLBACK_PLUGINS: ownPlugins,
    ANSIBLE_CALLBACKS_ENABLED: 'muster_events',
    ANSIBLE_FORCE_COLOR: '0',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_NOCOWS: '1',
    ANSIBLE_RETRY_FILES_ENABLED: '0',
    ANSIBLE_TRANSFORM_INVALID_GROUP_CHARS: 'ignore',
    ANSIBLE_INVENTORY_ENABLED: 'yaml',
    ANSIBLE_HOST_KEY_CHECKING: 'True',
    ANSIBLE_LOCAL_TEMP: folder.file('tmp'),
    ANSIBLE_HOME: folder.file('tmp'),
    ANSIBLE_FORKS: String(Math.min(20, Math.max(1, o.nodes.length))),
    ANSIBLE_TIMEOUT: '5',
    ANSIBLE_SSH_RETRIES: '0',
    ANSIBLE_SSH_ARGS: ssh.map((option) => `-o '${option}'`).join(' '),
    ANSIBLE_SSH_CONTROL_PATH_DIR: folder.file('cp'),
    ANSIBLE_PIPELINING: 'True',
    // Modules would tell the log of the node what they were given: files with secrets in them, too.
    ANSIBLE_NO_TARGET_SYSLOG: 'True',
    ...(config.privateKey === undefined ? {} : { ANSIBLE_PRIVATE_KEY_FILE: config.privateKey }),
    ...(config.python === undefined ? {} : { ANSIBLE_PYTHON_INTERPRETER: config.python }),
  };
}
