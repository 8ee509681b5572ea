import { openMembers, readSecretsKey, type Bus, type Lease } from '#bus';
import {
  completeSettings,
  MusterError,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeProgress,
  type NodeRecord,
  type NodeResult,
  type RecoverTask,
} from '#contracts';
import { effectiveAnsible, type ServiceConfig } from '#service';
import type { RunEnd, Step } from '../ansible/ansible-events.js';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import type { AnsibleOutcome, ServicesOfRun } from '../ansible/ansible-run.js';
import { isInFile } from '../ansible/host-keys.js';
import { LogWriter } from '../ansible/log-writer.js';
import { RunProgress } from '../ansible/run-progress.js';
import { checkContent, servicesFor } from '../ansible/playbook-files.js';
import { boundedDiff } from '../diff/bounded-diff.js';
import { checkDiff, type CheckDiffInput } from '../diff/check-diff.js';
import type { NodeParts } from '../diff/node-parts.js';
import { keepingKey, type PartsOfRun } from '../diff/parts-folder.js';
import type { PreparedInstall } from '../discover/prepare-install.js';
import { maskedReport, stepReport } from '../service-test/step-report.js';
import type { TestPart, TestRun } from '../service-test/test-part.js';
import { refuseWithoutFolder } from '../services/missing-folder.js';
import type { Service } from '../services/service-folder.js';
import { stepFiles, subjectOf, type PlanInput, type StepFiles } from './job-plan.js';
import type { JobClaim } from './job-store.js';
import { STEP_LIMIT_MS } from './pipeline.js';
import { ProgressWriter } from './progress-writer.js';

export interface PlaybookRunnerOptions {
  bus: Bus;
  config: Pick<ServiceConfig, 'ansible'> & Partial<Pick<ServiceConfig, 'keys'>>;
  ansible: AnsibleHost;
  claim: JobClaim;
  /** As claimed. */
  job: JobRecord;
  /** Held; commands die with it. */
  lease: Lease;
  /** Nodes as last seen, without a gap; undefined: read them anew. */
  nodes: () => NodeRecord[] | undefined;
  /** Ends a run and the job with it: it belongs to another. */
  stop: AbortSignal;
  /** Ends a run that may be cancelled. */
  cancel: AbortSignal;
  /** The job's record has been taken by another. */
  lost: () => void;
}

export interface PlaybookOutcome {
  results: Record<string, NodeResult>;
  /** What each node or address has said of itself. */
  facts: Map<string, unknown>;
  ended?: RunEnd['ended'];
  /** service-test: what this part of it has shown. */
  test?: TestPart;
}

/** By the record as it was read: with a thousand nodes a recovery has no time to open them each time. */
const openedNodes = new WeakMap<NodeRecord, NodeRecord>();

/** Runs playbooks on nodes of one job, with the settings as they were when the first one ran. */
export class PlaybookRunner {
  /** Host keys that nodes, or addresses, without any on record have shown. */
  readonly learned = new Map<string, string[]>();
  private runs = 0;
  private content: Promise<FirstContent> | undefined;
  private key: Buffer | undefined;

  constructor(private readonly o: PlaybookRunnerOptions) {}

  /** Nothing has been run yet by this worker. */
  get isFresh(): boolean {
    return this.runs === 0;
  }

