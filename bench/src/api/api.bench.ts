import type { EventEmitter } from 'node:events';
import autocannon from 'autocannon';
import { MusterError, type ServiceName } from '#contracts';
import { ControlPlane } from '../control-plane.js';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { discover, infoOfNames } from './old-client.js';
import { startBarePath } from './bare-path.js';
import { natsRoundTrips } from './nats-peer.js';
import { paced } from './paced.js';
import { standInWorker } from '../worker-stand-in.js';

const SERVICES: readonly ServiceName[] = ['inventory', 'inventory', 'gateway'];
const CONNECTIONS = 50;
/** `warmUp`: before each measurement, unmeasured: what is measured is code that has run, over connections that stand. */
const FULL = { measured: 8, warmUp: 3 };
const QUICK = { measured: 2, warmUp: 1 };
type Seconds = typeof FULL;
/** Of lists, some ten a second: fewer than 300 have no 99th percentile but their longest. */
const MANY_LISTS = { measured: 32, warmUp: 3 };
/** A list is long work; ten people who look at once are many. */
const LIST_CONNECTIONS = 10;
const FEW = 1_000;
const MANY = 10_000;
const OPERATIONS = 2_000;
const WARM_UP_OPERATIONS = 500;
/** Per second: as fast as people and schedulers may come, not as fast as they can be served. */
const PACE = 50;
const PACED_OPERATIONS = 400;
/** Once a second. */
const BURSTS = 8;

/** Requests through gateway → NATS → inventory, as production runs them: real server, real users, two inventories. */
export async function apiBench(o: BenchOptions): Promise<Metric[]> {
  const plane = await ControlPlane.start(SERVICES);
  const metrics: Metric[] = [];
  // A process that has died is the reason of all that comes after it.
  const attempt: BenchOptions['attempt'] = (part, work) =>
    o.attempt(part, async () => {
      try {
        await work();
      } catch (e) {
        const dead = plane.dead();
        throw dead === '' ? e : new MusterError('COMMAND_FAILED', dead, {}, { cause: e });
      }
    });
  try {
    const worker = await standInWorker(await plane.bus('provisioner'));
    try {
      await measure(plane, { ...o, attempt }, metrics);
    } finally {
      await worker.close();
    }
  } finally {
    await plane.stop();
  }
  return metrics;
}

/** What is found is in `metrics` at once: a part that fails takes nothing of it away. */
async function measure(plane: ControlPlane, { say, attempt, quick }: BenchOptions, metrics: Metric[]): Promise<void> {
  const next = commissions();
  const seconds = quick ? QUICK : FULL;
  const waited: number[] = [];
  await attempt(`reads of one node of ${FEW}`, async () => {
    waited.push(...(await discover(plane.api, 0, FEW)));
    const alone = await natsRoundTrips(plane, CONNECTIONS, seconds.measured);
    say(`NATS alone: ${alone.toFixed(0)} round trips/s with ${CONNECTIONS} in flight`);
    const peer = await bareReads(plane, seconds, say);
    metrics.push(...(await readNodes(plane, peer, seconds, say)));
  });
  await attempt(`${FEW} names in one info/nodes`, async () => {
    metrics.push(metric('info_nodes_1000_ms', 'ms', await infoOfNames(plane.api, FEW), { goal: '< 200' }));
  });
  await attempt(`lists of ${FEW}`, async () => {
    const few = { path: `/v1/nodes?limit=${FEW}`, connections: LIST_CONNECTIONS, goal: 200 };
    metrics.push(await list(plane, FEW, { ...few, seconds }, say));
  });
  await attempt('operations', async () => {
    metrics.push(...(await pacedOperations(plane, next, seconds, say)));
  });
  await attempt(`events of ${FEW} nodes`, async () => {
    waited.push(...(await discover(plane.api, FEW, MANY)));
    const over = `${waited.length} events`;
    metrics.push(metric('monitor_event_1000_max_ms', 'ms', Math.max(...waited), { goal: '< 250', over }));
  });
  await attempt(`lists of ${MANY}`, async () => {
    const long = { path: '/v1/nodes', connections: 1, goal: 200, seconds: quick ? QUICK : MANY_LISTS };
    metrics.push(await list(plane, MANY, long, say));
  });
  await attempt('operations at the limit', async () => {
    metrics.push(...(await saturatedOperations(plane, next, seconds, say)));
  });
}

