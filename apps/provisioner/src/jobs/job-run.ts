import type { Bus, Lease } from '#bus';
import {
  MusterError,
  SETTINGS_KEY,
  type ClusterSettings,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type RecoverTask,
} from '#contracts';
import type { ServiceConfig } from '#service';
import { LogWriter } from '../ansible/log-writer.js';
import { runAnsible } from '../ansible/ansible-run.js';
import type { RunEnd, Step } from '../ansible/ansible-events.js';
import { prepareInstall, withNodes, type PreparedInstall } from '../discover/prepare-install.js';
import { runVariables, stepFiles, type PlanInput } from './job-plan.js';
import type { JobClaim } from './job-store.js';
import { nextStep, STEP_LIMIT_MS, type StepDone } from './pipeline.js';
import { askStarts, type StartAnswers } from './start-permission.js';

export interface JobRunOptions {
  bus: Bus;
  config: ServiceConfig;
  claim: JobClaim;
  /** As claimed. */
  job: JobRecord;
  /** Held; commands die with it. */
  lease: Lease;
  /** Nodes as last seen, without a gap; undefined: read them anew. */
  nodes: () => NodeRecord[] | undefined;
}

/** A job that so many workers took and none ended would go on for ever: it is ended instead. */
export const MOST_TAKES = 5;

/** Carries one claimed job out, step by step, and writes what came of it. */
export class JobRun {
  private readonly stopping = new AbortController();
  private cancelledBy: string | undefined;
  /** Ends the step that runs now, where a cancel may. */
  private readonly cancelling = new AbortController();

  /** Playbooks so far. */
  private runs = 0;

  /** discover: what the host behind each address said of itself. */
  private facts: ReadonlyMap<string, unknown> = new Map();

  constructor(private readonly o: JobRunOptions) {}

  /** An operator's word in the record. The step that runs is ended, what must follow a failure still runs. */
  cancel(by: string): void {
    this.cancelledBy ??= by;
    this.cancelling.abort();
  }

  /** Lets go without a word: the lease is lost or this worker ends, another will carry on. */
  abandon(): void {
    this.stopping.abort();
  }

  /** @throws STALE_TOKEN, LEASE_LOST where the job is no longer this worker's; it then belongs to another */
  async run(): Promise<void> {
    const { job } = this.o;
    if (job.cancel !== undefined) this.cancel(job.cancel.by);
    const subjects = job.kind === 'discover' ? (job.addresses ?? []) : job.nodes;
    const taken = this.o.claim.generation;
    if (taken > MOST_TAKES) {
      const message = `Given up: taken ${taken} times, and never brought to an end (last at ${job.task || 'its begin'}).`;
      const result: NodeResult = { ok: false, step: job.task || job.kind, message };
      await this.finish('Errored', message, Object.fromEntries(subjects.map((n) => [n, result])), true);
      return;
    }
    const done: StepDone[] = [];
    for (;;) {
      const by = this.cancelledBy;
      const next = nextStep({
        kind: job.kind,
        nodes: subjects,
        done,
        resumed: this.o.claim.generation > 1,
        ...(by === undefined ? {} : { cancelledBy: by }),
      });
      if ('end' in next) {
        await this.finish(next.end, next.error, next.results, done.length > 0);
        return;
      }
      try {
        done.push(await this.step(next.run, next.nodes, next.cancellable));
      } catch (error) {
        const failure = MusterError.from(error);
        if (!isOfTheJob(failure)) throw failure;
        // Nothing ran in this step: the job cannot be carried out as it was asked for.
        const results = Object.fromEntries(
          subjects.map((n): [string, NodeResult] => [n, { ok: false, step: next.run, message: failure.message }]),
        );
        done.push({ step: next.run, cancelled: false, results });
        if (done.length === 1) {
          await this.finish('Errored', failure.message, results, false);
          return;
        }
      }
    }
  }