  /**
   * @throws LEASE_LOST where it was ended since the job is no longer this worker's; BAD_REQUEST, NODE_UNKNOWN,
   * CONFIG_INVALID, COMMAND_FAILED where nothing was run, since it cannot be
   */
  async run(
    step: Step,
    nodes: string[],
    cancellable: boolean,
    more: { recover?: RecoverTask[]; install?: PreparedInstall; test?: TestRun } = {},
  ): Promise<PlaybookOutcome> {
    const { bus, config, ansible, claim, job, lease, stop } = this.o;
    const plan = await this.plan(nodes);
    const run = `${job.id}.${claim.generation}.${this.runs++}`;
    const recover = this.opened(more.recover);
    const files = stepFiles(plan, { step, nodes, run, ...more, ...(recover && { recover }) });
    const log = new LogWriter(
      bus.clock,
      (text) => bus.appendLog(job.id, text),
      files.mask,
      (error) => bus.log.warn({ job: job.id, reason: MusterError.from(error).message }, 'lines of a job log are lost'),
    );
    for (const { reason } of files.left) log.line(`[muster] left out of the inventory: ${reason}`);
    const title = more.test === undefined ? step : `${step}: ${more.test.part}`;
    log.line(`[muster] ${title} on ${nodes.join(', ')} by ${claim.worker}`);
    // A recovery is started first and told then: its record says Running already, and each write is a round trip.
    const told = step === 'release' ? Promise.resolve() : this.publishStep(title);
    told.catch(() => this.o.lost());
    if (step !== 'recover') await told;
    const progress = this.progressOf(step, title, files);
    try {
      const outcome = await ansible.run({
        step,
        config: effectiveAnsible(config.ansible, plan.settings.ansible),
        nodes: [...files.hosts.values()],
        inventory: files.inventory,
        extraVars: files.extraVars,
        hostKeys: files.hostKeys,
        ...(files.services && { services: files.services }),
        ...this.partsOf(step, files),
        leaseUntil: () => lease.validUntil,
        limitMs: STEP_LIMIT_MS[step],
        onLine: (line) => log.line(line),
        onEvents: (lines) => progress.take(lines),
        signal: cancellable ? AbortSignal.any([stop, this.o.cancel]) : stop,
      });
      await told;
      const { ended } = outcome.end;
      if (stop.aborted || ended === 'lease-lost')
        throw new MusterError('LEASE_LOST', `job ${job.id}: ${step} was ended with this worker's lease`, {
          job: job.id,
        });
      log.line(`[muster] ${title} took ${outcome.tookMs} ms`);
      const { hosts, mask } = files;
      for (const [node, host] of hosts) {
        const keys = outcome.learned.get(host);
        if (keys !== undefined) this.learned.set(node, keys);
      }
      const results = Object.fromEntries(
        [...hosts].map(([node, host]): [string, NodeResult] => [
          node,
          withDiff(
            withServices(
              masked(outcome.results[host] ?? { ok: false, step, message: 'not in the results' }, mask),
              files.services,
              files.hostGroups.get(host),
            ),
            outcome.parts?.get(host),
            {
              secrets: [...files.secrets.all, ...(files.secrets.hosts[host] ?? [])],
              mask,
              nodes: hosts.size,
              provisioned: plan.nodes.find((n) => n.name === node)?.provisioned?.checksum,
            },
          ),
        ]),
      );
      const facts = new Map([...hosts].map(([node, host]) => [node, outcome.facts.get(host)]));
      const test = more.test && this.partOf(more.test.part, outcome, plan, files);
      return { results, facts, ...(ended && { ended }), ...(test && { test }) };
    } finally {
      await progress.stop();
      await log.flush();
    }
  }

  private partOf(part: TestPart['part'], outcome: AnsibleOutcome, plan: PlanInput, files: StepFiles): TestPart {
    const [host = ''] = files.hosts.values();
    const { service: tested, hostGroup, mode } = subjectOf(plan);
    const { name: service, folder } = tested;
    const { ok = false, message } = outcome.results[host] ?? {};
    const about = { host, service, folder, ok, ...(message !== undefined && { message }) };
    const report = maskedReport(stepReport(outcome.lines ?? [], about), files.mask);
    return { part, report, hostGroup, mode };
  }

  /** Targets are read anew, also where the view is good: an address may have changed with the very return at hand. */
  async plan(targets: readonly string[]): Promise<PlanInput> {
    const { bus, config, ansible, job } = this.o;
    const bucket = bus.bucket<NodeRecord>('nodes');
    const seen = this.o.nodes() ?? (await bucket.list()).map((e) => e.value);
    const byName = new Map(seen.map((n) => [n.name, n]));
    const own = job.kind === 'discover' ? [] : [...new Set([...job.nodes, ...targets])];
    const [{ settings, services }, fresh] = await Promise.all([
      (this.content ??= this.firstContent()),
      Promise.all(own.map(async (name) => [name, (await bucket.get(name))?.value] as const)),
    ]);
    for (const [name, node] of fresh) {
      if (node === undefined) byName.delete(name);
      else byName.set(name, node);
    }
    if (services === undefined) {
      const known = own.flatMap((name) => byName.get(name) ?? []);
      refuseWithoutFolder(config.ansible.defaultServices, known, this.o.claim.worker);
    }
    return {
      job: this.openedJob(job),
      nodes: [...byName.values()].map((n) => this.openedNode(n)),
      settings,
      ansible: config.ansible,
      services: services ?? [],
      learned: this.learned,
      inFile: knownNames(ansible, config.ansible.knownHosts),
    };
  }

