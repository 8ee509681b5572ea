import { strict as assert } from 'node:assert';
import type { CheckResult, JobRecord } from '#contracts';
import type { FeedEvent } from '../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../lab/src/fleet/fleet.js';

/** What a shell on a host prints. */
export async function onHost(fleet: Fleet, host: string, command: string): Promise<string> {
  return (await fleet.lab<{ stdout: string }>('exec', host, '--', 'sh', '-c', command)).stdout;
}

/**
 * The management network of a host is lost for longer than the hold-down of 5 s, and back: the check that follows.
 * @param meanwhile done while it is lost
 */
export async function checkAfterLoss(
  fleet: Fleet,
  host: string,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<FeedEvent> {
  const node = fleet.nodeOf(host);
  const mark = fleet.events.mark();
  await fleet.lab('cut', host, '--network', 'management');
  await fleet.events.verdict(node, 'DEGRADED', 10_000, mark);
  await Promise.all([meanwhile(), new Promise((r) => setTimeout(r, 7000))]); // the fault itself
  const healed = fleet.events.mark();
  await fleet.lab('heal', host);
  return await fleet.events.until('the check', (e) => e.kind === 'check' && e.key === node, 60_000, healed);
}

/** Services that a check found not to be ok: the result, and why. */
export function findings(check: FeedEvent): Record<string, string> {
  const { findings: found } = check.data['result'] as CheckResult;
  return Object.fromEntries(found.filter((f) => f.result !== 'ok').map((f) => [f.service, `${f.result}: ${f.why}`]));
}

/** The job of the re-setup that follows upon a check, when the node serves again, or, where it is to fail, has failed. */
export async function resetupAfter(fleet: Fleet, check: FeedEvent, ok = true): Promise<JobRecord> {
  const from = fleet.events.seen.indexOf(check);
  const { data } = await fleet.events.until(
    'the re-setup',
    (e) => e.kind === 'resetup' && e.key === check.key,
    120_000,
    from,
  );
  const job = await fleet.job(data['job'] as string);
  assert.equal(data['ok'], ok, `${job.desc}: ${job.error}`);
  if (ok) await fleet.events.inService(check.key, 60_000, from);
  return job;
}
