import { strict as assert } from 'node:assert';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNeverTwice, hostRunning, kill, nowNs, startedAfter } from '../observations.js';
import type { Scenario } from '../scenario.js';
import { allUp, lasts, Watch } from '../watch.js';

const FULL_MS = 60_000;
const NAMED_WITHIN_MS = 5_000;
/** The mission's minute, from when somebody could act again. */
const ELSEWHERE_WITHIN_MS = 60_000;
const FULL = 'The disk under NATS is full: ';

/** A disk of its own restarts NATS: for a moment nobody answers. */
const isWhole = (fleet: Fleet): Promise<true> =>
  fleet.until(
    'a fleet that is whole again',
    () =>
      fleet.nodes().then(
        (nodes) => nodes.every((n) => n.inService) || undefined,
        () => undefined,
      ),
    60_000,
  );

export const O14: Scenario = {
  name: 'O14',
  needsNetns: true,
  title:
    'the disk under NATS is full for 60 s while a host dies: named at once, nobody fenced blindly; then all follows',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    // Before it can be filled it has to be one of its own, which restarts NATS.
    await fleet.lab('nats', 'disk', 'own');
    // A process sees what was mounted before it began.
    for (const verb of ['kill', 'start']) await fleet.lab('service', 'gateway', verb);
    await isWhole(fleet);
    const watch = new Watch(fleet);
    await fleet.lab('nats', 'disk', 'full');
    const full = performance.now();
    await fleet.until(
      'the gateway to name the disk',
      async () => ((await fleet.api.exchange('GET', '/healthz')).text.includes(FULL) ? true : undefined),
      NAMED_WITHIN_MS,
    );
    say(`named after ${((performance.now() - full) / 1000).toFixed(1)} s`);
    const refused = await fleet.api.exchange('POST', '/v1/nodes', { label: 'late', serial: '1', networks: {} });
    assert.equal(refused.status, 503, refused.text);
    assert.ok(refused.text.includes(FULL), refused.text);
    const death = await kill(fleet, host);
    await lasts(FULL_MS);
    await watch.noPowerWrites();
    assert.ok((await fleet.api.exchange('GET', '/healthz')).text.includes(FULL));
    await fleet.lab('nats', 'disk', 'room');
    // What the line says; apps/standalone does it by itself.
    for (const verb of ['kill', 'start']) await fleet.lab('nats', verb);
    const room = nowNs();
    const run = await startedAfter(fleet, 'w1', death.ns, ELSEWHERE_WITHIN_MS + FULL_MS);
    const ms = (run.fromNs - room) / 1e6;
    say(`w1: ${host} → ${run.host} ${(ms / 1000).toFixed(1)} s after there was room and NATS again`);
    assert.notEqual(run.host, host);
    assert.ok(ms <= ELSEWHERE_WITHIN_MS, `it ran elsewhere after ${ms.toFixed(0)} ms`);
    await assertNeverTwice(fleet, 'w1');
    const fenced = new Set(
      fleet.events.seen
        .slice(watch.mark)
        .filter((e) => e.kind === 'incident' && e.data['phase'] === 'fenced')
        .map((e) => e.data['node']),
    );
    assert.deepEqual([...fenced], [death.node], 'who was fenced');
    await fleet.heal();
    await allUp(fleet);
  },
};
