import { createHmac, hkdfSync } from 'node:crypto';
import { isSecretName, isSecretText, MusterError, SEALED } from '#contracts';
import { openSecret, sealSecret } from './secrets.js';

/**
 * The same value with every secret in it sealed where it stands: a text that says nothing without the key. What is
 * secret is what is masked where it is shown. The same secret gives the same text, so that values can be compared.
 * Without any it is the very same.
 *
 * @param key of the services, as of {@link sealSecret}
 */
export const sealMembers = <T>(key: Buffer, value: T): T => sealed(key, value) as T;

function sealed(key: Buffer, value: unknown): unknown {
  if (typeof value === 'string') return isSecretText(value) ? sealedText(key, value) : value;
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => sealed(key, item));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isMapping(value)) return value;
  const members = Object.entries(value).map(
    // Null takes a variable away: there is nothing to hide, and a text would be one.
    ([name, v]) => [name, v !== null && v !== '' && isSecretName(name) ? sealedText(key, v) : sealed(key, v)] as const,
  );
  return members.every(([name, v]) => v === value[name]) ? value : Object.fromEntries(members);
}

/**
 * Undoes {@link sealMembers}. What was stored in clear is taken as it is.
 * @param key undefined: there is none here
 * @throws MusterError CONFIG_INVALID where something is sealed, and the key is missing or another one
 */
export const openMembers = <T>(key: Buffer | undefined, value: T): T => opened(key, value) as T;

function opened(key: Buffer | undefined, value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(SEALED) ? openedText(key, value) : value;
  if (Array.isArray(value)) return value.map((item: unknown) => opened(key, item));
  if (!isMapping(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, opened(key, v)]));
}

function sealedText(key: Buffer, value: unknown): string {
  const text = JSON.stringify(value);
  // By the text and the key: two texts never share one, and who has the key only can tell that two are the same.
  const own = Buffer.from(hkdfSync('sha256', key, '', 'muster sealed members', 32));
  const iv = createHmac('sha256', own).update(text).digest().subarray(0, 12);
  const { iv: at, tag, data } = sealSecret(own, text, iv);
  return `${SEALED}${at}.${tag}.${data}`;
}

function openedText(key: Buffer | undefined, text: string): unknown {
  if (key === undefined)
    throw new MusterError('CONFIG_INVALID', 'what is secret in it is sealed: configure keys.secrets here too');
  const [iv = '', tag = '', data = ''] = text.slice(SEALED.length).split('.');
  const own = Buffer.from(hkdfSync('sha256', key, '', 'muster sealed members', 32));
  return JSON.parse(openSecret(own, { v: 1, iv, tag, data })) as unknown;
}

const isMapping = (x: unknown): x is Record<string, unknown> =>
  typeof x === 'object' && x !== null && !Array.isArray(x);
