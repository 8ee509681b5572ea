import { loadavg } from 'node:os';
import { MusterError } from '#contracts';
import { metric, type BenchOptions, type Metric } from '../metric.js';
import { median } from '../detect/kills.js';
import { takenFrom } from '../rounds.js';
import { dieInTurn, type Death, type Deaths } from './deaths.js';
import type { Ledger } from './ledger.js';
import { MusterFleet } from './muster-fleet.js';
import { PacemakerCluster, type CorosyncTimes } from './pacemaker-cluster.js';

const NODES = 5;
/** Deaths of each. All of them fit in 20 minutes, `--quick` in nine: Pacemaker's, which are alike, are the fewer. */
const full = { muster: 20, pacemaker: 6 };
const quick: typeof full = { muster: 5, pacemaker: 3 };

/** Corosync takes `token` as that of two nodes, and waits longer for each node more, unless it is told not to. */
const variants: { key: string; name: string; times: CorosyncTimes }[] = [
  { key: 'pacemaker', name: 'Pacemaker', times: {} },
  { key: 'pacemaker_tuned', name: 'Pacemaker, token=1000', times: { token: 1000 } },
  {
    key: 'pacemaker_flat',
    name: 'Pacemaker, token=1000 whatever its size',
    times: { token: 1000, tokenCoefficient: 0 },
  },
];

type Step = 'downMs' | 'offSentMs' | 'offConfirmedMs' | 'runningMs';

/**
 * From a host's death until its work runs elsewhere, by what the work itself and the BMC wrote down: Muster, and beside it
 * Pacemaker on the same kind of hosts with the same kind of BMC. In a sandbox.
 */
export async function failoverBench(o: BenchOptions): Promise<Metric[]> {
  const n = o.quick ? quick : full;
  const say = (line: string): void => o.say(`${line}  [load ${loadavg()[0]?.toFixed(1)}]`);
  const muster: Deaths = { done: [], void: 0 };
  await o.attempt('Muster', () =>
    MusterFleet.with(NODES, say, async (fleet) => {
      await dieInTurn(fleet, n.muster, muster, (line) => say(`Muster: ${line}`));
      refuseOverlap(fleet.ledger);
    }),
  );
  const peers: { key: string; name: string; over: string; deaths: Deaths }[] = [];
  for (const { key, name, times } of o.own ? [] : variants) {
    const deaths: Deaths = { done: [], void: 0 };
    const peer = { key, name, over: '', deaths };
    peers.push(peer);
    await o.attempt(name, () =>
      PacemakerCluster.with(NODES, times, async (cluster) => {
        peer.over = cluster.settings;
        await dieInTurn(cluster, n.pacemaker, deaths, (line) => say(`${name}: ${line}`));
        refuseOverlap(cluster.ledger);
      }),
    );
  }
  const p50 = (of: Deaths): number => median(of.done.map((d) => d.runningMs));
  const measured = peers.filter(({ deaths }) => deaths.done.length > 0);
  const found = measured.flatMap(({ key, over, deaths }) => peerFigures(key, `${taken(deaths)}; ${over}`, deaths.done));
  if (muster.done.length === 0) return found;
  const beside = measured[0] && { peer: { name: measured[0].name, value: p50(measured[0].deaths) } };
  const ratios = measured.map(({ key, deaths }) =>
    metric(`ratio_to_${key}`, '', p50(muster) / p50(deaths), {
      over: `${taken(muster)}, ${taken(deaths)} of Pacemaker's`,
    }),
  );
  return [...figures(muster, beside ?? {}), ...found, ...ratios];
}

function figures(deaths: Deaths, beside: Pick<Metric, 'peer'>): Metric[] {
  const { done } = deaths;
  const over = taken(deaths);
  const p50 = (of: (d: Death) => number): number => median(done.map(of));
  const at =
    (step: Step): ((d: Death) => number) =>
    (d) =>
      d[step] ?? NaN;
  const share = (step: Step, since?: Step): number =>
    p50((d) => (at(step)(d) - (since === undefined ? 0 : at(since)(d))) / d.runningMs);
  return [
    // A verdict has no outside but its own publication.
    metric('killed_to_down_p50_ms', 'ms', p50(at('downMs')), { goal: '≤ 4000', over: `${over}; as published` }),
    metric('killed_to_off_sent_p50_ms', 'ms', p50(at('offSentMs')), { over: `${over}; BMC log` }),
    metric('killed_to_off_confirmed_p50_ms', 'ms', p50(at('offConfirmedMs')), {
      goal: '≤ 5500',
      over: `${over}; BMC log, second read`,
    }),
    metric('killed_to_running_p50_ms', 'ms', p50(at('runningMs')), {
      goal: '≤ 6000',
      over: `${over}; ledger`,
      ...beside,
    }),
    metric('killed_to_running_max_ms', 'ms', Math.max(...done.map(at('runningMs'))), {
      goal: '≤ 60000',
      over: `${over}; ledger`,
    }),
    metric('killed_to_running_min_ms', 'ms', Math.min(...done.map(at('runningMs'))), { over: `${over}; ledger` }),
    metric('share_down', '', share('downMs'), { over }),
    metric('share_off', '', share('offConfirmedMs', 'downMs'), { over }),
    metric('share_running', '', share('runningMs', 'offConfirmedMs'), { over }),
    metric(
      'inventory_cpu',
      'cores',
      p50((d) => d.cpu ?? NaN),
      { over: `${over}; both, from death to running` },
    ),
    metric('void_rounds', '', deaths.void, { over }),
  ];
}

function peerFigures(key: string, over: string, done: readonly Death[]): Metric[] {
  const running = done.map((d) => d.runningMs);
  return [
    metric(`${key}_killed_to_off_sent_p50_ms`, 'ms', median(done.map((d) => d.offSentMs)), { over }),
    metric(`${key}_killed_to_running_p50_ms`, 'ms', median(running), { over }),
    metric(`${key}_killed_to_running_max_ms`, 'ms', Math.max(...running), { over }),
  ];
}

const taken = (deaths: Deaths): string => takenFrom(deaths, ['death', 'deaths'], NODES);

/** Who starts the work before it has ended elsewhere is quick, and wrong. */
function refuseOverlap(ledger: Ledger): void {
  const ms = ledger.overlapMs();
  if (ms > 0) throw new MusterError('COMMAND_FAILED', `the work ran twice at once for ${ms.toFixed(0)} ms`);
}
