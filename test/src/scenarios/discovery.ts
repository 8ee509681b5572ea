import { strict as assert } from 'node:assert';
import { kill, nowNs } from '../observations.js';
import { completed, start } from '../operations.js';
import type { Scenario } from '../scenario.js';

const seconds = (sinceNs: number): string => `${((nowNs() - sinceNs) / 1e9).toFixed(1)} s`;

export const O13: Scenario = {
  name: 'O13',
  needsNetns: true,
  needsBare: true,
  title: 'a bare host is discovered: its agent is installed over ssh, it appears by itself, serves, and comes back',
  async run(fleet, say) {
    const host = fleet.info.bare[0];
    assert.ok(host, 'the lab has no bare host');
    const address = host.networks.management;
    const since = nowNs();
    const job = await start(fleet, '/discover/nodes', { addresses: [address] });
    const node = await fleet.until(
      `${host.node} to appear by itself`,
      async () => {
        const found = (await fleet.nodes()).find((n) => n.name === host.node);
        return found?.state === 'Discovered' ? found : undefined;
      },
      90_000,
    );
    say(`appeared after ${seconds(since)}`);
    assert.deepEqual(
      [node.status, node.enrolled, node.networks['management']?.address],
      ['Unallocated', true, address],
    );
    const done = await completed(fleet, job);
    assert.equal(done.results[address]?.node, host.node);

    await completed(
      fleet,
      await start(fleet, '/commission/nodes', { nodes: [host.node], host_group: 'service-worker' }),
    );
    await fleet.until('it to serve', async () => ((await fleet.node(host.name)).inService ? true : undefined), 20_000);
    const death = await kill(fleet, host.name);
    await fleet.events.verdict(host.node, 'DOWN', 15_000, death.mark);
    await fleet.lab('boot', host.name);
    await fleet.events.inService(host.node, 90_000, death.mark);
    say(`back in service ${seconds(death.ns)} after its death`);
  },
};
