import { MusterError } from '#contracts';

/**
 * Values as YAML that Ansible's parser (PyYAML, YAML 1.1) reads back as exactly these values: every string quoted, so
 * that nothing is taken for a number, a date, a merge key or a tag.
 *
 * `trusted: false`: strings with a `{`, names of members included, get Ansible's `!unsafe`. Ansible would otherwise run
 * them through Jinja on the control machine, where `{{ lookup('pipe', …) }}` is a shell; one brace is enough, for
 * content may put two texts together.
 *
 * @throws BAD_REQUEST for what cannot be written faithfully
 */
export function ansibleYaml(value: unknown, o: { trusted: boolean }, at = 'value'): string {
  if (value === null) return 'null';
  switch (typeof value) {
    case 'boolean':
      return String(value);
    case 'number':
      return number(value, at);
    case 'string':
      return text(value, o, at);
    case 'object':
      if (Array.isArray(value)) return `[${value.map((item, i) => ansibleYaml(item, o, `${at}[${i}]`)).join(', ')}]`;
      return mapping(Object.entries(value), o, at);
    default:
      throw refused(at, `a ${typeof value} has no place in Ansible's variables`);
  }
}

function mapping(entries: [string, unknown][], o: { trusted: boolean }, at: string): string {
  const parts = entries
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => {
      // Ansible's JSON and YAML readers give such members a meaning of their own (vault, unsafe).
      if (key.startsWith('__ansible')) throw refused(`${at}.${key}`, 'names that start with __ansible are reserved');
      return `${text(key, o, at)}: ${ansibleYaml(value, o, `${at}.${key}`)}`;
    });
  return `{${parts.join(', ')}}`;
}

const text = (value: string, o: { trusted: boolean }, at: string): string =>
  (o.trusted || !value.includes('{') ? '' : '!unsafe ') + quoted(value, at);

/** YAML 1.1 takes 1e21 for a string: a float needs its point, and the exponent its sign. */
function number(value: number, at: string): string {
  if (!Number.isFinite(value)) throw refused(at, 'not a finite number');
  const digits = String(value);
  return digits.includes('e') && !digits.includes('.') ? digits.replace('e', '.0e') : digits;
}

/** Double quotes, ASCII only: PyYAML refuses control characters even in quotes, unless they are escaped. */
function quoted(value: string, at: string): string {
  let out = '"';
  for (const char of value) {
    const code = char.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) throw refused(at, 'half of a surrogate pair: not a character');
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (code >= 0x20 && code < 0x7f) out += char;
    else if (code <= 0xffff) out += `\\u${code.toString(16).padStart(4, '0')}`;
    else out += `\\U${code.toString(16).padStart(8, '0')}`;
  }
  return `${out}"`;
}

const refused = (at: string, why: string): MusterError => new MusterError('BAD_REQUEST', `${at}: ${why}`, { at });
