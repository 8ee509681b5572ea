import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import {
  assertNeverTwice,
  assignedTo,
  hostRunning,
  kill,
  runningNow,
  startedAfter,
  type Death,
} from '../observations.js';
import type { Scenario } from '../scenario.js';
import { downInTime, oneOff } from './detection/death.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

/** F1: nothing is started elsewhere before one off, and two reads apart that say so. */
async function offProved(fleet: Fleet, death: Death, startNs: number): Promise<void> {
  const log = (await fleet.bmc(death.host)).filter((e) => e.ns >= death.ns && e.ns < startNs);
  const off = log.findIndex((e) => e.op === 'set');
  assert.deepEqual(
    log.filter((e) => e.op === 'set').map((e) => e.value),
    ['0'],
    'power commands before the start elsewhere',
  );
  const proof = log.slice(off + 1).filter((e) => e.op === 'get' && e.value === '0');
  assert.ok(proof.length >= 2, `only ${proof.length} off-reads before the start elsewhere`);
  const apart = ((proof[1]?.ns ?? 0) - (proof[0]?.ns ?? 0)) / 1e6;
  assert.ok(apart >= 200, `the off-reads were ${apart.toFixed(0)} ms apart`);
}

/** V1. */
async function runElsewhere(
  fleet: Fleet,
  death: Death,
  names: readonly string[],
  say: (f: string) => void,
): Promise<void> {
  for (const name of names) {
    const run = await startedAfter(fleet, name, death.ns, ELSEWHERE_WITHIN_MS);
    const ms = (run.fromNs - death.ns) / 1e6;
    say(`${name}: ${death.host} → ${run.host} in ${ms.toFixed(0)} ms`);
    assert.ok(ms <= ELSEWHERE_WITHIN_MS, `${name} ran elsewhere after ${ms.toFixed(0)} ms`);
    assert.notEqual(run.host, death.host);
  }
}

/** V2. */
async function staysStopped(fleet: Fleet, name: string): Promise<void> {
  assert.equal(await runningNow(fleet, name), undefined, `${name} runs`);
  assert.equal((await fleet.workload(name)).desired, 'stopped');
}

/** R3. */
async function setUpAgain(fleet: Fleet, death: Death): Promise<void> {
  const next = (kind: 'check' | 'resetup'): ReturnType<typeof fleet.events.until> =>
    fleet.events.until(`the ${kind}`, (e) => e.kind === kind && e.key === death.node, 90_000, death.mark);
  assert.equal((await next('check')).data['pass'], false, 'the check passed although the services were gone');
  const resetup = await next('resetup');
  assert.equal(resetup.data['ok'], true, JSON.stringify(resetup.data));
}

const STOPPED = 'v2';

/** One death, from all sides: to set a node up again takes most of such a scenario's time. */
export const oneDeath: Scenario = {
  name: 'F1',
  also: ['D1', 'V1', 'V2', 'R3'],
  timed: true,
  title:
    'a killed host is DOWN within 4 s of its death, with one incident; a dead node gets exactly one off, two off-reads; its workloads run elsewhere within the minute, never on two at once; a stopped one stays stopped; back with its services gone, it is set up again and serves',
  async run(fleet, say, timeIsTaken) {
    const host = await hostRunning(fleet, 'w1');
    await fleet.lab('workload', 'add', STOPPED, '--on', host);
    await hostRunning(fleet, STOPPED);
    await fleet.api.put(`/v1/workloads/${STOPPED}`, { desired: 'stopped' });
    await fleet.until(
      `${STOPPED} to stop`,
      async () => ((await runningNow(fleet, STOPPED)) === undefined ? true : undefined),
      30_000,
    );
    const names = (await assignedTo(fleet, host)).filter((w) => w.desired === 'running').map((w) => w.name);
    assert.ok(names.includes('w1'), `w1 is not assigned to ${host}`);

    const death = await kill(fleet, host);
    await downInTime(fleet, death, say);
    timeIsTaken();
    await fleet.events.incident(death.node, 'fenced', 25_000, death.mark);
    await oneOff(fleet, host, { mark: death.mark, sinceNs: death.ns });
    const first = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS);
    await offProved(fleet, death, first.fromNs);
    await runElsewhere(fleet, death, names, say);
    await assertNeverTwice(fleet, ...names);
    await fleet.events.incident(death.node, 'recovered', 30_000, death.mark);
    await staysStopped(fleet, STOPPED);

    await fleet.lab('boot', host);
    await setUpAgain(fleet, death);
    const back = await fleet.events.inService(death.node, 60_000, death.mark);
    say(`in service ${((Number(back.arrivedNs) - death.ns) / 1e9).toFixed(1)} s after its death`);
    await assertNeverTwice(fleet, ...names);
    await staysStopped(fleet, STOPPED);
    await fleet.api.request('DELETE', `/v1/workloads/${STOPPED}`);
  },
};
