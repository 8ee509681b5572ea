import { createHash } from 'node:crypto';
import { MusterError } from '../errors/errors.js';
import { NAME_PATTERN } from '../names/names.js';

/** What makers leave in the field for the serial number. It is the same on many machines, so it names none. */
const NONSENSE = new Set([
  'to be filled by o.e.m.',
  'o.e.m.',
  'oem',
  'default string',
  'system serial number',
  'serial number',
  'chassis serial number',
  'not specified',
  'not applicable',
  'not available',
  'unspecified',
  'unknown',
  'invalid',
  'empty',
  'none',
  'null',
  'n/a',
  'na',
  '0123456789',
  '123456789',
  '1234567890',
]);

/** What cannot stand in a name becomes a dash, as in `VMware-56 4d 1c`. */
const asName = (text: string): string =>
  text
    .trim()
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 63);

const NONSENSE_NAMES = new Set([...NONSENSE].map(asName));

/**
 * A serial number, also as it stands in a name, that can tell one machine from another: neither empty, nor a filler, nor
 * one character again and again.
 */
export const isSerial = (text: string): boolean =>
  text !== '' && ![NONSENSE, NONSENSE_NAMES].some((set) => set.has(text.toLowerCase())) && !/^(.)\1*$/.test(text);

/**
 * The serial number of a mainboard as it stands in a name; undefined where its maker has filled in none: `(none)` is not
 * one either.
 */
export function boardSerial(productSerial: string): string | undefined {
  const text = productSerial.trim();
  const name = asName(text);
  return isSerial(text) && isSerial(name) && NAME_PATTERN.test(name) ? name : undefined;
}

/** In hexadecimal, see machine-id(5): an image says `uninitialized` there, on every machine that starts from it. */
export const isMachineId = (text: string): boolean => /^[0-9a-f-]{32,36}$/i.test(text.trim()) && isSerial(text.trim());

/**
 * By what a machine is known: the name that it gives itself, and the serial number of its mainboard, or, where that
 * names none, the id of its installation.
 * @throws BAD_REQUEST where it has no name, or nothing that tells it from others
 */
export function identityOf(host: { hostname: string; productSerial: string; machineId: string }): {
  label: string;
  serial: string;
} {
  const label = asName(host.hostname);
  if (!NAME_PATTERN.test(label) || /^(localhost(\..*)?|\(none\))$/i.test(host.hostname.trim()))
    throw new MusterError('BAD_REQUEST', `the host calls itself "${host.hostname}": give it a name of its own first`);
  const serial = boardSerial(host.productSerial) ?? (isMachineId(host.machineId) ? asName(host.machineId) : undefined);
  if (serial === undefined)
    throw new MusterError('BAD_REQUEST', `${label} has neither a serial number nor a valid /etc/machine-id`);
  return { label, serial };
}

/**
 * Tells one installation from another that shows the same name and serial number. The machine id itself is not told: it
 * is nobody's business beyond the machine (see machine-id(5)).
 */
export const machineOf = (machineId: string): string =>
  createHash('sha256').update(`muster machine ${machineId.trim()}`).digest('hex').slice(0, 32);
