import type { Bus, Lease } from '#bus';
import {
  MusterError,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type RecoverTask,
  type Timer,
} from '#contracts';
import { jobAfter } from '#domain/job/changes.js';
import type { ServiceConfig } from '#service';
import type { Step } from '../ansible/ansible-events.js';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import { Discovery } from '../discover/discovery.js';
import { withNodes } from '../discover/prepare-install.js';
import type { TestRun } from '../service-test/test-part.js';
import { runVariables } from './job-plan.js';
import type { JobClaim } from './job-store.js';
import { nextStep } from './pipeline.js';
import type { StepDone } from './step-order.js';
import { PlaybookRunner } from './playbook-runner.js';
import { askStarts, type StartAnswers } from './start-permission.js';

/** What carrying jobs out asks of a service's configuration. */
export type JobRunConfig = Pick<ServiceConfig, 'ansible' | 'agents' | 'cluster' | 'dataDir' | 'nats'> &
  Partial<Pick<ServiceConfig, 'keys'>>;

export interface JobRunOptions {
  bus: Bus;
  config: JobRunConfig;
  ansible: AnsibleHost;
  claim: JobClaim;
  /** As claimed. */
  job: JobRecord;
  /** Held; commands die with it. */
  lease: Lease;
  /** Nodes as last seen, without a gap; undefined: read them anew. */
  nodes: () => NodeRecord[] | undefined;
  /** ms that it has run already, by others, as far as this process has seen it. @default 0 */
  ranMs?: number;
}

/** A job that so many workers took and none ended would go on for ever: it is ended instead. */
const MOST_TAKES = 5;

/** Carries one claimed job out, step by step, and writes what came of it. */
export class JobRun {
  private readonly stopping = new AbortController();
  /** Why it is to end before its time: by whose cancel, or at its own time limit. */
  private ending: string | undefined;
  /** Ends the step that runs now, where a cancel may. */
  private readonly cancelling = new AbortController();
  private readonly playbooks: PlaybookRunner;
  private readonly discovery: Discovery;

  constructor(private readonly o: JobRunOptions) {
    this.discovery = new Discovery(o);
    this.playbooks = new PlaybookRunner({
      ...o,
      stop: this.stopping.signal,
      cancel: this.cancelling.signal,
      lost: () => this.abandon(),
    });
  }

  /** An operator's word in the record. The step that runs is ended, what must follow a failure still runs. */
  cancel(by: string): void {
    this.end(`cancelled by ${by}`, 'cancelled');
  }

  /** Lets go without a word: the lease is lost or this worker ends, another will carry on. */
  abandon(): void {
    this.stopping.abort();
  }

  /** @throws STALE_TOKEN, LEASE_LOST where the job is no longer this worker's; it then belongs to another */
  async run(): Promise<void> {
    const { job } = this.o;
    if (job.cancel !== undefined) this.cancel(job.cancel.by);
    const timer = this.limitTime(job.timeoutMs, this.o.ranMs ?? 0);
    try {
      await this.carryOut();
    } finally {
      timer?.cancel();
    }
  }

  /** By this process's own clock: of a job that was taken over counts what was seen of it. */
  private limitTime(timeoutMs: number | undefined, ranMs: number): Timer | undefined {
    if (timeoutMs === undefined) return undefined;
    const late = `timed out after ${timeoutMs / 1_000} s`;
    if (ranMs >= timeoutMs) this.end(late, late);
    return this.o.bus.clock.after(Math.max(0, timeoutMs - ranMs), () => this.end(late, late));
  }

  private end(why: string, message: string): void {
    this.ending ??= why;
    this.cancelling.abort(message);
  }

  private async carryOut(): Promise<void> {
    const { job } = this.o;
    const subjects = job.kind === 'discover' ? (job.addresses ?? []) : job.nodes;
    const taken = this.o.claim.generation;
    if (taken > MOST_TAKES) {
      const message = `Given up: taken ${taken} times, and never brought to an end (last at ${job.task || 'its begin'}).`;
      const result: NodeResult = { ok: false, step: job.task || job.kind, message };
      await this.finish(message, Object.fromEntries(subjects.map((n) => [n, result])), true);
      return;
    }
    const done: StepDone[] = [];
    for (;;) {
      const { ending } = this;
      const next = nextStep({
        kind: job.kind,
        nodes: subjects,
        ...(job.services?.[0] !== undefined && { service: job.services[0] }),
        done,
        resumed: this.o.claim.generation > 1,
        ...(ending === undefined ? {} : { ending }),
      });
      if ('end' in next) {
        await this.finish(next.end === 'Errored' ? next.error : undefined, next.results, done.length > 0);
        return;
      }
      try {
        done.push(await this.step(next.run, next.nodes, next.cancellable, next.test));
      } catch (error) {
        const failure = MusterError.from(error);
        if (!isOfTheJob(failure)) throw failure;
        // Nothing ran in this step: the job cannot be carried out as it was asked for.
        const results = Object.fromEntries(
          subjects.map((n): [string, NodeResult] => [n, { ok: false, step: next.run, message: failure.message }]),
        );
        done.push({ step: next.run, cancelled: false, results });
        if (done.length === 1) {
          await this.finish(failure.message, results, false);
          return;
        }
      }
    }
  }

