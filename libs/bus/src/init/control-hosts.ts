import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { ipBytes } from '#contracts/addresses/ip-address.js';

/** A machine that runs NATS and the services. */
export interface ControlHost {
  /** Its host name, and its NATS server's. */
  name: string;
  /** IP address on the management network. */
  management: string;
  /** IP address on the backend network. @default there is none */
  backend?: string;
}

/** Of a machine, as a certificate can bear it. */
const HOST = /^(?=.{1,63}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/**
 * `ctl1=10.0.0.1+10.1.0.1,ctl2=…`: name, address on the management network and, after a `+`, on the backend network.
 * @throws MusterError CONFIG_INVALID names what is wrong, as {@link checkControlHosts} does
 */
export function parseControlHosts(text: string): ControlHost[] {
  const hosts = text.split(',').map((part): ControlHost => {
    const [, name, management, backend] = /^\s*([^=\s]+)=([^+\s]+)(?:\+([^+\s]+))?\s*$/.exec(part) ?? [];
    if (name === undefined || management === undefined)
      refuse(`"${part}" is no control host: NAME=ADDRESS or NAME=ADDRESS+BACKEND is, such as ctl1=10.0.0.1+10.1.0.1`);
    return { name, management, ...(backend !== undefined && { backend }) };
  });
  checkControlHosts(hosts);
  return hosts;
}

/** @throws MusterError CONFIG_INVALID where a cluster of NATS cannot be made of them */
export function checkControlHosts(hosts: readonly ControlHost[]): void {
  for (const { name, management, backend } of hosts) {
    if (!HOST.test(name)) refuse(`"${name}" cannot name a control host`);
    for (const address of [management, ...(backend === undefined ? [] : [backend])]) checkAddress(name, address);
  }
  const names = hosts.map(({ name }) => name);
  refuseTwice(
    'name',
    names.map((name) => name.toLowerCase()),
    names,
  );
  // Two spellings of one IPv6 address are the same.
  refuseTwice(
    'address',
    hosts.flatMap(({ management, backend = [] }) =>
      [management, backend].flat().map((a) => ipBytes(a)?.join('.') ?? a),
    ),
    hosts.flatMap(({ management, backend = [] }) => [management, backend].flat()),
  );
  const without = hosts.filter((h) => h.backend === undefined);
  if (without.length > 0 && without.length < hosts.length)
    refuse(
      `${without.map((h) => h.name).join(', ')}: each control host needs an address on the backend network, or none`,
    );
  refuseNumber(hosts.length);
}

function refuseNumber(count: number): void {
  if (count % 2 === 0)
    refuse(
      `${count} control hosts are no safer than ${count - 1}: NATS goes on with more than half of its servers, so ${count} may lose ${count / 2 - 1} of them, as ${count - 1} may; name ${count - 1} or ${count + 1}`,
    );
  if (count > 5) refuse(`${count} control hosts: NATS keeps 5 copies of a record at most; name 1, 3 or 5`);
}

function checkAddress(name: string, address: string): void {
  const bytes = ipBytes(address);
  if (bytes === undefined) refuse(`${name}: "${address}" is no IP address`);
  const [first = 0, second = 0] = bytes;
  const isOfOne =
    bytes.length === 4
      ? first !== 0 && first < 224
      : bytes.some((byte) => byte !== 0) && first !== 0xff && !(first === 0xfe && (second & 0xc0) === 0x80);
  if (!isOfOne) refuse(`${name}: "${address}" is no address by which other machines reach one machine`);
}

function refuseTwice(what: string, all: readonly string[], shown: readonly string[]): void {
  const twice = all.findIndex((one, i) => all.indexOf(one) !== i);
  if (twice >= 0) refuse(`two control hosts cannot have the ${what} ${shown[twice]}`);
}

function refuse(why: string): never {
  throw new MusterError('CONFIG_INVALID', why);
}

/** What {@link initHosts} writes for a host, below the folder of the cluster. */
export const hostFolder = (dir: string, name: string): string => join(dir, 'hosts', name);

/** Names the control hosts of an installation, as {@link initHosts} was told last. */
export const hostsFile = (dir: string): string => join(dir, 'hosts.json');

/**
 * Names of the control hosts of an installation, and of those that went: what was written for them is still there. An
 * installation of an earlier Muster does not say which they are: then all are.
 */
export function writtenHosts(dir: string): { hosts: string[]; gone: string[] } {
  const folder = join(dir, 'hosts');
  const written = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? [e.name] : []))
    : [];
  const file = hostsFile(dir);
  if (!existsSync(file)) return { hosts: written.sort(), gone: [] };
  const named = JSON.parse(readFileSync(file, 'utf8')) as string[];
  return { hosts: named, gone: written.filter((name) => !named.includes(name)).sort() };
}
