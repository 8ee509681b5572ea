import fc from 'fast-check';

/** A route that takes a body, and one that it would take. */
export interface Target {
  method: string;
  path: string;
  example: unknown;
}
export type ApiPaths = Record<
  string,
  Record<string, { requestBody?: { content: Record<string, { example?: unknown }> } }>
>;

/** Every POST, PUT and PATCH of the API's own reference, with `rack1-a1` for every name in its path. */
export const targetsOf = (paths: ApiPaths): Target[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    ['post', 'put', 'patch'].flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const example = Object.values(operation.requestBody?.content ?? {})[0]?.example ?? {};
      return [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'rack1-a1'), example }];
    }),
  );

// Once for all: each text of fast-check counts all characters that there are as it is described.
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, '', ' ', 0, -1, 1.5, 1e21, 1e308, -1e308, true, [], {}, [[]], [null], {
    a: { b: [{}] },
  }),
  fc.constantFrom<unknown>(
    '\ud800',
    'a\nb',
    '../../etc/passwd',
    "'; rm -rf /",
    '{{ lookup("env") }}',
    '=cmd()',
    'x'.repeat(70_000),
  ),
  fc.jsonValue(),
  fc.string({ unit: 'binary' }),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
);
const key = fc.oneof(
  fc.string(),
  fc.constantFrom('constructor', 'toString', 'hasOwnProperty', 'length', 'then', 'toJSON'),
);

/** The example with one of its members replaced, or one more, or a key in another case. */
export function spoiled(example: unknown): fc.Arbitrary<string> {
  const places = placesIn(example);
  return fc
    .tuple(fc.nat(places.length - 1), odd, fc.constantFrom('replace', 'add', 'case'), key)
    .map(([place, value, how, name]) => {
      const copy = { body: structuredClone(example) as never };
      const path = places[place] as string[];
      const parent = path.slice(0, -1).reduce<Record<string, unknown>>((o, k) => o[k] as never, copy);
      const last = path.at(-1) as string;
      const target: unknown = parent[last];
      if (how === 'add' && Array.isArray(target)) target.push(value);
      else if (how === 'add' && typeof target === 'object' && target !== null)
        (target as Record<string, unknown>)[name] = value;
      else if (how === 'case' && path.length > 1) parent[last.toUpperCase()] = parent[last];
      else parent[last] = value;
      return JSON.stringify(copy.body) ?? 'null';
    });
}

/** Every member of it, as a path. */
function placesIn(value: unknown, path: string[] = ['body']): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))];
}
