/**
 * A variable in a cell. What is JSON and would be written so again is that value; everything else is the text that it
 * is. So `4` is a number, `true` a flag, `[1,2]` a list, and `r1`, `007`, `1.10` are texts; a text that looks like a
 * value is written in JSON's quotes.
 */
export function valueOf(cell: string): unknown {
  const value = json(cell);
  return value === undefined ? cell : value;
}

export function cellOf(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value === '' || json(value) !== undefined ? JSON.stringify(value) : value;
}

function json(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value !== 'number' || JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
