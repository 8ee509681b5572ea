import { strict as assert } from 'node:assert';
import type { AlarmRecord } from '#contracts';
import type { Scenario } from '../../scenario.js';
import { alarmCleared, alarmRaised, allUp, idleHost, lasts, Watch } from '../../watch.js';

const LOSS_MS = 300_000;
/** First the one network, then both. */
const MOST_CHANGES = 2;
/** By then it is DEGRADED on every network, which is what is told of it from then on. */
const SETTLED_MS = 60_000;

export const D26: Scenario = {
  name: 'D26',
  needsNetns: true,
  title: 'one node loses 80 % of what it sends for 5 min: at most two changes of verdict, one alarm, no off',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const node = fleet.nodeOf(host);
    // After a void round it is DEGRADED for a minute more.
    await allUp(fleet, 120_000);
    await alarmCleared(fleet, 'node-degraded', node, 180_000);
    const watch = new Watch(fleet);
    await fleet.lab('loss', '80', '--host', host, '--direction', 'sent');
    try {
      await alarmRaised(fleet, 'node-degraded', node, SETTLED_MS);
      await lasts(Math.max(0, LOSS_MS - (Date.now() - watch.at)));
      const { items } = await fleet.api.get<{ items: AlarmRecord[] }>('/v1/alarms');
      const standing = items.filter((a) => a.cleared === undefined && isAbout(a.subject, node));
      assert.deepEqual(
        standing.map((a) => a.code),
        ['node-degraded'],
      );
    } finally {
      await fleet.lab('loss', '0', '--host', host);
    }
    const verdicts = watch.verdicts();
    const alarms = fleet.events.seen
      .slice(watch.mark)
      .filter((e) => e.kind === 'alarm')
      .map((e) => ({ ms: watch.ms(e), ...(e.data as unknown as AlarmRecord) }));
    const text = (a: (typeof alarms)[number]): string =>
      `${(a.ms / 1000).toFixed(0)} s ${a.code} ${a.subject}${a.cleared === undefined ? '' : ' over'}`;
    say(`verdicts: ${verdicts.map((e) => `${e.key} ${String(e.data['verdict'])}`).join(', ')}`);
    say(`alarms: ${alarms.map(text).join(', ')}`);
    const ofOthers = verdicts.filter((e) => e.key !== node).map((e) => `${e.key} ${String(e.data['verdict'])}`);
    assert.deepEqual(ofOthers, [], 'another node was judged anew');
    assert.ok(verdicts.length <= MOST_CHANGES, `${verdicts.length} changes of verdict in 5 min`);
    watch.never('DOWN');
    const ofIt = alarms.filter((a) => isAbout(a.subject, node));
    assert.deepEqual(ofIt.filter((a) => a.code !== 'node-degraded').map(text), [], 'what else was told of it');
    const late = ofIt.filter((a) => a.ms > SETTLED_MS && a.ms < LOSS_MS);
    assert.deepEqual(late.map(text), [], 'what was told of it after a minute');
    await watch.noPowerWrites();
    await allUp(fleet, 120_000);
    await alarmCleared(fleet, 'node-degraded', node, 180_000);
  },
};

/** Also of a link that ends at it. */
const isAbout = (subject: string, node: string): boolean => subject.split('~').includes(node);
