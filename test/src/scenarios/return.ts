import { strict as assert } from 'node:assert';
import { assertNoPowerWrites, hostRunning, nowNs } from '../observations.js';
import type { Scenario } from '../scenario.js';
import { fingerprint, sameFingerprint } from '../../../lab/src/fleet/fingerprint.js';

export const R1: Scenario = {
  name: 'R1',
  needsNetns: true,
  title: 'network loss and return, configuration unchanged: the check passes, nothing is touched on the node',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const node = fleet.nodeOf(host);
    const before = await fingerprint(fleet, host);
    const since = nowNs();
    const mark = fleet.events.mark();
    await fleet.lab('cut', host, '--network', 'management');
    await fleet.events.verdict(node, 'DEGRADED', 10_000, mark);
    await new Promise((r) => setTimeout(r, 7000)); // the fault itself: longer than the hold-down of 5 s
    const healed = fleet.events.mark();
    await fleet.lab('heal', host);
    const check = await fleet.events.until('the check', (e) => e.kind === 'check' && e.key === node, 40_000, healed);
    assert.equal(check.data['pass'], true, JSON.stringify(check.data));
    await fleet.until(
      'it to be in service',
      async () => ((await fleet.node(host)).inService ? true : undefined),
      20_000,
    );
    const diff = sameFingerprint(before, await fingerprint(fleet, host));
    assert.deepEqual(diff, { files: [], processes: [] });
    await assertNoPowerWrites(fleet, since);
    assert.ok(!fleet.events.seen.slice(mark).some((e) => e.kind === 'resetup'), 'it was set up again');
    say('0 files changed, 0 processes restarted');
  },
};
