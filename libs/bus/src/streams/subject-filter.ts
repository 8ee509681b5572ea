/** NATS subject matching: `*` is one token, `>` at the end one or more. */
export function matches(filter: string, subject: string): boolean {
  const f = filter.split('.');
  const s = subject.split('.');
  for (let i = 0; i < f.length; i++) {
    if (f[i] === '>') return s.length > i;
    if (i >= s.length || (f[i] !== '*' && f[i] !== s[i])) return false;
  }
  return f.length === s.length;
}

/**
 * The narrowest single filter that lets all of `filters` through: servers before 2.10 take one per consumer, so the
 * rest is left out on our side.
 */
export function coveringFilter(filters: string[]): string {
  const [first, ...rest] = filters.map((f) => f.split('.'));
  if (first === undefined) return '>';
  if (rest.every((f) => f.join('.') === first.join('.'))) return first.join('.');
  // `a.b.>` does not match `a.b`: the common part must be shorter than every filter.
  const most = Math.min(first.length, ...rest.map((f) => f.length)) - 1;
  const common: string[] = [];
  for (const [i, t] of first.slice(0, most).entries()) {
    if (!rest.every((f) => f[i] === t)) break;
    common.push(t);
  }
  return [...common, '>'].join('.');
}
