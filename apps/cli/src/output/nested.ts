const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Members in the order of their names, four spaces deeper at each level: as `clusterctl` printed them. */
export function indented(value: object, indent = ''): string[] {
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, inner]: [string, unknown]) =>
      isMap(inner) ? [`${indent}${key}:`, ...indented(inner, `${indent}    `)] : [`${indent}${key}: ${text(inner)}`],
    );
}

/** One `path.to.it: value` line for each value, so that grep finds whole facts. */
export function dotted(value: Record<string, unknown>, path = ''): string[] {
  return Object.entries(value).flatMap(([key, inner]) =>
    isMap(inner) && Object.keys(inner).length > 0 ? dotted(inner, `${path}${key}.`) : [`${path}${key}: ${text(inner)}`],
  );
}
