const SECRET_NAME = /pass|secret|token|key|credential/i;
const MASK = '***';

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
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, isSecretName(k) ? MASK : mask(v)]));
}