  private async step(step: Step, nodes: string[], cancellable: boolean): Promise<StepDone> {
    const recover = step === 'recover' ? await this.permitted(this.o.job.recover ?? [], nodes[0] ?? '') : undefined;
    if (recover !== undefined && recover.allowed.length === 0)
      return { step, cancelled: false, results: withRefused({}, nodes, recover) };
    // A recovery needs no such care: on its node each start has a lock and a generation of its own.
    const isResumed = this.o.claim.generation > 1 && this.runs === 0;
    if (isResumed && step !== 'recover') await this.playbook('release', nodes, false);

    if (step === 'install') return this.install(nodes, cancellable);
    const { results, ended, facts } = await this.playbook(step, nodes, cancellable, {
      ...(recover && { recover: recover.allowed }),
    });
    if (step === 'discover') this.facts = facts;
    if (ended === 'cancelled' || ended === 'time-limit') await this.playbook('release', nodes, false);
    return {
      step,
      cancelled: ended === 'cancelled',
      results: recover === undefined ? results : withRefused(results, nodes, recover),
    };
  }

  /** Agents for the hosts that were found; those that cannot have one do not keep the others. */
  private async install(addresses: string[], cancellable: boolean): Promise<StepDone> {
    const { bus, config, job } = this.o;
    const plan = await this.plan([]);
    const facts = new Map(addresses.map((a) => [a, this.facts.get(a)]));
    const install = await prepareInstall({ bus, config, job, nodes: plan.nodes, variables: runVariables(plan), facts });
    const ready = [...install.tasks.keys()];
    if (ready.length === 0) return { step: 'install', cancelled: false, results: install.refused };
    const { results, ended } = await this.playbook('install', ready, cancellable, { install });
    if (ended === 'cancelled' || ended === 'time-limit') await this.playbook('release', ready, false);
    const named = withNodes(results, install.tasks);
    return { step: 'install', cancelled: ended === 'cancelled', results: { ...install.refused, ...named } };
  }

  /** @throws LEASE_LOST where it was ended since the job is no longer this worker's */
  private async playbook(
    step: Step,
    nodes: string[],
    cancellable: boolean,
    more: { recover?: RecoverTask[]; install?: PreparedInstall } = {},
  ): Promise<{ results: Record<string, NodeResult>; facts: Map<string, unknown>; ended?: RunEnd['ended'] }> {
    const { bus, config, claim, job, lease } = this.o;
    const { signal: stop } = this.stopping;
    const files = stepFiles(await this.plan(nodes), {
      step,
      nodes,
      run: `${job.id}.${claim.generation}.${this.runs++}`,
      ...more,
    });
    const log = new LogWriter(
      (text) => bus.appendLog(job.id, text),
      files.mask,
      (error) => bus.log.warn({ job: job.id, reason: MusterError.from(error).message }, 'lines of a job log are lost'),
    );
    for (const { reason } of files.left) log.line(`[muster] left out of the inventory: ${reason}`);
    log.line(`[muster] ${step} on ${nodes.join(', ')} by ${claim.worker}`);
    // A recovery is started first and told then: its record says Running already, and each write is a round trip.
    const told = step === 'release' ? Promise.resolve() : this.tellStep(step);
    told.catch(() => this.abandon());
    if (step !== 'recover') await told;
    try {
      const outcome = await runAnsible({
        step,
        config: config.ansible,
        dataDir: config.dataDir,
        nodes: [...files.hosts.values()],
        inventory: files.inventory,
        extraVars: files.extraVars,
        leaseUntil: () => lease.validUntil,
        limitMs: STEP_LIMIT_MS[step],
        onLine: (line) => log.line(line),
        signal: cancellable ? AbortSignal.any([stop, this.cancelling.signal]) : stop,
      });
      await told;
      const { ended } = outcome.end;
      if (stop.aborted || ended === 'lease-lost')
        throw new MusterError('LEASE_LOST', `job ${job.id}: ${step} was ended with this worker's lease`, {
          job: job.id,
        });
      log.line(`[muster] ${step} took ${outcome.tookMs} ms`);
      const results = Object.fromEntries(
        [...files.hosts].map(([node, host]): [string, NodeResult] => [
          node,
          masked(outcome.results[host] ?? { ok: false, step, message: 'not in the results' }, files.mask),
        ]),
      );
      const facts = new Map([...files.hosts].map(([node, host]) => [node, outcome.facts.get(host)]));
      return ended === undefined ? { results, facts } : { results, facts, ended };
    } finally {
      await log.flush();
    }
  }

