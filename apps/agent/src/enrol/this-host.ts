import { readdirSync, readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { MusterError } from '#contracts/errors/errors.js';
import { addressesAt, sameAddress, type HostAddress } from '#contracts/addresses/host-addresses.js';
import { boardSerial, identityOf, isMachineId, machineOf } from '#contracts/node/identity.js';
import { isLoopback } from '#contracts/addresses/ip-address.js';
import { MANAGEMENT, type Networks } from '#contracts/addresses/networks.js';
import { musterRoot } from '../config/agent-config.js';

/** What this host says of itself when it is to be let in. */
export interface ThisHost {
  label: string;
  serial: string;
  /** See `machineOf`; absent where it has no machine id. */
  machine?: string;
  /** Of its mainboard: see `boardSerial`. */
  productSerial?: string;
  hostKeys: string[];
}

/** As the playbooks of discover see it. @throws MusterError BAD_REQUEST where it has no name or nothing that tells it from others */
export function thisHost(): ThisHost {
  const root = musterRoot();
  const machineId = textOf(`${root}/etc/machine-id`);
  const productSerial = textOf(`${root}/sys/class/dmi/id/product_serial`);
  const board = boardSerial(productSerial);
  const identity = identityOf({
    hostname: root === '' ? hostname() : textOf(`${root}/etc/hostname`),
    productSerial,
    machineId,
  });
  return {
    ...identity,
    hostKeys: hostKeys(`${root}/etc/ssh`),
    ...(isMachineId(machineId) && { machine: machineOf(machineId) }),
    ...(board !== undefined && { productSerial: board }),
  };
}

/** Empty where there is no such file. One that only root may read would give this host another name. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EACCES') return '';
    throw new MusterError('FORBIDDEN', `${file} may not be read: run this as root`, {}, { cause });
  }
}

/** Type and key, without the comment. */
function hostKeys(folder: string): string[] {
  let files: string[];
  try {
    files = readdirSync(folder).filter((name) => /^ssh_host_.*_key\.pub$/.test(name));
  } catch {
    return [];
  }
  const keys = files.map((name) => textOf(join(folder, name)).split(/\s+/).slice(0, 2));
  return [...new Set(keys.filter((words) => words.length === 2).map((words) => words.join(' ')))].sort();
}

export const ownAddresses = (): HostAddress[] =>
  Object.entries(networkInterfaces()).flatMap(([name, all]) =>
    (all ?? []).map(({ address }) => ({ interface: name, address })),
  );

/**
 * The networks of this host, with its own address on each. `from`: the address from which the server was reached.
 * @throws MusterError BAD_REQUEST where it has not exactly one address on each
 */
export function ownNetworks(
  wanted: Readonly<Record<string, string>>,
  addresses: readonly HostAddress[],
  from: string,
): Networks {
  const networks: Networks = {};
  for (const [name, where] of Object.entries(wanted)) {
    const found = addressesAt(where, addresses);
    const [address] = found;
    if (address === undefined || found.length > 1)
      throw new MusterError(
        'BAD_REQUEST',
        `--network ${name}=${where}: this host has ${address === undefined ? 'no address' : `${found.length} addresses (${found.join(' ')})`} there`,
      );
    networks[name] = { address };
  }
  if (networks[MANAGEMENT] !== undefined) return networks;
  const own = addresses.find((a) => sameAddress(a.address, from));
  if (own === undefined || isLoopback(own.address))
    throw new MusterError(
      'BAD_REQUEST',
      `the server is reached from ${from}, which names this host to nobody else: say --network ${MANAGEMENT}=INTERFACE`,
    );
  return { [MANAGEMENT]: { address: own.address }, ...networks };
}
