import { MusterError, type ErrorCode } from '../errors/errors.js';
import { isSecretName, isSecretText } from './secret-names.js';

/** Stands where a secret is not shown; sent back, it means: as it is. */
export const MASK = '***';

/**
 * The same value with everything masked that is a secret, at any depth: by its name, or as its text shows. Without any
 * it is the very same.
 */
export function masked<T>(value: T): T {
  // The shape stays; only secrets become a text.
  return mask(value) as T;
}

function mask(value: unknown): unknown {
  if (typeof value === 'string') return value !== '' && isSecretText(value) ? MASK : value;
  if (Array.isArray(value)) {
    const items = value.map(mask);
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isMapping(value)) return value;
  const members = Object.entries(value);
  const shown = members.map(([name, v]) => [name, isSecretName(name) ? MASK : mask(v)] as const);
  return shown.every(([, v], i) => v === members[i]?.[1]) ? value : Object.fromEntries(shown);
}

/**
 * Undoes {@link masked} in what a client sends back: a mask stands for the value that is stored in its place. In a list
 * the place is that of the item that looks the same; one that was edited has to bring its secrets along.
 * @param code of the refusal
 * @throws MusterError where nothing is stored that the mask could stand for
 */
export function unmasked<T>(given: T, stored: unknown, at: string, code: ErrorCode = 'SETTINGS_INVALID'): T {
  return unmask(given, { value: stored, isSecret: false }, at, code) as T;
}

/** What is stored in the place of a value, and whether its name hides it. */
interface Place {
  value: unknown;
  isSecret: boolean;
}
const NOTHING: Place = { value: undefined, isSecret: false };

function unmask(given: unknown, stored: Place, at: string, code: ErrorCode): unknown {
  if (given === MASK) {
    const isHidden = stored.value !== undefined && (stored.isSecret || mask(stored.value) === MASK);
    if (isHidden) return stored.value;
    throw new MusterError(
      code,
      `${at}: ${MASK} stands for a secret that is stored, and none is: send the secret itself`,
    );
  }
  if (Array.isArray(given)) {
    const known: unknown[] = Array.isArray(stored.value) ? stored.value : [];
    const place = placesOf(known, given.length);
    return given.map((item: unknown, i) => unmask(item, place(item, i), `${at}[${i}]`, code));
  }
  if (!isMapping(given)) return given;
  const known = isMapping(stored.value) ? stored.value : {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const place = Object.hasOwn(known, name) ? { value: known[name], isSecret: isSecretName(name) } : NOTHING;
      return [name, unmask(value, place, `${at}.${name}`, code)];
    }),
  );
}

/** Of several that look the same and are not, only an unchanged length tells by the index which is meant. */
function placesOf(known: readonly unknown[], given: number): (item: unknown, index: number) => Place {
  const looks = known.map((k) => JSON.stringify(mask(k)));
  return (item, index) => {
    const look = JSON.stringify(item);
    const alike = known.filter((_, i) => looks[i] === look);
    const isSame = new Set(alike.map((k) => JSON.stringify(k))).size === 1;
    if (isSame) return { value: alike[0], isSecret: false };
    return given === known.length && looks[index] === look ? { value: known[index], isSecret: false } : NOTHING;
  };
}

const isMapping = (x: unknown): x is Record<string, unknown> =>
  typeof x === 'object' && x !== null && !Array.isArray(x);
