import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { MusterError } from '#contracts';
import { beyondLoopback, hostOfServer, namesHost } from '#contracts/keys/nats-tls.js';
import { systemClock } from '../system/system-clock.js';
import {
  issueServerCertificate,
  newAuthority,
  SERVER_DAYS,
  shownCertificate,
  type Certificate,
  type ShownCertificate,
} from './certificates.js';
import { privateFolder, writePrivately } from './private-files.js';

const DAY_MS = 86_400_000;
/** At an occasion, a certificate is issued anew when less than this is left of it. */
const RENEW_WITHIN_DAYS = SERVER_DAYS / 4;

/** Of a folder of `muster init`. Folders are shown whole, so that a file renamed into them is seen: the key has its own. */
export const tlsFiles = (dir: string) => ({
  ca: join(dir, 'tls', 'ca.pem'),
  caKey: join(dir, 'keys', 'ca.key'),
  certificate: join(dir, 'tls', 'server.pem'),
  key: join(dir, 'tls-key', 'server.key'),
});

/** Where an earlier Muster kept the server's key: in the folder that shows its certificate. */
const KEY_BESIDE = 'tls/server.key';

export const keyBeside = (dir: string): string => join(dir, KEY_BESIDE);

/** Where the server's key is by now. */
function presentKey(dir: string): string {
  const { key } = tlsFiles(dir);
  return existsSync(key) || !existsSync(keyBeside(dir)) ? key : keyBeside(dir);
}

/** The certificate and its key that are there. */
export function presentCertificate(dir: string): Partial<Certificate> {
  const [certificate, key] = [tlsFiles(dir).certificate, presentKey(dir)].map((file) =>
    existsSync(file) ? readFileSync(file, 'utf8') : undefined,
  );
  return { ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }) };
}

/**
 * Gives a key that lies beside its certificate the folder of its own, and has nats.conf name it there. A server that runs
 * has read both: it goes on, and reads the new ones at its next start.
 * @returns whether it lay there
 */
export function moveKeyApart(dir: string): boolean {
  const beside = keyBeside(dir);
  if (!existsSync(beside)) return false;
  const { key } = tlsFiles(dir);
  privateFolder(dirname(key));
  // One that is there came later: the other was left over when a host's folder was copied.
  if (!existsSync(key)) writePrivately(key, readFileSync(beside));
  const conf = join(dir, 'nats.conf');
  if (existsSync(conf))
    writePrivately(
      conf,
      readFileSync(conf, 'utf8').replace(/^( *key_file: ".*\/)tls\/server\.key"$/gm, '$1tls-key/server.key"'),
    );
  // Last: until then each file that nats.conf has named is there.
  rmSync(beside);
  return true;
}

/** PEM of the CA that NATS clients of this cluster are to trust; undefined where its NATS speaks without TLS. */
export function authorityOf(dir: string): string | undefined {
  const { ca } = tlsFiles(dir);
  return existsSync(ca) ? readFileSync(ca, 'utf8') : undefined;
}

/** Makes the CA of a cluster; one that exists stays. */
export async function ensureAuthority(dir: string, cluster: string): Promise<void> {
  const files = tlsFiles(dir);
  if (existsSync(files.ca)) return;
  for (const folder of ['tls', 'keys']) privateFolder(join(dir, folder));
  const made = await newAuthority(cluster, systemClock.wallMs());
  // The certificate last: without its key it would be a CA for good that can sign nothing.
  writePrivately(files.caKey, made.key);
  writePrivately(files.ca, made.certificate);
}

/**
 * Sees to it that the server's certificate names all of `names` and lasts: else it is issued anew, with the names that it
 * had before. The CA stays, so no client has to be told. @returns whether it was issued
 */
export async function ensureServerCertificate(dir: string, names: readonly string[]): Promise<boolean> {
  const { certificate } = presentCertificate(dir);
  if (certificate !== undefined && !isDue(certificate, names, systemClock.wallMs())) return false;
  await renewServerCertificate(dir, names);
  return true;
}

/** Whether a certificate does not name all of `names`, or ends soon. */
export function isDue(pem: string, names: readonly string[], now: number): boolean {
  return missing(pem, names).length > 0 || shownCertificate(pem).endsAt - now < RENEW_WITHIN_DAYS * DAY_MS;
}

/**
 * Issues the server's certificate anew: with the names that it had, and these. A control host's is for the key that it
 * has, by which the other servers know it.
 * @param authorityIn folder with the CA and its key, where `dir` is a control host's. @default `dir`
 * @throws MusterError CONFIG_INVALID: there is no CA, or its key is not here
 */
export async function renewServerCertificate(
  dir: string,
  more: readonly string[],
  authorityIn = dir,
): Promise<ShownCertificate> {
  const before = presentCertificate(dir);
  const names =
    before.certificate === undefined
      ? more
      : [...shownCertificate(before.certificate).names, ...missing(before.certificate, more)];
  const key = authorityIn === dir ? undefined : before.key;
  const made = await issueServerCertificate(readAuthority(authorityIn), [...new Set(names)], systemClock.wallMs(), key);
  const keyFile = presentKey(dir);
  privateFolder(dirname(keyFile));
  // A server that is reloaded between the two refuses the pair, and goes on with what it has.
  writePrivately(keyFile, made.key);
  writePrivately(tlsFiles(dir).certificate, made.certificate);
  return shownCertificate(made.certificate);
}

/** @throws MusterError CONFIG_INVALID */
export function readAuthority(dir: string): Certificate {
  const { ca, caKey } = tlsFiles(dir);
  try {
    return { certificate: readFileSync(ca, 'utf8'), key: readFileSync(caKey, 'utf8') };
  } catch (cause) {
    const file = (cause as NodeJS.ErrnoException).path ?? dir;
    throw new MusterError('CONFIG_INVALID', `${file} cannot be read: nothing can be signed without it`, {}, { cause });
  }
}

function missing(pem: string, names: readonly string[]): string[] {
  const shown = new X509Certificate(pem);
  return names.filter((name) => !namesHost(shown, name));
}

/**
 * Under which names a NATS server is reached: those that are given, where it listens, and as its own machine reaches it.
 * @param listen `host:port`
 */
export function certificateNames(listen: readonly string[], given: readonly string[], own: OwnNames): string[] {
  const hosts = listen.map(hostOfServer);
  const all = hosts.some((host) => host === '0.0.0.0' || host === '::');
  const names = [
    ...given,
    own.hostname,
    ...hosts.filter((host) => host !== '0.0.0.0' && host !== '::'),
    ...(all ? own.addresses : []),
    'localhost',
    '127.0.0.1',
    '::1',
  ];
  return [...new Set(names)];
}

export interface OwnNames {
  hostname: string;
  /** Without loopback and link-local ones. */
  addresses: string[];
}

export const ownNames = (): OwnNames => ({
  hostname: hostname(),
  addresses: Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((a) => !a.internal && !/^fe80:/i.test(a.address))
    .map((a) => a.address),
});

/** @throws MusterError CONFIG_INVALID where a certificate cannot name it */
export function checkCertificateName(name: string): void {
  if (isIP(name) === 0 && !/^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_-]+)*$/.test(name))
    throw new MusterError('CONFIG_INVALID', `"${name}" is no host name and no IP address`);
}

/** Whether a server that listens there is reached by nobody but its own machine. */
export const isOwnMachineOnly = (listen: readonly string[]): boolean => beyondLoopback(listen).length === 0;
