import { strict as assert } from 'node:assert';
import type { AlarmRecord, StatusView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { hostRunning, kill, nowNs, powerWrites, startedAfter } from '../observations.js';
import type { Scenario } from '../scenario.js';

const RUNNING_WITHIN_MS = 30_000;

/** Name of the service's process, `fencer.1`. */
async function leader(fleet: Fleet): Promise<string> {
  const holds = async (): Promise<string | undefined> =>
    (await fleet.api.get<StatusView>('/v1/status')).leases.find((l) => l.name === 'fencer')?.holder;
  return (await fleet.until('a leading fencer', holds, 30_000)).replace('-', '.');
}

type Fault = 'no-ipmitool' | 'no-fork';

/** The fault meets the leader right before the death, or once its `off` is on its way. */
async function unable(fleet: Fleet, fault: Fault, during: boolean, say: (figure: string) => void): Promise<void> {
  const host = await hostRunning(fleet, 'w1');
  const service = await leader(fleet);
  const mark = fleet.events.mark();
  if (during) await fleet.lab('bmc', host, 'hold=set');
  else await fleet.lab('service', service, fault);
  const death = await kill(fleet, host);
  let since = death.ns;
  if (during) {
    await fleet.until(
      'the off to reach the BMC',
      async () => (await fleet.bmc(host)).find((e) => e.op === 'set' && e.ns >= death.ns),
      20_000,
    );
    await fleet.lab('service', service, fault);
    since = nowNs();
    await fleet.lab('bmc', host, 'release');
  }
  const run = await startedAfter(fleet, 'w1', death.ns, RUNNING_WITHIN_MS + (since - death.ns) / 1e6);
  const ms = (run.fromNs - since) / 1e6;
  say(`running on ${run.host} after ${(ms / 1000).toFixed(1)} s`);
  assert.ok(ms <= RUNNING_WITHIN_MS, `it ran elsewhere after ${ms.toFixed(0)} ms`);
  const { commands } = await fleet.incident(host);
  const able = new Set(commands.filter((c) => c.result?.ok === true && c.verb === 'status').map((c) => c.fencer));
  const name = service.replace('.', '-');
  assert.ok(
    [...able].some((f) => f !== name),
    `nobody but ${[...able].join(', ')} has read the power`,
  );
  assert.ok((await powerWrites(fleet, host, death.ns)).includes('off'));
  const raised = fleet.events.seen.slice(mark).filter((e) => {
    const { code, cleared } = e.data as Partial<AlarmRecord>;
    return e.kind === 'alarm' && code === 'fencing-failed' && cleared === undefined;
  });
  assert.ok(raised.length <= 1, `fencing-failed was raised ${raised.length} times`);
}

const unableLeader = (name: string, fault: Fault, during: boolean): Scenario => ({
  name,
  needsNetns: true,
  title: `the leading fencer ${fault === 'no-fork' ? 'can start no process' : 'has lost its ipmitool'} ${
    during ? 'while its off is under way' : 'as a host dies'
  }: another finishes it, running elsewhere within 30 s`,
  run: (fleet, say) => unable(fleet, fault, during, say),
});

export const unableFencers: readonly Scenario[] = [
  unableLeader('F30', 'no-ipmitool', false),
  unableLeader('F30.during', 'no-ipmitool', true),
  unableLeader('F30.fork', 'no-fork', false),
  unableLeader('F30.fork-during', 'no-fork', true),
];