  /** A job keeps to them until its end: what was begun with one set of playbooks is not cleaned up with another. */
  private async firstContent(): Promise<FirstContent> {
    const { bus, config, ansible, job, claim } = this.o;
    const stored = await bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY);
    if (stored === undefined)
      throw new MusterError('CONFIG_INVALID', 'the cluster has no settings yet: does inventory run?');
    const settings = this.opened(completeSettings(stored.value));
    checkContent(ansible, effectiveAnsible(config.ansible, settings.ansible), job.kind, claim.worker);
    return { settings, services: await servicesFor(ansible, config.ansible, job.kind, claim.worker) };
  }

  /** Inventory has sealed what is secret in it. @throws CONFIG_INVALID where the key is not here */
  private opened<T>(value: T): T {
    const file = this.o.config.keys?.secrets;
    if (file !== undefined) this.key ??= readSecretsKey(file);
    return openMembers(this.key, value);
  }

  private openedJob(job: JobRecord): JobRecord {
    const recover = this.opened(job.recover);
    return { ...job, extraVars: this.opened(job.extraVars), ...(recover && { recover }) };
  }

  /** The same of a node's variables, also of one that the job is not for: playbooks look at each other's hosts. */
  private openedNode(node: NodeRecord): NodeRecord {
    const known = openedNodes.get(node);
    if (known !== undefined) return known;
    try {
      const opened = { ...node, vars: this.opened(node.vars) };
      openedNodes.set(node, opened);
      return opened;
    } catch (cause) {
      const { code, message } = MusterError.from(cause);
      throw new MusterError(code, `variables of node ${node.name}: ${message}`, { node: node.name }, { cause });
    }
  }

  /** A node that is set up keeps what it was set up from; a check that shall say what differs reads it. */
  private partsOf(step: Step, files: StepFiles): { parts?: PartsOfRun } {
    const compare = step === 'check' && this.o.job.diff === true;
    if (!compare && !(step === 'site' && files.services !== undefined)) return {};
    const file = this.o.config.keys?.secrets;
    return {
      parts: {
        secrets: files.secrets,
        compare,
        ...(file !== undefined && { key: keepingKey(readSecretsKey(file)) }),
      },
    };
  }

  private async publishStep(step: string): Promise<void> {
    await this.o.claim.write(({ progress: _before, ...job }) => ({ ...job, task: step }));
  }

  private progressOf(
    step: Step,
    title: string,
    files: StepFiles,
  ): { take(lines: string[]): void; stop(): Promise<void> } {
    const { bus, claim, job } = this.o;
    const seen = new RunProgress();
    const writer = new ProgressWriter(
      bus.clock,
      files.hosts.size,
      (progress) => claim.write((now) => ({ ...now, progress })),
      (error) => {
        if (error.code === 'STALE_TOKEN') this.o.lost();
        else bus.log.warn({ job: job.id, reason: error.message }, 'progress of a job was not written');
      },
    );
    const shown = (): Record<string, NodeProgress> =>
      Object.fromEntries(
        [...files.hosts].flatMap(([node, host]) => {
          const is = seen.hosts.get(host);
          return is === undefined ? [] : [[node, { step: title, ...is, task: files.mask(is.task) }]];
        }),
      );
    return {
      take: (lines) => {
        seen.take(lines);
        if (step !== 'release') writer.set(shown());
      },
      stop: () => writer.stop(),
    };
  }
}

interface FirstContent {
  settings: ClusterSettings;
  /** Undefined: there is no folder of them. */
  services: readonly Service[] | undefined;
}

function knownNames(ansible: AnsibleHost, file: string | undefined): (alias: string) => boolean {
  const text = file === undefined ? undefined : ansible.knownHosts(file);
  return text === undefined ? () => false : (alias) => isInFile(text, alias);
}

/**
 * Inventory does not read the services: it is told what those on the node are there, and by a check which of them may be
 * set up by themselves.
 */
function withServices(result: NodeResult, services: ServicesOfRun | undefined, hostGroup = ''): NodeResult {
  const { check } = result;
  const told = new Set([...(check?.findings.map((f) => f.service) ?? []), ...(result.services ?? [])]);
  const here = (services?.all ?? []).filter((s) => told.has(s.name) && Object.hasOwn(s.groups, hostGroup));
  const alone = (services?.alone ?? []).filter((name) => check?.findings.some((f) => f.service === name));
  const declared = here.map(({ name, version, groups }) => [name, { version, mode: groups[hostGroup] ?? '' }] as const);
  return {
    ...result,
    ...(declared.length > 0 && { declared: Object.fromEntries(declared) }),
    ...(check && alone.length > 0 && { check: { ...check, alone } }),
  };
}

function withDiff(
  result: NodeResult,
  parts: NodeParts | undefined,
  o: Pick<CheckDiffInput, 'secrets' | 'mask'> & { nodes: number; provisioned: string | undefined },
): NodeResult {
  const { check } = result;
  if (check === undefined || parts === undefined) return result;
  const isAsRecorded = check.checksum === o.provisioned;
  const diff = checkDiff({ ...o, findings: check.findings, parts, isAsRecorded });
  return { ...result, diff: boundedDiff(diff, o.nodes) };
}

/** Whatever comes from the nodes, or from Ansible's own words about them. */
function masked(r: NodeResult, mask: (text: string) => string): NodeResult {
  const out: NodeResult = { ...r };
  if (r.message !== undefined) out.message = mask(r.message);
  if (r.failedTask !== undefined) out.failedTask = mask(r.failedTask);
  if (r.check !== undefined)
    out.check = { ...r.check, findings: r.check.findings.map((f) => ({ ...f, why: mask(f.why) })) };
  if (r.workloads !== undefined)
    out.workloads = Object.fromEntries(
      Object.entries(r.workloads).map(([name, w]) => [name, { ...w, reason: mask(w.reason) }]),
    );
  return out;
}
