import { strict as assert } from 'node:assert';
import { withNatsClosed } from '../../nats-closed.js';
import type { Scenario } from '../../scenario.js';
import { alarmCleared, alarmRaised, idleHost, Watch } from '../../watch.js';

export const D25: Scenario = {
  name: 'D25',
  needsNetns: true,
  title:
    'NATS is closed to one agent, whom the others hear: UP, an alarm that it has no vote, no off; over with a report',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const node = fleet.nodeOf(host);
    const watch = new Watch(fleet);
    await withNatsClosed(fleet, host, async () => {
      const closed = performance.now();
      const { message } = await alarmRaised(fleet, 'agent-health', node);
      say(`alarm after ${((performance.now() - closed) / 1000).toFixed(1)} s`);
      assert.match(message, /no report for more than 10 s, although others hear it/);
    });
    await alarmCleared(fleet, 'agent-health', node);
    watch.never('DOWN', 'SUSPECT', 'UNKNOWN', 'DEGRADED', 'LEFT');
    await watch.noPowerWrites();
  },
};
