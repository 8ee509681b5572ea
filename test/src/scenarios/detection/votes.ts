import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { daemon } from '#bus/testing/daemon.js';
import type { Fleet } from '../../../../lab/src/fleet/fleet.js';
import type { Scenario } from '../../scenario.js';
import { alarmRaised, hostNames, idleHost, lasts, LONG_ENOUGH, Watch } from '../../watch.js';
import { oneOff } from './death.js';

/** Whom it is cut from, by the table in docs/detection.md. The monitor hears nothing of it either. */
const reported = (name: string, nodes: number): Scenario => {
  const count = nodes - 1;
  const most = Math.floor(count / 2) + 1;
  const held = most < count ? [`${most} and one that hears it: held by LIFE_SIGN`] : [];
  const end = nodes > 2 ? 'all: off' : 'all: nothing without a witness, off with one';
  return {
    name,
    needsNetns: true,
    nodes,
    title: [`${most - 1} of ${count} observers report down: no verdict`, ...held, end].join('; '),
    async run(fleet, say) {
      const target = await idleHost(fleet);
      const node = fleet.nodeOf(target);
      const observers = hostNames(fleet).filter((h) => h !== target);
      const cut = async (from: number, to: number): Promise<void> => {
        for (const o of observers.slice(from, to)) await fleet.lab('cut', `${o}:${target}`);
      };
      const watch = new Watch(fleet);
      await fleet.lab('cut', `ctl:${target}`);
      await cut(0, most - 1);
      await lasts(LONG_ENOUGH);
      watch.never('DOWN');
      if (most < count) {
        await cut(most - 1, most);
        await watch.verdict(target, 'DOWN');
        await alarmRaised(fleet, 'partial-reachability', node);
        const incident = await fleet.incident(target);
        assert.equal(incident.gate, 'LIFE_SIGN', `stopped by ${incident.gate}`);
        say(`${most} of ${count}: held by LIFE_SIGN`);
      }
      await watch.noPowerWrites();
      await cut(most < count ? most : most - 1, count);
      const off = async (): Promise<void> => {
        await fleet.events.incident(node, 'fenced', 45_000, watch.mark);
        await oneOff(fleet, target, watch);
        say(`all ${count}: off`);
      };
      if (nodes > 2) return off();
      // Of two members neither can tell who is cut off: without a witness an operator decides.
      await lasts(LONG_ENOUGH);
      watch.never('DOWN');
      await watch.noPowerWrites();
      say('of two, nobody is called DOWN without a witness');
      return withWitness(fleet, off);
    },
  };
};

const WITNESS = `
import socket, sys
with socket.create_server((sys.argv[1], 0)) as s:
    print(s.getsockname()[1], flush=True)
    while True:
        s.accept()[0].close()
`;

/** Something beside the cluster that is no node answers the monitor, on the network of the BMCs. */
async function withWitness(fleet: Fleet, work: () => Promise<void>): Promise<void> {
  const { namespaces, hosts } = await fleet.lab<{ namespaces: { bmc: string }; hosts: { bmc: { address: string } }[] }>(
    'info',
  );
  const address = hosts[0]?.bmc.address as string;
  const argv = ['netns', 'exec', namespaces.bmc, 'python3', '-I', '-c', WITNESS, address];
  const witness = daemon('ip', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(witness.stdout, 'data')) as [Buffer];
    await fleet.api.request('PATCH', '/v1/settings', { witness: `${address}:${port.toString().trim()}` });
    await work();
  } finally {
    witness.kill('SIGKILL');
    await fleet.api.request('PATCH', '/v1/settings', { witness: '' });
  }
}

export const D7of2 = reported('D7.2', 2);
export const D7of3 = reported('D7.3', 3);
export const D7of4 = reported('D7.4', 4);
export const D7of5 = reported('D7.5', 5);
export const D7of6 = reported('D7.6', 6);
