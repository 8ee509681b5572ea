import { strict as assert } from 'node:assert';
import type { Scenario } from '../../scenario.js';
import { alarmRaised, hostNames, idleHost, lasts, LONG_ENOUGH, Watch } from '../../watch.js';

/** Whom it is cut from, by the table in docs/detection.md. The monitor hears nothing of it either. */
const accused = (name: string, nodes: number): Scenario => ({
  name,
  needsNetns: true,
  nodes,
  title: `of ${nodes}: half of the observers accuse, no verdict; most do while one hears, LIFE_SIGN; all do, off`,
  async run(fleet, say) {
    const target = await idleHost(fleet);
    const node = fleet.nodeOf(target);
    const observers = hostNames(fleet).filter((h) => h !== target);
    const most = Math.floor(observers.length / 2) + 1;
    const cut = async (from: number, to: number): Promise<void> => {
      for (const o of observers.slice(from, to)) await fleet.lab('cut', `${o}:${target}`);
    };
    const watch = new Watch(fleet);
    await fleet.lab('cut', `ctl:${target}`);
    await cut(0, most - 1);
    await lasts(LONG_ENOUGH);
    watch.never('DOWN');
    if (most < observers.length) {
      await cut(most - 1, most);
      await watch.verdict(target, 'DOWN');
      await alarmRaised(fleet, 'partial-reachability', node);
      const incident = await fleet.incident(target);
      assert.equal(incident.gate, 'LIFE_SIGN', `stopped by ${incident.gate}`);
      say(`${most} of ${observers.length}: held by LIFE_SIGN`);
    }
    await watch.noPowerWrites();
    await cut(most < observers.length ? most : most - 1, observers.length);
    if (nodes <= 2) {
      // Of two members neither can tell who is cut off: without a witness an operator decides.
      await lasts(LONG_ENOUGH);
      watch.never('DOWN');
      await watch.noPowerWrites();
      say('of two, nobody is called DOWN without a witness');
      return;
    }
    await fleet.events.incident(node, 'fenced', 45_000, watch.mark);
    say('all: off');
  },
});

export const D7of2 = accused('D7.2', 2);
export const D7of3 = accused('D7.3', 3);
export const D7of4 = accused('D7.4', 4);
export const D7of5 = accused('D7.5', 5);
export const D7of6 = accused('D7.6', 6);
