import { parse } from 'yaml';
import type { NodeResult, RecoverTask } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { AnsibleRunOptions } from '../../../apps/provisioner/src/ansible/ansible-run.js';
import type { PlayedPlaybook, Results } from '../hands/played-ansible.js';
import { NS_PER_MS, type VirtualTime } from '../time/virtual-time.js';
import type { OrderOutcome, PlayedHost } from './played-host.js';

/** What every node is set up from. */
export const CHECKSUM = 'sum';

/** Until ssh gives up a host that does not answer, ms. */
const CONNECT_MS = 5_000;
/** Until a connection counts as broken whose host is silent, ms. */
const SILENT_MS = 6_000;
/** Of the nodes of a check or a site run, each. */
const FAILURES = 0.05;

export interface HostPlaybooksParts {
  time: VirtualTime;
  dice: Dice;
  hosts: ReadonlyMap<string, PlayedHost>;
  /** A cleanup begins. */
  cleaning: (host: PlayedHost) => void;
}

interface RunVars {
  muster_job: string;
  muster_recover?: RecoverTask[];
}

const varsOf = (o: AnsibleRunOptions): RunVars => parse(o.extraVars) as RunVars;

/** The job that a run is of. */
export const jobOf = (o: AnsibleRunOptions): string => varsOf(o).muster_job;

/** Playbooks that do to hosts what they are for. What was begun there goes on where Ansible is killed. */
export function hostPlaybooks(p: HostPlaybooksParts): PlayedPlaybook {
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => void p.time.schedule(ms * NS_PER_MS, 'ansible', resolve));
  const between = (least: number, most: number): number => least + p.dice.roll() * (most - least);

  const onHost = async (o: AnsibleRunOptions, name: string): Promise<NodeResult> => {
    const { step } = o;
    const host = p.hosts.get(name);
    if (host?.speaks !== true) {
      await wait(CONNECT_MS);
      return unreachable(step);
    }
    await wait(between(150, 500));
    let over = false;
    const done = (step === 'recover' ? recover(o, host) : changed(o, host)).finally(() => (over = true));
    return Promise.race([done, lost(host, () => over).then(() => unreachable(step))]);
  };

  const recover = async (o: AnsibleRunOptions, host: PlayedHost): Promise<NodeResult> => {
    const workloads: NonNullable<NodeResult['workloads']> = {};
    for (const task of varsOf(o).muster_recover ?? []) {
      const isStop = task.stop === true;
      const outcome: OrderOutcome = await (isStop
        ? host.stop(task.workload, task.generation)
        : host.start(task.workload, task.generation));
      workloads[task.workload] = {
        started: outcome.ok && !isStop,
        ...(outcome.ok && isStop && { stopped: true }),
        reason: outcome.reason,
        ...(outcome.seen !== undefined && { seen: outcome.seen }),
      };
    }
    const failed = Object.values(workloads).flatMap((w) => (w.started || w.stopped === true ? [] : [w.reason]));
    const message = failed.join('; ');
    return { ok: failed.length === 0, step: 'recover', workloads, ...(failed.length > 0 && { message }) };
  };

  const changed = async ({ step }: AnsibleRunOptions, host: PlayedHost): Promise<NodeResult> => {
    if (step === 'cleanup') {
      p.cleaning(host);
      await wait(between(300, 2_000));
      host.cleanUp();
      return { ok: true, step };
    }
    const [least, most] = step === 'site' ? [2_000, 8_000] : [200, 1_500];
    await wait(between(least, most));
    if (step === 'release') return { ok: true, step };
    if (p.dice.chance(FAILURES)) return { ok: false, step, failedTask: 'played', message: 'failed' };
    if (step === 'check') {
      const { drifted } = host;
      const why = drifted ? 'its configuration is another' : '';
      const digest = drifted ? { digest: 'another' } : {};
      const finding = { service: 'base', result: drifted ? ('drift' as const) : ('ok' as const), why, ...digest };
      return { ok: true, step, check: { findings: [finding], checksum: CHECKSUM } };
    }
    host.drifted = false;
    return { ok: true, step, checksum: CHECKSUM, services: ['base'] };
  };

  /** Resolves when nothing was heard of it for so long, or it is in another boot. */
  const lost = async (host: PlayedHost, isOver: () => boolean): Promise<void> => {
    const { bootId } = host;
    for (let silentMs = 0; silentMs < SILENT_MS && !isOver();) {
      await wait(1_000);
      silentMs = host.speaks && host.bootId === bootId ? 0 : silentMs + 1_000;
    }
  };

  return (o, through) => {
    void Promise.all(o.nodes.map(async (name) => [name, await onHost(o, name)] as const)).then((told) =>
      through(Object.fromEntries(told) as Results),
    );
  };
}

const unreachable = (step: string): NodeResult => ({
  ok: false,
  step,
  unreachable: true,
  message: 'ssh: no route to host',
});
