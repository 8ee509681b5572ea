import { strict as assert } from 'node:assert';
import type { AlarmView, WorkloadRecord } from '#contracts';
import type { FeedEvent } from '../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../lab/src/fleet/fleet.js';
import type { Run } from '../../lab/src/audit/ledger.js';

/** CLOCK_MONOTONIC of the machine, ns: the ledger, the BMC logs and the event feed all use it. */
export const nowNs = (): number => Number(process.hrtime.bigint());

export interface Death {
  host: string;
  node: string;
  ns: number;
  /** Where in the event feed the death lies. */
  mark: number;
}

/** Kills a host as a kernel crash would: its BMC still reads `on`. */
export async function kill(fleet: Fleet, host: string, ...options: string[]): Promise<Death> {
  const mark = fleet.events.mark();
  const { ns } = await fleet.lab<{ ns: number }>('kill', host, ...options);
  return { host, node: fleet.nodeOf(host), ns, mark };
}

export const msAfter = (death: Death, e: FeedEvent): number => (Number(e.arrivedNs) - death.ns) / 1e6;

/** The host on which a workload beats now, by the ledger. */
export async function hostRunning(fleet: Fleet, workload: string): Promise<string> {
  const run = await fleet.until(`${workload} to run`, () => runningNow(fleet, workload), 30_000);
  return run.host;
}

export async function runningNow(fleet: Fleet, workload: string): Promise<Run | undefined> {
  // Before the ledger is read: that of an hour takes a busy machine longer than a beat may be old.
  const asOf = nowNs();
  const history = await fleet.history(workload);
  return history?.runs.find((r) => (asOf - r.toNs) / 1e6 < 500);
}

/** The first run of a workload that began after a point in time. */
export const startedAfter = (fleet: Fleet, workload: string, ns: number, timeoutMs: number): Promise<Run> =>
  fleet.until(
    `${workload} to start elsewhere`,
    async () => (await fleet.history(workload))?.runs.find((r) => r.fromNs > ns),
    timeoutMs,
  );

/** Power commands that a BMC got since a point in time. */
export async function powerWrites(fleet: Fleet, host: string, sinceNs: number): Promise<string[]> {
  const entries = await fleet.bmc(host);
  return entries.flatMap((e) => (e.op === 'set' && e.ns >= sinceNs ? [e.value === '1' ? 'on' : 'off'] : []));
}

/** No BMC of the fleet was told anything that changes power since then. */
export async function assertNoPowerWrites(fleet: Fleet, sinceNs: number): Promise<void> {
  for (const h of fleet.info.hosts)
    assert.deepEqual(await powerWrites(fleet, h.name, sinceNs), [], `${h.name} got power commands`);
}

/** None of these workloads ran on two hosts at any moment, by the ledger. */
export async function assertNeverTwice(fleet: Fleet, ...workloads: readonly string[]): Promise<void> {
  for (const name of workloads)
    assert.equal((await fleet.history(name))?.longestOverlapMs, 0, `${name} ran twice at once`);
}

export async function alarm(fleet: Fleet, code: string, subject: string): Promise<AlarmView | undefined> {
  const { items } = await fleet.api.get<{ items: AlarmView[] }>('/v1/alarms');
  return items.find((a) => a.code === code && a.subject === subject && a.cleared === undefined);
}

/** Workloads that the registry assigns to a host. */
export async function assignedTo(fleet: Fleet, host: string): Promise<WorkloadRecord[]> {
  return (await fleet.workloads()).filter((w) => w.assignment?.node === fleet.nodeOf(host));
}