/** Reads of a node, each of another than the one before. */
const reads = (): autocannon.Request[] => [
  sends(oneByOne((n) => ({ method: 'GET', path: `/v1/nodes/bench${n % FEW}-X` }))),
];

/** The same requests on the same way with nothing of ours on it, per second. */
async function bareReads(plane: ControlPlane, seconds: Seconds, say: (line: string) => void): Promise<number> {
  const bare = await startBarePath(plane);
  try {
    const same = { connections: CONNECTIONS, requests: reads(), seconds, url: bare.url };
    return (await load(plane, 'reads on a bare path', same, say)).requests.average;
  } finally {
    await bare.close();
  }
}

async function readNodes(
  plane: ControlPlane,
  peer: number,
  seconds: Seconds,
  say: (line: string) => void,
): Promise<Metric[]> {
  const read = await load(plane, 'reads', { connections: CONNECTIONS, requests: reads(), seconds }, say);
  return [
    metric('node_read_rps', '1/s', read.requests.average, {
      goal: '≥ 5000',
      peer: { name: 'bare Fastify → NATS → service', value: peer },
    }),
    metric('node_read_p50_ms', 'ms', read.latency.p50),
    metric('node_read_p99_ms', 'ms', read.latency.p99),
  ];
}

/** The goal is in ms. */
async function list(
  plane: ControlPlane,
  nodes: number,
  { path, connections, goal, seconds }: { path: string; connections: number; goal: number; seconds: Seconds },
  say: (line: string) => void,
): Promise<Metric> {
  const found = ((await (await fetch(`${plane.api}${path}`)).json()) as { items: unknown[] }).items.length;
  if (found !== nodes) throw new MusterError('COMMAND_FAILED', `${path} lists ${found} nodes, not ${nodes}`);
  const requests = [{ method: 'GET' as const, path }];
  const done = await load(plane, `lists of ${nodes}`, { connections, requests, seconds }, say);
  return metric(`list_${nodes}_p99_ms`, 'ms', done.latency.p99, { goal: `< ${goal}` });
}

/** Each for a node of its own: none is refused for another's sake. */
const commissions = (): (() => autocannon.Request) =>
  oneByOne((n) => ({
    method: 'POST',
    path: '/v1/operations',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'commission', nodes: [`bench${n}-X`], hostGroup: 'service-master' }),
  }));

/** How long somebody waits for "accepted": among others who come one after the other, and among 50 in one instant. */
async function pacedOperations(
  plane: ControlPlane,
  next: () => autocannon.Request,
  seconds: Seconds,
  say: (line: string) => void,
): Promise<Metric[]> {
  const body = (): string => next().body as string;
  const spread = { connections: CONNECTIONS, everyMs: 1000 / PACE, count: PACED_OPERATIONS, body };
  await paced(`${plane.api}/v1/operations`, { ...spread, count: 2 * PACE });
  const each = await paced(`${plane.api}/v1/operations`, spread);
  say(`operations, ${PACE}/s, evenly: p50 ${each.p50.toFixed(1)} ms, p99 ${each.p99.toFixed(1)} ms`);
  const amounts = { amount: BURSTS * CONNECTIONS, overallRate: CONNECTIONS, warmUpAmount: 50 };
  const bursts = { connections: CONNECTIONS, seconds, ...amounts };
  const burst = await load(plane, 'bursts of 50 operations', { ...bursts, requests: [sends(next)] }, say);
  return [
    metric('operation_accept_p99_ms', 'ms', each.p99, { goal: '< 50' }),
    metric('operation_accept_p50_ms', 'ms', each.p50),
    metric('operation_burst_of_50_p99_ms', 'ms', burst.latency.p99),
    metric('operation_burst_of_50_p50_ms', 'ms', burst.latency.p50),
  ];
}

