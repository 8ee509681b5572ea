import type { Entry } from '#bus';
import type { AlarmRecord, NodeRecord } from '#contracts';
import { IdentityAlarmBook } from '../../identity/identity-alarm-book.js';
import { identityAlarmCodes } from '../../identity/identity-alarms.js';
import { madeOnce } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';
import { aboutNode, decideTogether, isDecided } from '../each-record.js';

/** Says of power devices that they may be another machine's: where two are in one place, or by what one says of itself. */
export const alarmsOfIdentity: Concern = {
  // All devices are compared with all others.
  pace: { everyMs: 500 },
  isKnown: ({ nodes, alarms }) => nodes.live && alarms.live,
  plan: (fleet) => {
    const { made, failed } = decideTogether(fleet.nodes.list, aboutNode, (some) => bookOf(some).of(fleet.addressesOf));
    // Whether any other has a device where one has that could not be judged cannot be said, either.
    const isOver = (a: AlarmRecord): boolean =>
      failed.length === 0 || (a.code !== 'power-place' && isDecided(failed)(a));
    return [...failed, ...alarmIntents(fleet, identityAlarmCodes, made, isOver)];
  },
};

/** The records are the same until one of them changes; what names stand for may change meanwhile. */
const bookOf = madeOnce(
  (list: readonly Entry<NodeRecord>[]): IdentityAlarmBook => new IdentityAlarmBook(list.map((e) => e.value)),
);
