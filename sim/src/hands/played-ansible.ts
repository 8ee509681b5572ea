import type { Dice } from '#contracts/testing/dice.js';
import type { AnsibleHost } from '../../../apps/provisioner/src/ansible/ansible-host.js';
import type { RunEnd, Step } from '../../../apps/provisioner/src/ansible/ansible-events.js';
import type { AnsibleOutcome, AnsibleRunOptions } from '../../../apps/provisioner/src/ansible/ansible-run.js';
import type { Life } from '../process/life.js';
import type { VirtualTime } from '../time/virtual-time.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import { runUnderGuard, type GuardEnd } from './played-guard.js';

export interface PlayedAnsibleParts {
  time: VirtualTime;
  life: Life;
  dice: Dice;
  /** This machine cannot run playbooks now. */
  isBroken: () => boolean;
  /** A playbook begins on these nodes; told is its end. */
  begins: (o: AnsibleRunOptions) => (how: GuardEnd) => void;
  /** What becomes of it, told when it is through. What it has begun on its nodes is theirs: it goes on where it is killed. */
  play: PlayedPlaybook;
}

export type Results = AnsibleOutcome['results'];
export type PlayedPlaybook = (o: AnsibleRunOptions, through: (results: Results) => void) => void;

/** Least and most that a playbook takes, ms. */
const DURATIONS: Record<Step, readonly [least: number, most: number]> = {
  site: [2_000, 15_000],
  cleanup: [500, 5_000],
  check: [300, 2_000],
  recover: [300, 1_500],
  discover: [300, 2_000],
  install: [1_000, 4_000],
  release: [100, 500],
  'service-test': [2_000, 15_000],
};

/** Of the nodes of a playbook, each. */
const FAILURES = 0.1;

/** A playbook that takes its time, and succeeds or fails as chance has it. */
export const drawnPlaybook =
  (time: VirtualTime, dice: Dice): PlayedPlaybook =>
  ({ step, nodes }, through) => {
    const [least, most] = DURATIONS[step];
    time.schedule((least + dice.roll() * (most - least)) * NS_PER_MS, `${step} is through`, () =>
      through(
        Object.fromEntries(nodes.map((node) => [node, resultOf(step, step === 'release' || !dice.chance(FAILURES))])),
      ),
    );
  };

/** Ansible under the guard, as one provisioner has it. */
export class PlayedAnsible implements AnsibleHost {
  constructor(private readonly p: PlayedAnsibleParts) {}

  whyUnfit(): Promise<string | undefined> {
    return this.p.life.call('ansible.whyUnfit', () =>
      Promise.resolve(this.p.isBroken() ? 'ansible-playbook cannot be started' : undefined),
    );
  }

  missingContent(): undefined {
    return undefined;
  }

  services(): Promise<[]> {
    return Promise.resolve([]);
  }

  knownHosts(): undefined {
    return undefined;
  }

  agentArchive(): Promise<never> {
    return Promise.reject(new Error('no agents are installed in this simulation'));
  }

  removeAbandoned(): Promise<void> {
    return this.p.life.call('ansible.removeAbandoned', () => Promise.resolve());
  }

  run(o: AnsibleRunOptions): Promise<AnsibleOutcome> {
    return this.p.life.call(`ansible.${o.step}`, () => this.playbook(o));
  }

  private async playbook(o: AnsibleRunOptions): Promise<AnsibleOutcome> {
    const { time, life, dice } = this.p;
    const begun = life.clock.monotonicNs();
    const hardEnd = begun + BigInt(o.limitMs * NS_PER_MS);
    let results: Results = {};
    let ends: ((how: GuardEnd) => void) | undefined;
    const how = await runUnderGuard(time, life, {
      name: `${life.process} ${o.step} ${o.nodes.join(' ')}`,
      untilNs: () => (o.leaseUntil() < hardEnd ? o.leaseUntil() : hardEnd),
      signal: o.signal,
      guardMs: 50,
      startMs: 300 + dice.roll() * 300,
      orphanMs: dice.chance(0.5) ? 0 : dice.roll() * 5_000,
      begin: (exit) => {
        ends = this.p.begins(o);
        this.p.play(o, (told) => {
          results = told;
          exit();
        });
        life.act(`ansible.${o.step} is under way`, () => undefined);
      },
      over: (how) => ends?.(how),
    });
    o.onLine(`played ${o.step}: ${how}`);
    const end: RunEnd = { exitCode: how === 'exit' ? 0 : null, tail: '' };
    if (how === 'killed' && o.signal.aborted) end.ended = 'cancelled';
    else if (how !== 'exit') end.ended = life.clock.monotonicNs() >= hardEnd ? 'time-limit' : 'lease-lost';
    // One that was killed has told nothing.
    if (how !== 'exit') results = {};
    for (const node of o.nodes) results[node] ??= { ok: false, step: o.step, message: `ended: ${how}` };
    const tookMs = Math.round(Number(life.clock.monotonicNs() - begun) / NS_PER_MS);
    return { results, facts: new Map(), learned: new Map(), end, tookMs };
  }
}

const resultOf = (step: Step, ok: boolean) =>
  ok ? { ok, step } : { ok, step, failedTask: 'played', message: 'failed' };
