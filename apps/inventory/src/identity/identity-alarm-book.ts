import type { NodeRecord } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import type { AddressesOf } from '../power/power-place.js';
import { identityAlarms } from './identity-alarms.js';

type Addresses = ReturnType<AddressesOf>;

/**
 * The alarms of the last look, for as long as nothing is new that they rest on: for them each of thousands of devices is
 * compared with all others. A record that has changed is another object.
 */
export class IdentityAlarmBook {
  private last: { nodes: readonly NodeRecord[]; asked: Map<string, Addresses>; alarms: WantedAlarm[] } | undefined;

  /** As {@link identityAlarms}; each name that it asked for is asked for again. */
  of(nodes: readonly NodeRecord[], addressesOf: AddressesOf): WantedAlarm[] {
    const { last } = this;
    if (last !== undefined && isSame(last.nodes, nodes) && isKnown(last.asked, addressesOf)) return last.alarms;
    const asked = new Map<string, Addresses>();
    const alarms = identityAlarms(nodes, (name) => {
      const found = asked.has(name) ? asked.get(name) : addressesOf(name);
      asked.set(name, found);
      return found;
    });
    this.last = { nodes, asked, alarms };
    return alarms;
  }
}

/** All are asked for: who is asked looks a name up again now and then. */
function isKnown(asked: ReadonlyMap<string, Addresses>, addressesOf: AddressesOf): boolean {
  let known = true;
  for (const [name, was] of asked) known = isSame(was, addressesOf(name)) && known;
  return known;
}

const isSame = (a: readonly unknown[] | undefined, b: readonly unknown[] | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.length === b.length && a.every((x, i) => x === b[i]));
