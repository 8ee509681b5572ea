/** What is wrong with a value, as one phrase that names the place; undefined: nothing. */
export type Shape = (x: unknown, at: string) => string | undefined;

/** Levels of a record, one inside the other: what is deeper could not be written back without exhausting the stack. */
const DEPTH = 64;

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

const kindOf = (x: unknown): string => (x === null ? 'null' : Array.isArray(x) ? 'a list' : `a ${typeof x}`);

const wrong = (x: unknown, at: string, wanted: string): string => `${at || 'it'} is ${kindOf(x)} instead of ${wanted}`;

export const text: Shape = (x, at) => (typeof x === 'string' ? undefined : wrong(x, at, 'a text'));

export const flag: Shape = (x, at) => (typeof x === 'boolean' ? undefined : wrong(x, at, 'true or false'));

export const number: Shape = (x, at) => (Number.isFinite(x) ? undefined : wrong(x, at, 'a finite number'));

/**
 * A whole number that has room above it: tokens, generations and revisions are raised by one, and beyond 2^53 that
 * changes nothing any more.
 */
export const count: Shape = (x, at) =>
  typeof x === 'number' && Number.isInteger(x) && x >= 0 && x <= 2 ** 52
    ? undefined
    : wrong(x, at, 'a whole number from 0 to 2^52');

export const anything: Shape = () => undefined;

export const oneOf =
  (...values: readonly string[]): Shape =>
  (x, at) =>
    typeof x === 'string' && values.includes(x) ? undefined : `${at} is none of ${values.join(', ')}`;

export const listOf =
  (item: Shape): Shape =>
  (x, at) => {
    if (!Array.isArray(x)) return wrong(x, at, 'a list');
    for (let i = 0; i < x.length; i++) {
      const bad = item(x[i], String(i));
      if (bad !== undefined) return `${at}.${bad}`;
    }
    return undefined;
  };

/**
 * Values by names that people choose. It loses its prototype: `toString` is in it where somebody put it there, and
 * nowhere else.
 */
export const mapOf =
  (item: Shape): Shape =>
  (x, at) => {
    if (!isObject(x)) return wrong(x, at, 'a map');
    Object.setPrototypeOf(x, null);
    for (const name of Object.keys(x)) {
      const bad = item(x[name], name);
      if (bad !== undefined) return `${at}.${bad}`;
    }
    return undefined;
  };

/** Members by their names; what is not named here may be there too, as a later version wrote it. */
export const object = (
  required: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape => {
  const members = [
    ...Object.entries(required).map(([name, shape]) => ({ name, shape, must: true })),
    ...Object.entries(optional).map(([name, shape]) => ({ name, shape, must: false })),
  ];
  return (x, at) => {
    if (!isObject(x)) return wrong(x, at, 'an object');
    for (const { name, shape, must } of members) {
      if (!Object.hasOwn(x, name)) {
        if (must) return `${place(at, name)} is missing`;
        continue;
      }
      const bad = shape(x[name], name);
      if (bad !== undefined) return at === '' ? bad : `${at}.${bad}`;
    }
    return undefined;
  };
};

const place = (at: string, name: string): string => (at === '' ? name : `${at}.${name}`);

/** Can it be written as it was read? Not where a number has become infinite, or where it is too deep to be walked. */
export function unwritable(x: unknown, depth = 0): string | undefined {
  if (typeof x === 'number') return Number.isFinite(x) ? undefined : 'a number in it is too large';
  if (typeof x !== 'object' || x === null) return undefined;
  if (depth >= DEPTH) return `it is more than ${DEPTH} levels deep`;
  // Without a list of its members: it is walked for every record that is read.
  for (const name in x) {
    const bad = unwritable((x as Record<string, unknown>)[name], depth + 1);
    if (bad !== undefined) return bad;
  }
  return undefined;
}
