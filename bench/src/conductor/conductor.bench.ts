import { loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { MusterError } from '#contracts';
import { until } from '../../../lab/src/until.js';
import { median } from '../detect/kills.js';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { takeRounds, type Round, type Rounds } from '../rounds.js';
import { BusyFleet } from './busy-fleet.js';
import { PER_NODE } from './busy-records.js';
import { playedRounds } from './played-rounds.js';
import { unfinished } from './settled.js';

const NODES = 1_000;
const FULL = { seconds: 20, takeovers: 3, roundsMs: 60_000 };
const QUICK: typeof FULL = { seconds: 10, takeovers: 1, roundsMs: 20_000 };

/** A lease of 5 s is taken over when nothing was seen of its holder for 6.25 s. */
const LEASE_LIMIT_MS = 30_000;
const TAKEOVER_LIMIT_MS = 60_000;
const LOOK_MS = 10;

type Say = BenchOptions['say'];

interface Takeover extends Round {
  victim: string;
  /** From the kill until the lease shows another holder. */
  leaseMs: number;
  /** From that until every task has run to its end. */
  takeoverMs: number;
  /** The longest turn of the new conductor meanwhile. */
  turnMs: number;
}

/**
 * What one inventory takes for conducting a large fleet in which nothing happens, and how soon another one has looked at all
 * of it after the conductor was killed. A round by itself is taken in this process, in virtual time; the rest from real
 * processes: nats-server, detector, gateway, two inventories. In a sandbox.
 */
export async function conductorBench(o: BenchOptions): Promise<Metric[]> {
  const n = o.quick ? QUICK : FULL;
  const say: Say = (line) => o.say(`${line}  [load ${loadavg()[0]?.toFixed(1)}]`);
  const found: Metric[] = [];
  await o.attempt('rounds', async () => void found.push(...(await rounds(n.roundsMs, say))));
  const fleet = await BusyFleet.start(NODES, say);
  const attempt: typeof o.attempt = (part, work) =>
    o.attempt(part, async () => {
      try {
        await work();
      } catch (e) {
        const dead = fleet.dead();
        throw dead === '' ? e : new MusterError('COMMAND_FAILED', dead, {}, { cause: e });
      }
    });
  try {
    await attempt('conducting', async () => void found.push(...(await conducting(fleet, n.seconds, say))));
    await attempt('takeovers', async () => void found.push(...(await takeovers(fleet, n.takeovers, say))));
    return found;
  } finally {
    await fleet.stop();
  }
}

async function rounds(forMs: number, say: Say): Promise<Metric[]> {
  const cpuMs = await playedRounds({ nodes: NODES, perNode: PER_NODE, forMs });
  const p50 = median(cpuMs);
  const most = Math.max(...cpuMs);
  say(`a round of all tasks takes ${p50.toFixed(1)} ms of CPU, the dearest of ${cpuMs.length} ${most.toFixed(1)}`);
  const over = `${cpuMs.length} rounds, ${NODES} nodes, ${NODES * PER_NODE} workloads`;
  return [
    metric('conductor_round_cpu_ms', 'ms', p50, { goal: '< 50', over }),
    metric('conductor_round_max_cpu_ms', 'ms', most, { over }),
  ];
}

/** Both inventories follow the same records and hear the same reports: what the conductor takes more is for conducting. */
async function conducting(fleet: BusyFleet, seconds: number, say: Say): Promise<Metric[]> {
  await fleet.settled();
  const { conductor, standby, writes } = fleet;
  await fleet.longestTurnMs(conductor);
  const cpu = await fleet.cpuMsPerSecond(seconds);
  const turnMs = await fleet.longestTurnMs(conductor);
  const [own = NaN, others = NaN] = [cpu.get(conductor), cpu.get(standby)];
  const changed = fleet.writes - writes;
  const all = [...cpu].map(([name, ms]) => `${name} ${ms.toFixed(1)}`).join(', ');
  say(`CPU in ms a second: ${all}; ${conductor} conducts, longest turn ${turnMs.toFixed(0)} ms, ${changed} writes`);
  if (fleet.conductor !== conductor) throw new MusterError('COMMAND_FAILED', 'the lease has changed hands meanwhile');
  const over = `${NODES} nodes, ${NODES * PER_NODE} workloads, ${seconds} s, ${changed} records written`;
  return [
    metric('conducting_cpu_ms_per_s', 'ms/s', own - others, {
      over,
      peer: { name: 'the standby in all', value: others },
    }),
    metric('conductor_longest_turn_ms', 'ms', turnMs, { over }),
  ];
}

async function takeovers(fleet: BusyFleet, count: number, say: Say): Promise<Metric[]> {
  const all: Rounds<Takeover> = { done: [], void: 0 };
  const turn = {
    prepare: async (): Promise<string> => {
      await fleet.settled();
      return fleet.conductor;
    },
    measure: (victim: string) => takeOver(fleet, victim),
    after: (victim: string) => fleet.startAgain(victim),
    tell: (t: Takeover) =>
      `${t.victim} killed: lease after ${t.leaseMs.toFixed(0)} ms, all tasks ${t.takeoverMs.toFixed(0)} ms later, longest turn ${t.turnMs.toFixed(0)} ms`,
  };
  await takeRounds(turn, count, all, say);
  const voided = all.void > 0 ? `; ${all.void} more were void` : '';
  const over = `${all.done.length} kills of the conductor${voided}`;
  const p50 = (of: (t: Takeover) => number): number => median(all.done.map(of));
  return [
    metric(
      'takeover_ms',
      'ms',
      p50((t) => t.takeoverMs),
      { goal: '≤ 2000', over },
    ),
    metric('takeover_max_ms', 'ms', Math.max(...all.done.map((t) => t.takeoverMs)), { over }),
    metric('takeover_longest_turn_ms', 'ms', Math.max(...all.done.map((t) => t.turnMs)), { over }),
    metric(
      'killed_to_taken_over_ms',
      'ms',
      p50((t) => t.leaseMs + t.takeoverMs),
      { over },
    ),
  ];
}

async function takeOver(fleet: BusyFleet, victim: string): Promise<Takeover> {
  const { standby } = fleet;
  await fleet.longestTurnMs(standby);
  const [killedAt, since] = [performance.now(), Date.now()];
  const [{ at }] = await Promise.all([fleet.successorOf(victim, LEASE_LIMIT_MS), fleet.kill(victim)]);
  const shown = { victim, leaseMs: at - killedAt };
  try {
    await until('every task to have run to its end', TAKEOVER_LIMIT_MS, () => allDone(fleet, since), LOOK_MS);
    const takeoverMs = performance.now() - at;
    const told = (await fleet.status()).tasks ?? [];
    const lacking = unfinished(told, since);
    if (told.length === 0 || lacking.length > 0)
      throw new MusterError('COMMAND_FAILED', `the status says of ${lacking.join(', ') || 'no task'} that it has run`);
    return { ...shown, takeoverMs, turnMs: await fleet.longestTurnMs(standby) };
  } catch (e) {
    return { ...shown, takeoverMs: NaN, turnMs: NaN, failed: e as Error };
  }
}

async function allDone(fleet: BusyFleet, since: number): Promise<true> {
  const lacking = unfinished(await fleet.tasks(), since);
  if (lacking.length > 0) throw new MusterError('COMMAND_FAILED', `not yet: ${lacking.join(', ')}`);
  return true;
}
