import type { Fleet } from './fleet.js';

/** The same, made once for each of what it is made of, which nobody changes in place. */
export function madeOnce<K extends object, T>(make: (of: K) => T): (of: K) => T {
  const made = new WeakMap<K, { is: T }>();
  return (of) => {
    let was = made.get(of);
    if (was === undefined) made.set(of, (was = { is: make(of) }));
    return was.is;
  };
}

/** The same, made once for each fleet: what conditions and a plan both rest on is asked for twice a round. */
export const perFleet = <T>(make: (fleet: Fleet) => T): ((fleet: Fleet) => T) => madeOnce(make);
