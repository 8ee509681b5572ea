/** Values of JSON as Go's `fmt` and `text/template` print them: the old client was written in Go. */

const shortEscapes: Record<string, string> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\u000b': '\\v',
  '"': '\\"',
  '\\': '\\\\',
};

/** `%q`. */
export const quoted = (text: string): string =>
  `"${[...text].map((c) => shortEscapes[c] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(c) ? c : escaped(c))).join('')}"`;

function escaped(c: string): string {
  const hex = (c.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2 && c < '\u0080') return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** `%v` of what `encoding/json` makes of a value: every number is a float64, nothing is `<nil>`. */
export function printed(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (typeof value === 'number') return float(value);
  if (Array.isArray(value)) return `[${value.map(printed).join(' ')}]`;
  if (typeof value === 'object')
    return `map[${members(value)
      .map(([key, inner]) => `${key}:${printed(inner)}`)
      .join(' ')}]`;
  return String(value as string | boolean);
}

/** The shortest `%g`: with an exponent, of two digits at least, below 1e-04 and from 1e+06 on. */
function float(value: number): string {
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', exponent = ''] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** By the bytes of their names, as Go walks a map that it prints. */
const members = (value: object): [string, unknown][] =>
  Object.entries(value).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

/** A template prints a value that is null in its own words, and only where the value stands by itself. */
const alone = (value: unknown): string => (value === null || value === undefined ? '<no value>' : printed(value));

/**
 * A value line by line: members by name and four spaces deeper at each level, entries of a list each on a line of its
 * own; maps and lists within a list on one line, in Go's notation.
 */
export function goLines(value: unknown, indent = ''): string[] {
  if (Array.isArray(value)) return value.map((item) => `${indent}${alone(item)}`);
  if (typeof value !== 'object' || value === null) return [`${indent}${alone(value)}`];
  return members(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null
      ? [`${indent}${key}:`, ...goLines(inner, `${indent}    `)]
      : [`${indent}${key}: ${alone(inner)}`],
  );
}