  private async tellStep(step: Step): Promise<void> {
    await this.o.claim.write((job) => ({ ...job, task: step }));
  }

  private permitted(tasks: RecoverTask[], node: string): Promise<StartAnswers> {
    return askStarts(tasks, node, (q) => this.o.bus.call('inventory.workloads.mayStart', q));
  }

  /** Targets are read anew, also where the view is good: an address may have changed with the very return at hand. */
  private async plan(targets: readonly string[]): Promise<PlanInput> {
    const { bus, config, job } = this.o;
    const bucket = bus.bucket<NodeRecord>('nodes');
    const seen = this.o.nodes() ?? (await bucket.list()).map((e) => e.value);
    const byName = new Map(seen.map((n) => [n.name, n]));
    const own = job.kind === 'discover' ? [] : [...new Set([...job.nodes, ...targets])];
    const [settings, fresh] = await Promise.all([
      bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY),
      Promise.all(own.map(async (name) => [name, (await bucket.get(name))?.value] as const)),
    ]);
    for (const [name, node] of fresh) {
      if (node === undefined) byName.delete(name);
      else byName.set(name, node);
    }
    if (settings === undefined)
      throw new MusterError('CONFIG_INVALID', 'the cluster has no settings yet: does inventory run?');
    return { job, nodes: [...byName.values()], settings: settings.value, ansible: config.ansible };
  }

  private async finish(
    status: 'Complete' | 'Errored',
    error: string,
    results: Record<string, NodeResult>,
    worked: boolean,
  ): Promise<void> {
    const { bus, claim } = this.o;
    const ended = await claim.write((job) => {
      const next: JobRecord = { ...job, status, error, results, endedAt: Date.now() };
      // Nothing was begun, by no worker: inventory puts the nodes back to where they were.
      if (!worked && claim.generation === 1) delete next.startedAt;
      return next;
    });
    for (const [node, result] of Object.entries(results))
      await bus.emit('job-node', ended.id, { job: ended.id, node, result }, { id: `job.${ended.id}.node.${node}` });
  }
}

/** Faults of the job itself, which another worker would meet just the same. */
const isOfTheJob = (e: MusterError): boolean =>
  e.code === 'BAD_REQUEST' || e.code === 'NODE_UNKNOWN' || e.code === 'CONFIG_INVALID' || e.code === 'COMMAND_FAILED';

/** Whatever comes from the nodes, or from Ansible's own words about them. */
function masked(r: NodeResult, mask: (text: string) => string): NodeResult {
  const out: NodeResult = { ...r };
  if (r.message !== undefined) out.message = mask(r.message);
  if (r.check !== undefined)
    out.check = { ...r.check, findings: r.check.findings.map((f) => ({ ...f, why: mask(f.why) })) };
  if (r.workloads !== undefined)
    out.workloads = Object.fromEntries(
      Object.entries(r.workloads).map(([name, w]) => [name, { ...w, reason: mask(w.reason) }]),
    );
  return out;
}

/** Starts that inventory did not allow stand beside those that were tried: the job is not ok, and says which and why. */
function withRefused(
  results: Record<string, NodeResult>,
  nodes: readonly string[],
  answers: StartAnswers,
): Record<string, NodeResult> {
  if (answers.refused.length === 0) return results;
  const reasons = answers.refused.map((r) => `${r.workload}: ${r.reason}`).join('; ');
  return Object.fromEntries(
    nodes.map((node): [string, NodeResult] => {
      const tried = results[node];
      const workloads = Object.fromEntries(
        answers.refused.map((r) => [r.workload, { started: false, reason: r.reason }]),
      );
      const message = tried?.message === undefined ? reasons : `${tried.message}; ${reasons}`;
      return [
        node,
        { step: 'recover', ...tried, ok: false, message, workloads: { ...tried?.workloads, ...workloads } },
      ];
    }),
  );
}
