import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { DetectionProfiles, MusterError } from '#contracts';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { AgentFleet, type BenchNode } from './agent-fleet.js';
import { footprint } from './footprint.js';
import { killInTurn, median, summary, taken, type Kills, type MortalFleet } from './kills.js';
import { ManyFleet } from './many-fleet.js';
import { SerfFleet } from './serf-fleet.js';
import { losing, wired } from './wires.js';

/** Kills in each fleet, seconds of each measurement. `--quick`: what fits in ten minutes. */
const full = { n3: 20, n10: 20, n32: 20, n1000: 20, fast: 20, serf: 20, loss: 600, footprint: 30 };
const quick: typeof full = { n3: 20, n10: 20, n32: 5, n1000: 5, fast: 8, serf: 4, loss: 120, footprint: 20 };

const { lan, fast } = DetectionProfiles;
/** Peers of an agent in a large fleet: as many as in a fleet of one more, where everybody watches everybody. */
const RINGS = 16;
/** Simulated reporters. */
const MANY = 1000;
const LOSS_PERCENT = 5;
const P50_GOAL = '≤ 3300';
const TOLD_MS = 20_000;

type Say = BenchOptions['say'];
/** What is found is kept at once: what fails later does not take it along. */
type Keep = (...metrics: Metric[]) => void;

/**
 * From a host's death to the verdict, on real agents, a real nats-server, inventory and detector, each host with a
 * network namespace of its own, and beside it what Serf does with the same hosts. In a sandbox.
 */
export async function detectBench(o: BenchOptions): Promise<Metric[]> {
  const n = o.quick ? quick : full;
  const say: Say = (line) => o.say(`${line}  [load ${loadavg()[0]?.toFixed(1)}]`);
  const found: Metric[] = [];
  const keep: Keep = (...metrics) => void found.push(...metrics);

  await o.attempt('3 agents', () =>
    withFleet(3, async (fleet) => keep(...times('n3', await kills(fleet, n.n3, say), P50_GOAL))),
  );
  await o.attempt('10 agents', () =>
    withFleet(10, async (fleet) => {
      keep(...times('n10', await kills(fleet, n.n10, say), P50_GOAL));
      keep(...times('fast', await fastKills(fleet, n.fast, say), '≤ 1800'));
      keep(await falseVerdicts(fleet, n.loss, say));
    }),
  );
  await o.attempt(`${RINGS + 1} agents`, () =>
    withFleet(RINGS + 1, async (fleet) => keep(...(await footprints(fleet, n.footprint, say)))),
  );
  await o.attempt('32 agents', () =>
    withFleet(32, async (fleet) => keep(...times('n32', await kills(fleet, n.n32, say), P50_GOAL))),
  );
  await o.attempt(`${MANY} simulated reporters`, () =>
    withMany(async (fleet) => {
      keep(await detectorCpu(fleet, 'detector_cpu_1000_birth', n.footprint, say));
      await fleet.settle();
      keep(await detectorCpu(fleet, 'detector_cpu_1000', n.footprint, say, '< 0.25'));
      keep(...times('n1000', await kills(fleet, n.n1000, say), P50_GOAL));
    }),
  );
  for (const count of o.own ? [] : [3, 10])
    await o.attempt(`${count} Serf agents`, async () => keep(await serfKills(count, n.serf, say)));
  return [...found, ...compared(found)];
}

/** What two parts give together, where each of them gave its own. */
function compared(found: readonly Metric[]): Metric[] {
  const named = (name: string): Metric | undefined => found.find((m) => m.name === name);
  const [ten, many, serf] = [named(p50('n10')), named(p50('n1000')), named('serf_p50_ms_n10')];
  const metrics: Metric[] = [];
  if (ten && many)
    metrics.push(
      metric('killed_to_down_p50_more_ms_n1000', 'ms', many.value - ten.value, {
        goal: '≤ 1000',
        over: `${many.over}, ${ten.over} among 10`,
      }),
    );
  if (ten && serf)
    metrics.push(
      metric('ratio_to_serf_n10', '', ten.value / serf.value, {
        goal: '≤ 0.6',
        over: `${ten.over}, ${serf.over} of Serf's`,
      }),
    );
  return metrics;
}

