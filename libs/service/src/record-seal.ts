import { openMembers, readSecretsKey, sealMembers } from '#bus';
import {
  masked,
  POWER_OPTIONS,
  sealable,
  SEALED_SCHEMA,
  type BucketName,
  type RecordSeal,
  type ServiceName,
} from '#contracts';
import type { ServiceConfig } from './config.js';

/** What a service's records are sealed and opened by; undefined: it needs nothing of what is sealed in them. */
export function recordSeal(service: ServiceName, { keys }: Pick<ServiceConfig, 'keys'>): RecordSeal | undefined {
  let key: Buffer | undefined;
  const keyOf = (): Buffer | undefined =>
    keys.secrets === undefined ? undefined : (key ??= readSecretsKey(keys.secrets));
  if (service === 'inventory') return ownSeal(keyOf);
  return service === 'fencer' ? powerOptionsSeal(keyOf) : undefined;
}

/** Read when it is needed first; undefined: none is configured. @throws MusterError CONFIG_INVALID */
export type KeyOfSeals = () => Buffer | undefined;

/** For the one who owns the records: nobody behind it meets anything sealed. Without a key it stores all in clear. */
export const ownSeal = (keyOf: KeyOfSeals): RecordSeal => ({
  open: (bucket, stored) => {
    const { schema: _sealed, ...record } = openRecord(keyOf, bucket, stored) as { schema: unknown };
    return record;
  },
  seal: (bucket, value) => {
    const sealed = (sealable[bucket] ?? []).reduce(
      (record, path) => withMembersAt(record, path, (member) => sealedMember(keyOf, member)),
      value,
    );
    return sealed === value ? value : { ...(sealed as object), schema: SEALED_SCHEMA };
  },
});

/**
 * For a fencer, which only reads the records of nodes, and needs nothing but the options of their power devices. What
 * its key does not open stays sealed, and is refused where it is to be used: a node is not unknown for that.
 */
export const powerOptionsSeal = (keyOf: KeyOfSeals): RecordSeal => ({
  open: (bucket, stored) => {
    if (bucket !== 'nodes') return stored;
    try {
      return withMembersAt(stored, POWER_OPTIONS, (options) => openedMember(keyOf, options));
    } catch {
      // Who gives a command tries again, and tells why it cannot.
      return stored;
    }
  },
  seal: (_bucket, value) => value,
});

/**
 * A record as it was before it was sealed; one in clear as it is.
 * @throws MusterError CONFIG_INVALID where it is sealed, and the key is missing or another one
 */
export const openRecord = <T>(keyOf: KeyOfSeals, bucket: BucketName, stored: T): T =>
  isSealed(stored)
    ? ((sealable[bucket] ?? []).reduce<unknown>(
        (record, path) => withMembersAt(record, path, (member) => openedMember(keyOf, member)),
        stored,
      ) as T)
    : stored;

const isSealed = (record: unknown): boolean => (record as { schema?: unknown }).schema === SEALED_SCHEMA;

/** Where nothing is secret no key is needed, and the value stays the very same. */
function sealedMember(keyOf: KeyOfSeals, member: unknown): unknown {
  if (masked(member) === member) return member;
  const key = keyOf();
  if (key === undefined) return member;
  return sealMembers(key, member);
}

const openedMember = (keyOf: KeyOfSeals, member: unknown): unknown => openMembers(keyOf(), member);

/** The value with what stands at the path replaced; the very same where nothing is, or is another then. */
const withMembersAt = (value: unknown, path: string, fn: (member: unknown) => unknown): unknown =>
  replaced(value, path.split('.'), fn);

function replaced(value: unknown, [name, ...rest]: readonly string[], fn: (member: unknown) => unknown): unknown {
  if (name === undefined) return fn(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (name !== '*') return value;
    const items = value.map((item: unknown) => replaced(item, rest, fn));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  const members = Object.entries(value).map(
    ([key, member]) => [key, name === '*' || name === key ? replaced(member, rest, fn) : member] as const,
  );
  return members.every(([key, member]) => member === (value as Record<string, unknown>)[key])
    ? value
    : Object.fromEntries(members);
}
