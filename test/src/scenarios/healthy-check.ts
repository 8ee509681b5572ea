import { strict as assert } from 'node:assert';
import type { AlarmView, NodeView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { fingerprint, sameFingerprint } from '../../../lab/src/fleet/fingerprint.js';
import { alarm, assertNoPowerWrites, nowNs } from '../observations.js';
import { idleWorkers } from '../operations.js';
import type { Scenario } from '../scenario.js';
import { alarmCleared, alarmRaised } from '../watch.js';

/** As short as it may be, ms. */
const EVERY_MS = 60_000;
/** A check may be due a whole period after a change, waits for its turn, and takes its time on a busy machine. */
const FOUND_WITHIN_MS = 1.5 * EVERY_MS + 60_000;
const CONFIG = '$MUSTER_ROOT/etc/muster-mirror/mirror.json';
const KEPT = '$MUSTER_ROOT/mirror.json.kept';
/** Counts the starts of the agent: of all files the only one that a reboot may change. */
const AGENT_EPOCH = '/var/lib/muster/epoch';

const sh = (fleet: Fleet, host: string, script: string): Promise<unknown> =>
  fleet.lab('exec', host, '--', 'sh', '-ec', script);
const serves = async (fleet: Fleet, host: string): Promise<NodeView> => {
  const node = (await fleet.node(host)) as unknown as NodeView;
  assert.equal(node.inService, true, JSON.stringify(node.reasons));
  return node;
};
const drift = (fleet: Fleet, node: string): Promise<AlarmView> => alarmRaised(fleet, 'drift', node, FOUND_WITHIN_MS);
const noDrift = (fleet: Fleet, node: string, timeoutMs: number): Promise<unknown> =>
  alarmCleared(fleet, 'drift', node, timeoutMs);

export const R18: Scenario = {
  name: 'R18',
  title:
    'a file is changed by hand on a node in service: told within the period, nothing touched; accepted, it survives a reboot; a second change is told again',
  async run(fleet, say) {
    const [host] = await idleWorkers(fleet);
    assert.ok(host !== undefined, 'no worker is in service without work');
    const node = fleet.nodeOf(host);
    const since = nowNs();
    const mark = fleet.events.mark();
    // What is well after a reboot has nothing but the drift to be found.
    await sh(fleet, host, `systemctl enable muster-mirror.service; cp ${CONFIG} ${KEPT}`);
    await fleet.api.request('PATCH', '/v1/settings', { check: { every: EVERY_MS } });
    try {
      await sh(fleet, host, `echo >> ${CONFIG}`);
      const changed = nowNs();
      const before = await fingerprint(fleet, host);
      const told = await drift(fleet, node);
      say(`told ${((nowNs() - changed) / 1e9).toFixed(1)} s after the change`);
      assert.match(told.message, /mirror drift .*mirror\.json is not as it was installed/);
      assert.equal(told.remedy.command, `muster node check ${node} --diff`);
      const { lastCheck } = await serves(fleet, host);
      assert.deepEqual(sameFingerprint(before, await fingerprint(fleet, host)), { files: [], processes: [] });

      const accepted = { reason: 'a trial of the scenario', ...(lastCheck && { check: lastCheck.job }) };
      await fleet.api.put(`/v1/nodes/${node}/accepted-drift`, accepted);
      await noDrift(fleet, node, 10_000);

      const rebooted = fleet.events.mark();
      await fleet.lab('reboot', host);
      await fleet.events.inService(node, 150_000, rebooted);
      const { files } = sameFingerprint(before, await fingerprint(fleet, host));
      assert.deepEqual(
        files.filter((f) => !f.endsWith(AGENT_EPOCH)),
        [],
      );
      assert.equal(await alarm(fleet, 'drift', node), undefined);

      await sh(fleet, host, `echo >> ${CONFIG}`);
      const again = await drift(fleet, node);
      assert.match(again.message, /It is not what was accepted by /);
      await serves(fleet, host);
      assert.ok(!fleet.events.seen.slice(mark).some((e) => e.kind === 'resetup'), 'it was set up again');
      await assertNoPowerWrites(fleet, since);
    } finally {
      await fleet.api.request('PATCH', '/v1/settings', { check: { every: null } });
      await fleet.api.request('DELETE', `/v1/nodes/${node}/accepted-drift`);
      await sh(fleet, host, `cat ${KEPT} > ${CONFIG}; rm ${KEPT}; systemctl disable muster-mirror.service`);
    }
    await fleet.until(
      'nothing to hold it',
      async () => ((await serves(fleet, host)).job === undefined ? true : undefined),
      60_000,
    );
    await fleet.api.post('/v1/operations', { kind: 'check', nodes: [node] });
    await noDrift(fleet, node, 60_000);
  },
};
