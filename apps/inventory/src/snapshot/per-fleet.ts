import type { Fleet } from './fleet.js';

/** The same, made once for each fleet: what conditions and a plan both rest on is asked for twice a round. */
export function perFleet<T>(make: (fleet: Fleet) => T): (fleet: Fleet) => T {
  const made = new WeakMap<Fleet, { is: T }>();
  return (fleet) => {
    const was = made.get(fleet) ?? { is: make(fleet) };
    made.set(fleet, was);
    return was.is;
  };
}
