import autocannon from 'autocannon';
import { MusterError, type ServiceName } from '#contracts';
import { ControlPlane } from '../control-plane.js';
import { metric, type Metric } from '../metric.js';
import { natsRoundTrips } from './nats-peer.js';
import { standInWorker } from './worker-stand-in.js';

const SERVICES: readonly ServiceName[] = ['inventory', 'inventory', 'gateway'];
const CONNECTIONS = 50;
const SECONDS = 8;
/** A list is long work; ten people who look at once are many. */
const LIST_CONNECTIONS = 10;
const NODES = 10_000;
const OPERATIONS = 3_000;

/** Requests through gateway → NATS → inventory, as production runs them: real server, real users, two inventories. */
export async function apiBench(say: (line: string) => void): Promise<Metric[]> {
  const plane = await ControlPlane.start(SERVICES);
  try {
    const worker = await standInWorker(await plane.bus('provisioner'));
    const metrics: Metric[] = [];
    say(`1,000 nodes`);
    await discover(plane.api, 0, 1_000);
    const peer = await natsRoundTrips(plane, CONNECTIONS, SECONDS);
    say(`NATS alone: ${peer.toFixed(0)} round trips/s with ${CONNECTIONS} in flight`);

    const read = await load({ url: `${plane.api}/v1/nodes/bench1-X`, connections: CONNECTIONS, duration: SECONDS });
    say(`reads: ${read.requests.average}/s, p50 ${read.latency.p50} ms, p99 ${read.latency.p99} ms`);
    metrics.push(
      metric('node_read_rps', '1/s', read.requests.average, {
        goal: '≥ 5000',
        peer: { name: 'NATS request/reply', value: peer },
      }),
      metric('node_read_p99_ms', 'ms', read.latency.p99),
    );

    metrics.push(await list(plane.api, 1_000, 200, say));
    say(`${NODES} nodes`);
    await discover(plane.api, 1_000, NODES);
    metrics.push(await list(plane.api, NODES, undefined, say));

    const accepted = await load({
      connections: CONNECTIONS,
      amount: OPERATIONS,
      url: plane.api,
      requests: [
        {
          method: 'POST',
          path: '/v1/operations',
          setupRequest: nextOperation(),
        },
      ],
    });
    say(`operations: ${accepted.requests.average}/s, p50 ${accepted.latency.p50} ms, p99 ${accepted.latency.p99} ms`);
    metrics.push(
      metric('operation_accept_p99_ms', 'ms', accepted.latency.p99, { goal: '< 50' }),
      metric('operation_accept_p50_ms', 'ms', accepted.latency.p50),
      metric('operation_accept_rps', '1/s', accepted.requests.average),
    );
    await worker.close();
    return metrics;
  } finally {
    await plane.stop();
  }
}

async function list(
  api: string,
  nodes: number,
  goal: number | undefined,
  say: (line: string) => void,
): Promise<Metric> {
  const url = `${api}/v1/nodes?limit=${nodes}`;
  const done = await load({ url, connections: LIST_CONNECTIONS, duration: SECONDS });
  say(`lists of ${nodes}: ${done.requests.average}/s, p50 ${done.latency.p50} ms, p99 ${done.latency.p99} ms`);
  return metric(`list_${nodes}_p99_ms`, 'ms', done.latency.p99, goal === undefined ? {} : { goal: `< ${goal}` });
}

/** Each request is for a node of its own: none is refused for another's sake. */
function nextOperation(): NonNullable<autocannon.Request['setupRequest']> {
  let n = 0;
  return (request) => {
    n += 1;
    const body = JSON.stringify({ kind: 'commission', nodes: [`bench${n}-X`], hostGroup: 'service-master' });
    return { ...request, body, headers: { ...request.headers, 'content-type': 'application/json' } };
  };
}

/** COMMAND_FAILED where an answer was anything but 2xx: a refusal is quick, and would flatter the figures. */
async function load(options: autocannon.Options): Promise<autocannon.Result> {
  const done = await autocannon(options);
  const bad = done.non2xx + done.errors + done.timeouts;
  if (bad > 0)
    throw new MusterError('COMMAND_FAILED', `${options.url}: ${bad} of ${done.requests.total} requests failed`);
  return done;
}

/** Known by an external monitor's word: they need no agents. */
async function discover(api: string, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 500) {
    const nodes = Array.from({ length: Math.min(500, to - at) }, (_, i) => {
      const n = at + i;
      return {
        label: `bench${n}`,
        serial: 'X',
        addr: `10.${100 + Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`,
      };
    });
    const answer = await fetch(`${api}/monitor/event`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ monitor_event: { name: 'discovered', nodes } }),
    });
    if (!answer.ok)
      throw new MusterError('COMMAND_FAILED', `the nodes were not taken: ${answer.status} ${await answer.text()}`);
  }
}
