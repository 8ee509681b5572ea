import { strict as assert } from 'node:assert';
import type { IncidentPhase, StatusView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { alarm, hostRunning, kill, nowNs, startedAfter, type Death } from '../observations.js';
import type { Scenario } from '../scenario.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

export const LEASES = ['conductor', 'detector', 'fencer'] as const;
type Tokens = Record<(typeof LEASES)[number], number>;

/** Those that somebody holds now; undefined: nobody answers. */
async function heldLeases(fleet: Fleet): Promise<(StatusView['leases'][number] & { holder: string })[] | undefined> {
  const status = await fleet.api.exchange('GET', '/v1/status').catch(() => undefined);
  if (status?.status !== 200) return undefined;
  const { leases } = JSON.parse(status.text) as StatusView;
  return leases.flatMap((l) => (l.holder === undefined ? [] : [{ ...l, holder: l.holder }]));
}

/** Who holds each of {@link LEASES} now, in that order; undefined: somebody does not, or nobody answers. */
export async function leaseHolders(fleet: Fleet): Promise<string[] | undefined> {
  const held = (await heldLeases(fleet)) ?? [];
  const holders = LEASES.flatMap((name) => held.find((l) => l.name === name)?.holder ?? []);
  return holders.length === LEASES.length ? holders : undefined;
}

/** Of who holds them now; undefined: somebody does not, or nobody answers. */
export async function heldTokens(fleet: Fleet): Promise<Tokens | undefined> {
  const leases = await heldLeases(fleet);
  if (leases === undefined) return undefined;
  const token = (name: string): number => leases.find((l) => l.name === name)?.token ?? 0;
  const tokens: Tokens = { conductor: token('conductor'), detector: token('detector'), fencer: token('fencer') };
  return LEASES.every((name) => tokens[name] > 0) ? tokens : undefined;
}

const figures = (tokens: Tokens): string => LEASES.map((name) => `${name} ${tokens[name]}`).join(', ');

/** By somebody who may do anything at the store. */
async function deleteLeases(fleet: Fleet): Promise<number> {
  const answer = await fleet.lab<{ answer: string }>(
    ...['nats', 'request', '$JS.API.STREAM.DELETE.KV_leases', '', '--as', 'admin'],
  );
  assert.ok(answer.answer.includes('"success":true'), answer.answer);
  return nowNs();
}

interface Loss {
  /** Of the incident, at which the bucket is deleted; absent: before the death. */
  phase?: IncidentPhase;
  /** Whoever knows tokens is killed with it, and started again. */
  killed?: true;
}

async function loseLeases(fleet: Fleet, { phase, killed }: Loss, say: (figure: string) => void): Promise<void> {
  const host = await hostRunning(fleet, 'w1');
  const before = await fleet.until('every lease to be held', () => heldTokens(fleet), 30_000);
  const lost = { at: 0 };
  let death: Death;
  if (phase === undefined) {
    await deleteLeases(fleet);
    death = await kill(fleet, host);
    lost.at = death.ns;
  } else {
    death = await kill(fleet, host);
    await fleet.events.incident(death.node, phase, ELSEWHERE_WITHIN_MS, death.mark);
    lost.at = await deleteLeases(fleet);
  }
  if (killed === true) {
    for (const verb of ['kill', 'start']) for (const s of ['inventory', 'fencer']) await fleet.lab('service', s, verb);
    lost.at = nowNs();
  }
  const run = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS + (lost.at - death.ns) / 1e6);
  const ms = Math.max(0, (run.fromNs - lost.at) / 1e6);
  say(`running on ${run.host} ${(ms / 1000).toFixed(1)} s after the last fault`);
  assert.notEqual(run.host, host);
  assert.ok(ms <= ELSEWHERE_WITHIN_MS, `it ran elsewhere after ${ms.toFixed(0)} ms`);
  const anew = await fleet.until('the alarm bucket-anew', () => alarm(fleet, 'bucket-anew', 'leases'), 30_000);
  assert.equal(anew.severity, 'critical');
  // The bucket is gone, and every lease with it: whoever holds one now has taken it anew.
  const after = await fleet.until(
    `every lease to be held under a token above that of before: ${figures(before)}`,
    async () => {
      const now = await heldTokens(fleet);
      return now !== undefined && LEASES.every((name) => now[name] > before[name]) ? now : undefined;
    },
    30_000,
  );
  say(LEASES.map((name) => `${name} ${before[name]} → ${after[name]}`).join(', '));
  await fleet.events.incident(death.node, 'recovered', ELSEWHERE_WITHIN_MS, death.mark);
  await fleet.until(
    'the alarm to be made anew, and to end when somebody has seen it',
    async () => {
      const stands = await alarm(fleet, 'bucket-anew', 'leases');
      if (stands?.message.includes('was made anew') === true && stands.acknowledged === undefined)
        await fleet.api.post('/v1/alarms/bucket-anew=leases/ack', {});
      return stands === undefined ? true : undefined;
    },
    30_000,
  );
}

const losing = (name: string, when: string, loss: Loss): Scenario => ({
  name,
  title: `bucket leases is deleted ${when}: running elsewhere within the minute, each token is higher than before, an alarm`,
  run: (fleet, say) => loseLeases(fleet, loss, say),
});

export const lostLeases: readonly Scenario[] = [
  losing('F32', 'in quiet, and then a host dies', {}),
  losing('F32.fencing', 'while a dead host is powered off', { phase: 'fencing' }),
  losing('F32.fenced', 'as a dead host is proven off', { phase: 'fenced' }),
  losing('F32.recovering', 'as work is started elsewhere', { phase: 'recovering' }),
  losing('F32.killed', 'while a dead host is powered off, and all inventories and fencers are killed', {
    phase: 'fencing',
    killed: true,
  }),
];
