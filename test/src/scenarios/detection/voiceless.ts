import { strict as assert } from 'node:assert';
import { alarm } from '../../observations.js';
import type { Scenario } from '../../scenario.js';
import { alarmCleared, alarmRaised, idleHost, inHost, Watch } from '../../watch.js';

const TABLE = ['table', 'inet', 'voiceless'];

export const D25: Scenario = {
  name: 'D25',
  needsNetns: true,
  title:
    'NATS is closed to one agent, whom the others hear: UP, an alarm that it has no vote, no off; over with a report',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const node = fleet.nodeOf(host);
    const { stdout } = await inHost(fleet, host, 'cat', '/etc/muster/agent.json');
    const { nats } = JSON.parse(stdout) as { nats: Record<string, string[]> };
    const ports = [...new Set(Object.values(nats).flatMap((urls) => urls.map((url) => new URL(url).port)))];
    const watch = new Watch(fleet);
    await inHost(fleet, host, 'nft', 'add', ...TABLE);
    try {
      const hook = ['{', 'type', 'filter', 'hook', 'output', 'priority', '0', ';', '}'];
      await inHost(fleet, host, 'nft', 'add', 'chain', ...TABLE.slice(1), 'out', ...hook);
      for (const port of ports)
        await inHost(fleet, host, 'nft', 'add', 'rule', ...TABLE.slice(1), 'out', 'tcp', 'dport', port, 'drop');
      const closed = performance.now();
      await alarmRaised(fleet, 'agent-health', node);
      say(`alarm after ${((performance.now() - closed) / 1000).toFixed(1)} s`);
      const { message } = (await alarm(fleet, 'agent-health', node)) as { message: string };
      assert.match(message, /no report for more than 10 s, although others hear it/);
    } finally {
      await inHost(fleet, host, 'nft', 'delete', ...TABLE);
    }
    await alarmCleared(fleet, 'agent-health', node);
    watch.never('DOWN', 'SUSPECT', 'UNKNOWN', 'DEGRADED', 'LEFT');
    await watch.noPowerWrites();
  },
};
