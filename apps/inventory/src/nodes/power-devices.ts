import { validateSync } from 'class-validator';
import { MASK, unmasked, type PowerDevice } from '#contracts';
import { PowerDeviceRequest } from '#contracts/rpc/requests.js';
import { toRequest } from '#contracts/rpc/to-request.js';
import { bad } from './node-rules.js';

export interface RecordedDevices {
  powerLevels: PowerDevice[][];
  /** Passwords by the key of bucket `secrets` under which each is to be kept, sealed. */
  secrets: Record<string, string>;
}

/**
 * Key of a password in bucket `secrets`. Each password gets a key of its own: what an older record refers to stays as
 * it is until that record is gone.
 */
export const secretKey = (node: string, device: string, nonce: string): string => `power=${node}=${device}=${nonce}`;

/**
 * Devices of a request as the record has them, and their passwords apart. A device without a password has no `secret`
 * here. `isStored` tells that a password is the one that stands under its device's id already: it gets no new key.
 * @throws MusterError BAD_REQUEST
 */
export function recordedDevices(
  node: string,
  levels: readonly unknown[],
  nonce: string,
  o: {
    isStored?: (device: Omit<PowerDeviceRequest, 'password'>, password: string) => boolean;
    /** Devices of the node, or of the one in whose place it comes: what is masked is taken from them. */
    before?: readonly PowerDevice[];
  } = {},
): RecordedDevices {
  const { isStored = () => false, before = [] } = o;
  const secrets: Record<string, string> = {};
  const powerLevels = readLevels(levels).map((level) =>
    level.map(({ id, driver, address, port, username, password, options, shared }): PowerDevice => {
      const device: PowerDevice = { id, driver, address };
      if (port !== undefined) device.port = port;
      if (username !== undefined) device.username = username;
      if (options !== undefined) device.options = storedOptions({ ...device, options }, before);
      if (shared === true) device.shared = true;
      if (password === undefined || isStored(device, password)) return device;
      const key = secretKey(node, id, nonce);
      secrets[key] = password;
      return { ...device, secret: key };
    }),
  );
  return { powerLevels, secrets };
}

function readLevels(levels: readonly unknown[]): PowerDeviceRequest[][] {
  const ids = new Set<string>();
  return levels.map((level) => {
    if (!Array.isArray(level) || level.length === 0) throw bad('each power level is a list of at least one device');
    return level.map((given: unknown) => readDevice(given, ids));
  });
}

function readDevice(given: unknown, ids: Set<string>): PowerDeviceRequest {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw bad('a power device is an object');
  const device = toRequest(PowerDeviceRequest, given);
  const wrong = validateSync(device, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  const first = wrong[0];
  if (first) throw bad(`power device: ${Object.values(first.constraints ?? {})[0] ?? first.property}`);
  const texts = Object.values(device.options ?? {}).every((v) => typeof v === 'string');
  if (!texts) throw bad(`power device ${device.id}: options must be texts`);
  if (ids.has(device.id)) throw bad(`two power devices are called ${device.id}`);
  ids.add(device.id);
  return device;
}

type Place = Pick<PowerDevice, 'driver' | 'address' | 'port'>;
const IPMI_PORT = 623;

export const samePlace = (a: Place, b: Place): boolean =>
  a.driver === b.driver && a.address === b.address && (a.port ?? IPMI_PORT) === (b.port ?? IPMI_PORT);

/** As {@link storedSecret}, of the options of a device that are masked. @throws MusterError BAD_REQUEST */
function storedOptions(device: PowerDevice, stored: readonly PowerDevice[]): Record<string, string> {
  const { options = {} } = device;
  const was = stored.find((d) => d.id === device.id);
  if (was !== undefined && Object.values(options).includes(MASK) && !samePlace(was, device))
    throw bad(
      `power device ${device.id} goes to another driver, address or port: give its masked options too, the stored ones are for ${was.address}`,
    );
  return unmasked(options, was?.options ?? {}, `power device ${device.id}: options`, 'BAD_REQUEST');
}

/**
 * The password that a device has which comes without one: that of the stored device of the same id, as long as it goes
 * to the same place. Else whoever may edit a node could have its password sent to an address of his own.
 * @throws MusterError BAD_REQUEST where a stored one would go elsewhere
 */
export function storedSecret(device: PowerDevice, stored: readonly PowerDevice[]): string | undefined {
  const was = stored.find((d) => d.id === device.id);
  if (was?.secret === undefined) return undefined;
  if (samePlace(was, device)) return was.secret;
  throw bad(
    `power device ${device.id} goes to another driver, address or port: give its password too, the stored one is for ${was.address}`,
  );
}