  private async step(step: Step, nodes: string[], cancellable: boolean, part?: TestRun): Promise<StepDone> {
    const recover = step === 'recover' ? await this.permitted(this.o.job.recover ?? [], nodes[0] ?? '') : undefined;
    if (recover !== undefined && recover.allowed.length === 0)
      return { step, cancelled: false, results: withRefused({}, nodes, recover) };
    // A recovery needs no such care: on its node each start has a lock and a generation of its own.
    const isResumed = this.o.claim.generation > 1 && this.playbooks.isFresh;
    if (isResumed && step !== 'recover') await this.playbooks.run('release', nodes, false);

    if (step === 'install') return this.install(nodes, cancellable);
    if (step === 'discover') this.discovery.begin();
    const { results, ended, facts, test } = await this.playbooks.run(step, nodes, cancellable, {
      ...(recover && { recover: recover.allowed }),
      ...(part && { test: part }),
    });
    if (step === 'discover') this.discovery.found(facts);
    if (ended === 'cancelled' || ended === 'time-limit') await this.playbooks.run('release', nodes, false);
    return {
      step,
      cancelled: ended === 'cancelled',
      ...(test && { test }),
      results: recover === undefined ? results : withRefused(results, nodes, recover),
    };
  }

  /** Agents for the hosts that were found; those that cannot have one do not keep the others. */
  private async install(addresses: string[], cancellable: boolean): Promise<StepDone> {
    const plan = await this.playbooks.plan([]);
    const install = await this.discovery.prepare(addresses, { nodes: plan.nodes, variables: runVariables(plan) });
    const ready = [...install.tasks.keys()];
    if (ready.length === 0) return { step: 'install', cancelled: false, results: install.refused };
    const { results, ended } = await this.playbooks.run('install', ready, cancellable, { install });
    if (ended === 'cancelled' || ended === 'time-limit') await this.playbooks.run('release', ready, false);
    const named = withNodes(results, install.tasks);
    return { step: 'install', cancelled: ended === 'cancelled', results: { ...install.refused, ...named } };
  }

  private permitted(tasks: RecoverTask[], node: string): Promise<StartAnswers> {
    const { bus } = this.o;
    return askStarts(tasks, node, (q) => bus.call('inventory.workloads.mayStart', q), bus.clock);
  }

  private async finish(
    failure: string | undefined,
    outcome: Record<string, NodeResult>,
    worked: boolean,
  ): Promise<void> {
    const { bus, claim } = this.o;
    const results = withHostKeys(outcome, this.playbooks.learned);
    const ended = await claim.write((job) => {
      const end = { by: claim, results, worked, at: bus.clock.wallMs() };
      return jobAfter(
        job,
        failure === undefined ? { kind: 'completed', ...end } : { kind: 'failed', error: failure, ...end },
      );
    });
    // What differs is read with the job: an event about each node stays small.
    for (const [node, { diff: _long, ...result }] of Object.entries(results))
      await bus.emit('job-node', ended.id, { job: ended.id, node, result }, { id: `job.${ended.id}.node.${node}` });
  }
}

/** Faults of the job itself, which another worker would meet just the same. */
const isOfTheJob = (e: MusterError): boolean =>
  e.code === 'BAD_REQUEST' || e.code === 'NODE_UNKNOWN' || e.code === 'CONFIG_INVALID' || e.code === 'COMMAND_FAILED';

function withHostKeys(
  results: Record<string, NodeResult>,
  learned: ReadonlyMap<string, string[]>,
): Record<string, NodeResult> {
  return Object.fromEntries(
    Object.entries(results).map(([node, result]) => {
      const hostKeys = learned.get(node);
      return [node, hostKeys === undefined ? result : { ...result, hostKeys }];
    }),
  );
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