/**
 * As many as the machine can take, whole lives of jobs included, in a fleet of 10,000: no goal, a limit that is known.
 * At the limit some find the queue full; they are not counted.
 */
async function saturatedOperations(
  plane: ControlPlane,
  next: () => autocannon.Request,
  seconds: Seconds,
  say: (line: string) => void,
): Promise<Metric[]> {
  const amounts = { amount: OPERATIONS, warmUpAmount: WARM_UP_OPERATIONS, mayBeFull: true };
  const all = { connections: CONNECTIONS, requests: [sends(next)], seconds };
  const done = await load(plane, 'operations at the limit', { ...all, ...amounts }, say);
  return [metric('operation_limit_rps', '1/s', done['2xx'] / done.duration)];
}

/** No two requests are the same: `of` gets 0, 1, 2, … */
function oneByOne(of: (n: number) => autocannon.Request): () => autocannon.Request {
  let n = 0;
  return () => of(n++);
}

const sends = (next: () => autocannon.Request): autocannon.Request => ({
  setupRequest: (request) => ({ ...request, ...next() }),
});

type Load = Pick<autocannon.Options, 'connections' | 'requests' | 'amount' | 'overallRate'> & {
  /** @default that of the plane's gateway */
  url?: string;
  /** Of the measurement, unless `amount` says how much, and of its warm-up. */
  seconds: Seconds;
  /** Requests of the warm-up, where each may be sent only once. @default as many as its seconds allow */
  warmUpAmount?: number;
  /** TOO_MANY_JOBS is no failure here. */
  mayBeFull?: boolean;
};

/** COMMAND_FAILED where an answer was not 2xx: a refusal is quick, and would flatter the figures. */
async function load(
  plane: ControlPlane,
  what: string,
  { warmUpAmount, mayBeFull = false, seconds, url = plane.api, ...o }: Load,
  say: (line: string) => void,
): Promise<autocannon.Result> {
  let refusal = '';
  let full = 0;
  const onResponse: autocannon.Request['onResponse'] = (status, body) => {
    if (mayBeFull && body.includes('"TOO_MANY_JOBS"')) full += 1;
    else if (status >= 300) refusal ||= `, the first with ${status} ${body.slice(0, 300)}`;
  };
  const requests = (o.requests ?? []).map((request) => ({ ...request, onResponse }));
  const run = async (part: Partial<autocannon.Options>): Promise<autocannon.Result> => {
    full = 0;
    // Its types do not say that it is an emitter, too.
    const running = autocannon({ url, ...o, requests, ...part }) as Promise<autocannon.Result> & EventEmitter;
    let cause: unknown;
    void running.on('reqError', (e: unknown) => (cause ??= e));
    const done = await running;
    const bad = done.non2xx + done.errors + done.timeouts - full;
    if (bad > 0)
      throw new MusterError(
        'COMMAND_FAILED',
        `${what}: of ${done.requests.total} requests ${bad} failed${refusal}`,
        {},
        { cause },
      );
    if (full > 0) say(`${what}: ${full} of ${done.requests.total} found the queue full`);
    return done;
  };
  await run(warmUpAmount === undefined ? { duration: seconds.warmUp } : { amount: warmUpAmount });
  const before = plane.cpuMs();
  const done = await run(o.amount === undefined ? { duration: seconds.measured } : {});
  const after = plane.cpuMs();
  const used = [...after].map(([name, ms]) => {
    const each = (ms - (before.get(name) ?? 0)) / done.requests.total;
    return `${name} ${each.toPrecision(2)}`;
  });
  const { p50, p99 } = done.latency;
  say(`${what}: ${done.requests.average}/s, p50 ${p50} ms, p99 ${p99} ms; CPU, ms each: ${used.join(', ')}`);
  return done;
}
