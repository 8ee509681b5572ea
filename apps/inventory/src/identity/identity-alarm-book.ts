import type { NodeRecord } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import type { AddressesOf } from '../power/power-place.js';
import { identityAlarms } from './identity-alarms.js';

type Addresses = ReturnType<AddressesOf>;

/**
 * The alarms about these nodes as of the last comparison, for as long as their names stand for the same: for them
 * each of thousands of devices is compared with all others.
 */
export class IdentityAlarmBook {
  private last: { asked: Map<string, Addresses>; alarms: WantedAlarm[] } | undefined;

  constructor(private readonly nodes: readonly NodeRecord[]) {}

  /** As {@link identityAlarms}; each name that it asked for is asked for again. */
  of(addressesOf: AddressesOf): WantedAlarm[] {
    const { last } = this;
    if (last !== undefined && isKnown(last.asked, addressesOf)) return last.alarms;
    const asked = new Map<string, Addresses>();
    const alarms = identityAlarms(this.nodes, (name) => {
      const found = asked.has(name) ? asked.get(name) : addressesOf(name);
      asked.set(name, found);
      return found;
    });
    this.last = { asked, alarms };
    return alarms;
  }
}

/** All are asked for: who is asked looks a name up again now and then. */
function isKnown(asked: ReadonlyMap<string, Addresses>, addressesOf: AddressesOf): boolean {
  let known = true;
  for (const [name, was] of asked) known = isSame(was, addressesOf(name)) && known;
  return known;
}

const isSame = (a: Addresses, b: Addresses): boolean =>
  a === b || (a !== undefined && b !== undefined && a.length === b.length && a.every((x, i) => x === b[i]));