function withFleet<T>(count: number, work: (fleet: AgentFleet) => Promise<T>): Promise<T> {
  return wired(count, async (hosts) => {
    const fleet = await AgentFleet.start(hosts);
    try {
      return await work(fleet);
    } finally {
      await fleet.stop();
    }
  });
}

async function kills<N extends { name: string }>(fleet: MortalFleet<N>, count: number, say: Say): Promise<Kills> {
  const done = await killInTurn(fleet, count, lan.interval);
  say(`${fleet.nodes.length} nodes, ${summary(done)}`);
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

/**
 * Whatever is said of a node that lives, but that it is UP. Zero tells something only where packets were lost and
 * somebody judged: a death under the same loss must still be told.
 */
async function falseVerdicts(fleet: AgentFleet, seconds: number, say: Say): Promise<Metric> {
  const hosts = fleet.nodes.map(({ host }) => host);
  const from = fleet.watch.verdicts.length;
  let wrong: typeof fleet.watch.verdicts = [];
  const lost = await losing(hosts, LOSS_PERCENT, async () => {
    await pause(seconds * 1000);
    wrong = fleet.watch.verdicts.slice(from).filter(({ verdict }) => verdict !== 'UP');
    for (const { node, verdict, reason } of wrong) say(`  false: ${node} ${verdict}: ${reason}`);
    const victim = fleet.nodes[0] as BenchNode;
    await Promise.all([fleet.watch.next(victim.name, 'DOWN', TOLD_MS), fleet.die(victim)]);
  });
  if (!(lost > 0)) throw new MusterError('COMMAND_FAILED', 'no packet was lost: nft did not do as it was told');
  const over = `${hosts.length} nodes, ${seconds} s, ${lost} packets lost`;
  say(`${over}, ${LOSS_PERCENT} % of all: ${wrong.length} false verdicts, and a death was told`);
  return metric('false_verdicts_5pct_loss', '', wrong.length, { goal: '= 0', over });
}

async function footprints(fleet: AgentFleet, seconds: number, say: Say): Promise<Metric[]> {
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

async function withMany(work: (fleet: ManyFleet) => Promise<void>): Promise<void> {
  const fleet = await ManyFleet.start(MANY);
  try {
    await work(fleet);
  } finally {
    await fleet.stop();
  }
}

async function detectorCpu(fleet: ManyFleet, name: string, seconds: number, say: Say, goal?: string): Promise<Metric> {
  const cpu = await fleet.cpu(seconds);
  const shares = [...cpu].map(([name, share]) => `${name} ${(share * 100).toFixed(1)} %`).join(', ');
  say(`${MANY} simulated reporters, ${name}: ${shares} of a core`);
  const over = `${MANY} reporters, ${seconds} s`;
  return metric(name, 'cores', cpu.get('detector-1') ?? NaN, { ...(goal !== undefined && { goal }), over });
}

function serfKills(count: number, kills: number, say: Say): Promise<Metric> {
  return wired(count, async (hosts) => {
    const fleet = await SerfFleet.start(hosts);
    try {
      const ms = await fleet.killInTurn(kills);
      say(`Serf, ${count} agents, ${summary({ ms, void: 0, wrong: [] })}`);
      return metric(`serf_p50_ms_n${count}`, 'ms', median(ms), { over: `${ms.length} kills` });
    } finally {
      await fleet.stop();
    }
  });
}

const p50 = (size: string): string => `killed_to_down_p50_ms_${size}`;

function times(size: string, kills: Kills, goal: string): Metric[] {
  const { ms } = kills;
  const over = taken(kills);
  return [
    metric(p50(size), 'ms', median(ms), { goal, over }),
    metric(`killed_to_down_min_ms_${size}`, 'ms', Math.min(...ms), { over }),
    metric(`killed_to_down_max_ms_${size}`, 'ms', Math.max(...ms), { over }),
  ];
}
