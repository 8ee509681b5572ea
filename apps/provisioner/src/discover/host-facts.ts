import type { HardwareFacts } from '#contracts';
import { readHardware } from '../ansible/hardware-facts.js';

/** What the module `muster_facts` says of a host. */
export interface HostFacts {
  hostname: string;
  /** Of its mainboard, as the maker filled it in, or did not. */
  productSerial: string;
  machineId: string;
  addresses: { interface: string; address: string }[];
  /** Public keys of its sshd, as in known_hosts without the name. */
  hostKeys: string[];
  /** Null: none is installed. */
  agent: {
    active: boolean;
    node: string | null;
    cluster: string | null;
    /** Of the archive that it was installed from. */
    version: string | null;
    /** Its unit is not the one of an archive: Muster starts it, and changes nothing about it. */
    byHand: boolean;
  } | null;
  /** What it says of its hardware; absent: nothing. */
  hardware?: Omit<HardwareFacts, 'at'>;
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null;
const isText = (x: unknown): x is string => typeof x === 'string';

/** Undefined where the host said something else: it is not believed in parts. */
export function readHostFacts(x: unknown): HostFacts | undefined {
  if (!isObject(x)) return undefined;
  const { hostname, productSerial, machineId, addresses, hostKeys, agent } = x;
  if (!isText(hostname) || !isText(productSerial) || !isText(machineId)) return undefined;
  if (!Array.isArray(addresses) || !addresses.every(isAddress)) return undefined;
  if (!Array.isArray(hostKeys) || !hostKeys.every(isText)) return undefined;
  if (agent !== null && !isAgent(agent)) return undefined;
  const hardware = readHardware(x['hardware']);
  return { hostname, productSerial, machineId, addresses, hostKeys, agent, ...(hardware && { hardware }) };
}

const isAddress = (x: unknown): x is HostFacts['addresses'][number] =>
  isObject(x) && isText(x['interface']) && isText(x['address']);

const isAgent = (x: unknown): x is NonNullable<HostFacts['agent']> =>
  isObject(x) &&
  typeof x['active'] === 'boolean' &&
  typeof x['byHand'] === 'boolean' &&
  [x['node'], x['cluster'], x['version']].every((v) => v === null || isText(v));
