import type { Entry } from '#bus';
import type { NodeRecord } from '#contracts';
import { IdentityAlarmBook } from '../../identity/identity-alarm-book.js';
import { identityAlarmCodes } from '../../identity/identity-alarms.js';
import { madeOnce } from '../../snapshot/per-fleet.js';
import { alarmIntents } from '../alarms/alarm-intents.js';
import type { Concern } from '../concern.js';

/** Says of power devices that they may be another machine's: where two are in one place, or by what one says of itself. */
export const alarmsOfIdentity: Concern = {
  // All devices are compared with all others.
  pace: { everyMs: 500 },
  isKnown: ({ nodes, alarms }) => nodes.live && alarms.live,
  plan: (fleet) => alarmIntents(fleet, identityAlarmCodes, bookOf(fleet.nodes.list).of(fleet.addressesOf)),
};

/** The records are the same until one of them changes; what names stand for may change meanwhile. */
const bookOf = madeOnce(
  (list: readonly Entry<NodeRecord>[]): IdentityAlarmBook => new IdentityAlarmBook(list.map((e) => e.value)),
);
