import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { DetectionProfiles } from '#contracts';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { AgentFleet } from './agent-fleet.js';
import { footprint } from './footprint.js';
import { killInTurn, median, summary, type Kills } from './kills.js';
import { ManyFleet } from './many-fleet.js';
import { SerfFleet } from './serf-fleet.js';
import { lose, loseNothing } from './wires.js';

/** Kills in each fleet, seconds of each measurement. `--quick`: what fits in ten minutes. */
const full = { n3: 20, n10: 20, n32: 20, n1000: 20, fast: 20, serf: 20, loss: 600, footprint: 30 };
const quick: typeof full = { n3: 5, n10: 20, n32: 5, n1000: 5, fast: 8, serf: 4, loss: 120, footprint: 20 };

const { lan, fast } = DetectionProfiles;
/** Peers of an agent in a large fleet: as many as in a fleet of one more, where everybody watches everybody. */
const RINGS = 16;
/** Simulated reporters. */
const MANY = 1000;
const LOSS_PERCENT = 5;
const P50_GOAL = '≤ 3300';

type Say = BenchOptions['say'];

/**
 * From a host's death to the verdict, on real agents, a real nats-server, inventory and detector, each host with a
 * network namespace of its own, and beside it what Serf does with the same hosts. In a sandbox.
 */
export async function detectBench(o: BenchOptions): Promise<Metric[]> {
  const n = o.quick ? quick : full;
  const say: Say = (line) => o.say(`${line}  [load ${loadavg()[0]?.toFixed(1)}]`);
  const small = await withFleet(3, (fleet) => kills(fleet, n.n3, say));
  const ten = await withFleet(10, async (fleet) => ({
    lan: await kills(fleet, n.n10, say),
    fast: await fastKills(fleet, n.fast, say),
    loss: await falseVerdicts(fleet, n.loss, say),
  }));
  const rings = await withFleet(RINGS + 1, (fleet) => taken(fleet, n.footprint, say));
  const large = await withFleet(32, (fleet) => kills(fleet, n.n32, say));
  const many = await manyKills(n.n1000, n.footprint, say);
  const serf3 = await serf(3, n.serf, say);
  const serf10 = await serf(10, n.serf, say);
  return [
    ...times('n3', small, P50_GOAL),
    ...times('n10', ten.lan, P50_GOAL),
    ...times('n32', large, P50_GOAL),
    ...times('n1000', many.kills, P50_GOAL),
    ...times('fast', ten.fast, '≤ 1800'),
    metric('ratio_to_serf_n10', '', median(ten.lan.ms) / median(serf10), {
      goal: '≤ 0.6',
      over: `${ten.lan.ms.length} kills, ${serf10.length} of Serf's`,
    }),
    metric('serf_p50_ms_n3', 'ms', median(serf3), { over: `${serf3.length} kills` }),
    metric('serf_p50_ms_n10', 'ms', median(serf10), { over: `${serf10.length} kills` }),
    metric('false_verdicts_5pct_loss', '', ten.loss, { goal: '= 0', over: `10 nodes, ${n.loss} s` }),
    metric('detector_cpu_1000', 'cores', many.detector, {
      goal: '< 0.25',
      over: `${MANY} reporters, ${n.footprint} s`,
    }),
    ...rings,
  ];
}

async function withFleet<T>(count: number, work: (fleet: AgentFleet) => Promise<T>): Promise<T> {
  const fleet = await AgentFleet.start(count);
  try {
    return await work(fleet);
  } finally {
    await fleet.stop();
  }
}

async function kills(fleet: AgentFleet, count: number, say: Say): Promise<Kills> {
  const done = await killInTurn(fleet, count, lan.interval);
  say(`${fleet.nodes.length} agents, ${summary(done)}`);
  return done;
}

/** The profile is changed while everything runs, and changed back. */
async function fastKills(fleet: AgentFleet, count: number, say: Say): Promise<Kills> {
  await fleet.change({ profile: 'fast' });
  const done = await killInTurn(fleet, count, fast.interval);
  say(`${fleet.nodes.length} agents, profile fast, ${summary(done)}`);
  await fleet.change({ profile: 'lan' });
  return done;
}

/** Whatever is said of a node that lives, but that it is UP. */
async function falseVerdicts(fleet: AgentFleet, seconds: number, say: Say): Promise<number> {
  const hosts = fleet.nodes.map(({ host }) => host);
  await lose(hosts, LOSS_PERCENT);
  const from = fleet.watch.verdicts.length;
  await pause(seconds * 1000);
  const wrong = fleet.watch.verdicts.slice(from).filter(({ verdict }) => verdict !== 'UP');
  await loseNothing(hosts);
  say(`${hosts.length} agents, ${LOSS_PERCENT} % of all packets lost for ${seconds} s: ${wrong.length} false verdicts`);
  for (const { node, verdict, reason } of wrong) say(`  ${node} ${verdict}: ${reason}`);
  return wrong.length;
}

async function taken(fleet: AgentFleet, seconds: number, say: Say): Promise<Metric[]> {
  const { cpu, rssMb, packets, bytes } = await footprint(fleet.pids, seconds);
  const over = `${fleet.nodes.length} agents, ${seconds} s`;
  say(`${over}: ${(cpu * 100).toFixed(1)} % of a core, ${rssMb.toFixed(0)} MB, ${packets.toFixed(0)} packets/s`);
  return [
    metric('agent_rss_mb', 'MB', rssMb, { goal: '< 60', over }),
    metric('agent_cpu', 'cores', cpu, { goal: '< 0.04', over }),
    metric('packets_per_node_s', '1/s', packets, { over }),
    metric('bytes_per_node_s', 'B/s', bytes, { over }),
  ];
}

async function manyKills(count: number, seconds: number, say: Say): Promise<{ kills: Kills; detector: number }> {
  const fleet = await ManyFleet.start(MANY);
  try {
    const cpu = await fleet.cpu(seconds);
    const shares = [...cpu].map(([name, share]) => `${name} ${(share * 100).toFixed(1)} %`).join(', ');
    say(`${MANY} simulated reporters: ${shares} of a core`);
    const done = await killInTurn(fleet, count, lan.interval);
    say(`${MANY} simulated reporters, ${summary(done)}`);
    return { kills: done, detector: cpu.get('detector-1') ?? NaN };
  } finally {
    await fleet.stop();
  }
}

async function serf(count: number, kills: number, say: Say): Promise<number[]> {
  const fleet = await SerfFleet.start(count);
  try {
    const ms = await fleet.killInTurn(kills);
    say(`Serf, ${count} agents, ${summary({ ms, void: 0, wrong: [] })}`);
    return ms;
  } finally {
    await fleet.stop();
  }
}

function times(size: string, { ms }: Kills, goal: string): Metric[] {
  const over = `${ms.length} kills`;
  return [
    metric(`killed_to_down_p50_ms_${size}`, 'ms', median(ms), { goal, over }),
    metric(`killed_to_down_min_ms_${size}`, 'ms', Math.min(...ms), { over }),
    metric(`killed_to_down_max_ms_${size}`, 'ms', Math.max(...ms), { over }),
  ];
}
