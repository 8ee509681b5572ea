import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '#bus';
import { startTestCluster, streamLeader, type ClusterMember } from '#bus/testing/nats-cluster.js';
import { newerNats } from '#bus/testing/newer-nats.js';
import { MusterError } from '#contracts';
import { median } from '../detect/kills.js';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { takeRounds, type Round, type Rounds } from '../rounds.js';
import { BUCKETS, editingBus, Edits, whole } from './editing.js';
import { givenUp, longestWaitMs, wronglyRefused } from './edits.js';

const FULL = 20;
const QUICK = 3;
/** Before the kill, ms. */
const WARM_MS = 500;
/** From the kill on, ms: longer than the longest election timer of a nats-server, which is 9 s. */
const AFTER_MS = 12_000;

interface Loss extends Round {
  victim: string;
  /** How many of the streams that are written to it led. */
  led: number;
  /** The longest wait of any writer. */
  waitMs: number;
}

/**
 * Three nats-servers on this machine, each killed with -9 in its turn and started again, under edits of four buckets by
 * the bus of inventory: how long an edit waits at most, and whether each that was acknowledged is there at the end.
 */
export async function serverLossBench(o: BenchOptions): Promise<Metric[]> {
  const newer = newerNats();
  if ('missing' in newer) throw new MusterError('COMMAND_FAILED', `no nats-server for a cluster: ${newer.missing}`);
  const count = o.quick ? QUICK : FULL;
  const cluster = await startTestCluster({ program: newer.program, users: true });
  let bus: Bus | undefined;
  try {
    bus = await editingBus(cluster);
    const edits = new Edits(bus);
    const rounds: Rounds<Loss> = { done: [], void: 0 };
    const loads: number[] = [];
    const own = bus;
    const turn = {
      prepare: async (round: number): Promise<ClusterMember> => {
        await whole(own);
        return cluster.members[round % cluster.members.length] as ClusterMember;
      },
      measure: (victim: ClusterMember) => lose(own, edits, victim),
      after: async (victim: ClusterMember) => {
        await victim.start();
        await whole(own);
      },
      tell: (l: Loss) => `${l.victim} killed, which led ${l.led} of ${BUCKETS.length}: ${l.waitMs.toFixed(0)} ms`,
    };
    await o.attempt('kills', () =>
      takeRounds(turn, count, rounds, (line) => {
        const [load = 0] = loadavg();
        loads.push(load);
        o.say(`${line}  [load ${load.toFixed(1)}]`);
      }),
    );
    return await figures(rounds, edits, loads);
  } finally {
    await bus?.close();
    await cluster.stop();
  }
}

async function lose(bus: Bus, edits: Edits, victim: ClusterMember): Promise<Loss> {
  const leaders = await Promise.all(BUCKETS.map((b) => streamLeader(bus, `KV_${b}`)));
  const writing = edits.begin();
  await pause(WARM_MS);
  await victim.kill();
  await pause(AFTER_MS);
  const made = await writing.end();
  const waits = BUCKETS.map((b) => longestWaitMs(made.filter((e) => e.bucket === b)));
  return { victim: victim.name, led: leaders.filter((l) => l === victim.name).length, waitMs: Math.max(...waits) };
}

async function figures(rounds: Rounds<Loss>, edits: Edits, loads: readonly number[]): Promise<Metric[]> {
  const { done } = rounds;
  if (done.length === 0) return [];
  const voided = rounds.void > 0 ? `; ${rounds.void} more were void` : '';
  const load = `load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  const over = `${done.length} kills of one of 3 servers${voided}; ${load}`;
  const waits = done.map((l) => l.waitMs);
  const led = done.filter((l) => l.led > 0).map((l) => l.waitMs);
  const acknowledged = edits.all.filter((e) => e.revision !== undefined).length;
  const lost = await edits.lost();
  return [
    metric('write_wait_max_ms', 'ms', Math.max(...waits), { goal: '≤ 7000', over }),
    metric('write_wait_p50_ms', 'ms', median(waits), { over: `${over}; the longest of each` }),
    ...(led.length > 0
      ? [metric('write_wait_leader_p50_ms', 'ms', median(led), { over: `${led.length} kills of a leader` })]
      : []),
    metric('edits_acknowledged', '', acknowledged, { goal: '≥ 1000', over: 'void rounds too' }),
    metric('edits_lost', '', lost.length, { goal: '= 0', over: `${acknowledged} acknowledged, read back` }),
    metric('edits_refused_wrongly', '', wronglyRefused(edits.all).length, { goal: '= 0', over: 'void rounds too' }),
    metric('edits_given_up', '', givenUp(edits.all).length, { over: 'after 12 s; void rounds too' }),
  ];
}
