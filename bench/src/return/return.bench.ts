import { loadavg } from 'node:os';
import { median } from '../detect/kills.js';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { takeRounds, takenFrom, type Rounds } from '../rounds.js';
import { ReturningFleet, type Absent, type Return } from './returning-fleet.js';
import type { ReturnKind } from './traces.js';

const HOSTS = 5;
/** Rounds of each kind; all of them fit in 25 minutes on a machine that is not busy, `--quick` in eight. */
const FULL = 10;
const QUICK = 3;

const kinds: { kind: ReturnKind; what: string }[] = [
  { kind: 'check', what: 'nothing changed: checked' },
  { kind: 'resetup', what: 'a service broken: all are set up again' },
  { kind: 'partial', what: 'a service drifted: it alone is set up again' },
];

/**
 * How long a host is out of service after it is heard again: with nothing changed, with a service broken, and with one
 * drifted that may be set up by itself. Beside each what ansible-playbook takes for the same services on the same host
 * without Muster, in the same round. In a sandbox.
 */
export async function returnBench(o: BenchOptions): Promise<Metric[]> {
  const count = o.quick ? QUICK : FULL;
  const say = (line: string): void => o.say(`${line}  [load ${loadavg()[0]?.toFixed(1)}]`);
  const found = new Map<ReturnKind, Rounds<Return>>();
  await o.attempt('fleet', () =>
    ReturningFleet.with(HOSTS, say, async (fleet) => {
      const { hosts } = fleet;
      for (const { kind, what } of kinds) {
        const rounds: Rounds<Return> = { done: [], void: 0 };
        found.set(kind, rounds);
        const turn = {
          prepare: (round: number) => fleet.leave(hosts[round % hosts.length] as string, kind),
          measure: (absent: Absent) => fleet.comeBack(absent, kind),
          after: () => fleet.settled(),
          tell,
        };
        await o.attempt(kind, () => takeRounds(turn, count, rounds, (line) => say(`${what}: ${line}`)));
      }
    }),
  );
  return [...found].flatMap(([kind, rounds]) => (rounds.done.length === 0 ? [] : figures(kind, rounds)));
}

function figures(kind: ReturnKind, rounds: Rounds<Return>): Metric[] {
  const { done } = rounds;
  const over = takenFrom(rounds, ['return', 'returns'], HOSTS);
  const p50 = (of: (r: Return) => number): number => median(done.map(of));
  const bare = p50((r) => r.bareMs);
  return [
    metric(
      `return_${kind}_ms`,
      'ms',
      p50((r) => r.servedMs),
      {
        over: `${over}; p50, heard again to in service`,
        peer: { name: 'ansible-playbook by hand', value: bare },
      },
    ),
    metric(`return_${kind}_max_ms`, 'ms', Math.max(...done.map((r) => r.servedMs)), { over }),
    metric(
      `return_${kind}_ansible_ms`,
      'ms',
      p50((r) => r.ansibleMs),
      { over: `${over}; p50, logs of its jobs` },
    ),
    metric(
      `return_${kind}_ansible_share`,
      '',
      p50((r) => r.ansibleMs / r.servedMs),
      { over },
    ),
    metric(
      `return_${kind}_ratio_to_bare_ansible`,
      '',
      p50((r) => r.servedMs / r.bareMs),
      {
        over: `${over}; p50 of the rounds`,
      },
    ),
    metric(
      `return_${kind}_healed_to_heard_ms`,
      'ms',
      p50((r) => r.heardMs),
      { over: `${over}; p50, as published` },
    ),
    metric(`return_${kind}_void_rounds`, '', rounds.void, { over }),
  ];
}

const tell = ({ host, heardMs, servedMs, ansibleMs, bareMs }: Return): string =>
  `${host} heard ${heardMs.toFixed(0)} ms after its cables, in service ${servedMs.toFixed(0)} ms later; Ansible ` +
  `${ansibleMs.toFixed(0)} ms, by hand ${bareMs.toFixed(0)} ms`;
