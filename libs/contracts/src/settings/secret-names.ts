import { MusterError } from '../errors.js';

const SECRET_NAME = /pass|secret|token|key|credential/i;
/** Stands where a secret is not shown; sent back, it means: as it is. */
export const MASK = '***';

/**
 * Does a variable's name say that its value is secret? One answer for what is shown and for what is logged. Wide on
 * purpose: a path that is hidden costs a look at the configuration, a key that is shown costs the key.
 */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** The same value with everything masked whose name says that it is a secret, at any depth. */
export function masked<T>(value: T): T {
  // The shape stays; only values behind secret names become a text.
  return mask(value) as T;
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, isSecretName(k) ? MASK : mask(v)]));
}

/**
 * Undoes {@link masked} in what a client sends back: a mask stands for the value that is stored in its place. In a list
 * the place is that of the item that looks the same; one that was edited has to bring its secrets along.
 * @throws MusterError SETTINGS_INVALID where nothing is stored that the mask could stand for
 */
export function unmasked<T>(given: T, stored: unknown, at: string): T {
  return unmask(given, stored, at) as T;
}

function unmask(given: unknown, stored: unknown, at: string): unknown {
  if (Array.isArray(given)) {
    const known: unknown[] = Array.isArray(stored) ? stored : [];
    return given.map((item: unknown, i) => {
      const shown = JSON.stringify(item);
      return unmask(
        item,
        known.find((k) => JSON.stringify(masked(k)) === shown),
        `${at}[${i}]`,
      );
    });
  }
  if (!isMapping(given)) return given;
  const known = isMapping(stored) ? stored : {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      if (!isSecretName(name) || value !== MASK)
        return [name, unmask(value, Object.hasOwn(known, name) ? known[name] : undefined, `${at}.${name}`)];
      if (Object.hasOwn(known, name)) return [name, known[name]];
      throw new MusterError(
        'SETTINGS_INVALID',
        `${at}.${name}: ${MASK} stands for a secret that is stored, and none is: send the secret itself`,
      );
    }),
  );
}

const isMapping = (x: unknown): x is Record<string, unknown> =>
  typeof x === 'object' && x !== null && !Array.isArray(x);
