import type { AlarmCode } from '#contracts';
import { unwanted, type WantedAlarm } from '../../alarms/keep-alarms.js';
import { missingDrivers, offersOf, type MissingDriver } from '../../nodes/missing-drivers.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import { aboutNode, decideTogether, type Decided } from '../each-record.js';
import type { ClearAlarm, RaiseAlarm, PublishDriver } from '../intent.js';
import { SETTLE_MS } from '../settled.js';
import { alarmIntents } from './alarm-intents.js';
import { outdatedAlarms } from './outdated-workers.js';

const NO_WORKERS: AlarmCode = 'no-workers';

/**
 * One event and one alarm for each driver that nodes need and nobody offers for {@link SETTLE_MS}; the alarm ends when one
 * does. And an alarm for each worker of a version that does not read what this one stores. The conditions are drivers
 * that are missing: while nobody knows who lives an alarm would be a guess, and none is.
 */
export const drivers: Concern<string> = {
  perTerm: true,
  conditions: (fleet) => ({ holds: missingIn(fleet)?.made.map((m) => m.driver) ?? [] }),
  plan: (fleet, ages) => {
    const missing = missingIn(fleet);
    if (missing === undefined) return [];
    // A worker that is started anew is back by then: its nodes are out of service meanwhile, and that is no news.
    const lasting = missing.made.filter((m) => ages.of(m.driver) >= SETTLE_MS);
    return [
      ...missing.failed,
      ...alarmIntents(fleet, ['worker-outdated'], outdatedAlarms(fleet.workers ?? [])),
      ...lasting.map(lost),
      // A node of which that cannot be said may need any of them.
      ...(missing.failed.length === 0 ? back(fleet, missing.made) : []),
    ];
  },
};

/** Undefined: it is not known who lives, or which nodes there are. */
const missingIn = perFleet(({ workers, nodes }: Fleet): Decided<MissingDriver> | undefined => {
  if (workers === undefined || !nodes.live) return undefined;
  const offers = offersOf(workers);
  return decideTogether(nodes.list, aboutNode, (all) =>
    missingDrivers(
      all.map((e) => e.value),
      offers,
    ),
  );
});

const alarmOf = ({ driver, nodes }: MissingDriver): WantedAlarm => ({
  code: NO_WORKERS,
  subject: driver,
  severity: 'critical',
  message: `no live worker offers driver ${driver}: ${nodes.length} node(s) are out of service`,
});

/** Also of one whose alarm is up already: its event may lack, and is told once, however often it is planned. */
function lost(m: MissingDriver): RaiseAlarm {
  const alarm = alarmOf(m);
  return {
    ...{ do: 'raise-alarm', alarm, about: { driver: m.driver }, reason: alarm.message },
    followedBy: ({ count }) => [driverEvent(m.driver, false, m.nodes.length, count)],
  };
}

const back = ({ alarms }: Fleet, missing: readonly MissingDriver[]): ClearAlarm[] =>
  unwanted(
    alarms.list.map((e) => e.value),
    [NO_WORKERS],
    missing.map(alarmOf),
  ).map(({ subject, count }) => ({
    ...{ do: 'clear-alarm', code: NO_WORKERS, subject, about: { driver: subject } },
    reason: `A live worker offers driver ${subject}, or no node needs it.`,
    followedBy: () => [driverEvent(subject, true, 0, count)],
  }));

/** Raised `count` times so far: each time is one transition, and one event however often it is told. */
const driverEvent = (driver: string, offered: boolean, nodesAffected: number, count: number): PublishDriver => ({
  do: 'publish-driver',
  event: { driver, offered, nodesAffected },
  count,
  about: { driver },
  reason: offered ? `Driver ${driver} is offered again.` : `Nobody offers driver ${driver}.`,
});
