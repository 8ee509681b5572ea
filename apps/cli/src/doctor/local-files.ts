import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { shownCertificate } from '#bus/init/certificates.js';
import { keyBeside, tlsFiles } from '#bus/init/tls-files.js';
import { word } from '#contracts/remedies/remedy.js';
import { HOST_ENV } from '../hosts/host-files.js';
import type { CertificateFacts, FileFacts, LocalFacts } from './files.js';

/** Where an installation lies, unless somebody says. */
const PLACES = ['/etc/muster', '.muster'];

const KEYS: [name: string, what: string, needed: boolean][] = [
  ['datagram', 'the key of the agents’ datagrams', true],
  ['secrets', 'the key that seals secrets in the store', true],
  ['agents', 'the key that signs agents’ NATS users', true],
  ['revoker', 'the key of revocations', true],
];
const USERS = ['detector', 'inventory', 'provisioner', 'fencer', 'gateway'];
/** Below the folder of the installation: the private key of the API's certificate, where it is kept as the units show it. */
const HTTP_KEY = 'http-key';

/**
 * The files of the installation on this machine that hold secrets, and its certificates.
 * @param given its folder; absent: by MUSTER_CONFIG, else /etc/muster, else ./.muster
 */
export function localFacts(given: string | undefined, env: NodeJS.ProcessEnv): LocalFacts {
  const dir = given ?? configured(env) ?? PLACES.find((place) => existsSync(join(place, 'muster.yaml')));
  if (dir === undefined || !existsSync(dir)) return { files: [] };
  const at = resolve(dir);
  const named = namedFiles(join(at, 'muster.yaml'));
  const tls = [natsTls(at, named['certificate']), httpTls(at, named)];
  const isOneOfSeveral = existsSync(join(at, HOST_ENV));
  return {
    dir: at,
    files: [
      fileAt(at, 'the folder of the installation', { needed: true }),
      fileAt(join(at, 'muster.yaml'), 'the configuration', { needed: true }),
      fileAt(join(at, 'nats-accounts.conf'), 'the accounts of NATS'),
      ...KEYS.map(([name, what, needed]) => fileAt(named[name] ?? keyFile(at, name), what, { needed })),
      fileAt(keyFile(at, 'operator'), 'the key that signs all of NATS', { isMisplaced: isOneOfSeveral }),
      ...(existsSync(tlsFiles(at).ca)
        ? [fileAt(tlsFiles(at).caKey, 'the key of the CA', { isMisplaced: isOneOfSeveral })]
        : []),
      ...tls.flatMap(({ files }) => files),
      ...USERS.map((user) => fileAt(join(at, 'creds', `${user}.json`), `the NATS user of ${user}`, { needed: true })),
      fileAt(join(at, 'creds', 'tools.creds'), 'the NATS user of programs'),
      fileAt(named['tokens'] ?? join(at, 'tokens.json'), 'the tokens of the API', {
        needed: named['tokens'] !== undefined,
      }),
      ...(named['privateKey'] === undefined
        ? []
        : [fileAt(named['privateKey'], 'the ssh key to the nodes', { needed: true })]),
    ],
    certificates: tls.flatMap(({ certificates }) => certificates),
  };
}

interface TlsFacts {
  files: FileFacts[];
  certificates: CertificateFacts[];
}

const keyFile = (dir: string, name: string): string => join(dir, 'keys', `${name}.key`);

/** What NATS speaks TLS by; nothing where it speaks without, or where no server is configured, as in the folder of all hosts. */
function natsTls(dir: string, named: string | undefined): TlsFacts {
  const files = tlsFiles(dir);
  const remedy = existsSync(join(dir, HOST_ENV))
    ? 'muster tls renew with --dir, where muster init --hosts was said, and copy the folder of this host anew'
    : `muster tls renew --dir ${word(dir)}`;
  const key = natsKey(dir);
  // Without a server here the CA is what is left; with a key from elsewhere it is not ours.
  const hasAuthority = existsSync(files.ca) || key?.isOwn === true;
  return {
    files: [
      ...(key?.path === files.key
        ? [fileAt(dirname(key.path), 'the folder of the key of NATS', { needed: true, remedy })]
        : []),
      ...(key === undefined ? [] : [fileAt(key.path, 'the key of NATS', { needed: true, remedy })]),
    ],
    certificates: [
      ...(key === undefined ? [] : [certificateAt(named ?? files.certificate, 'the certificate of NATS', remedy)]),
      ...(hasAuthority ? [certificateAt(files.ca, 'the CA of NATS', AUTHORITY)] : []),
    ],
  };
}

const AUTHORITY = 'restore it from a backup; in place of one that ends there is a new installation: docs/security.md';

/** The key that nats.conf names; `isOwn`: muster init made it. It is below this folder also where that was written for another place. */
function natsKey(dir: string): { path: string; isOwn: boolean } | undefined {
  const [, path] = /^\s*key_file: *["']?([^"'\s]+)/m.exec(textOf(join(dir, 'nats.conf')) ?? '') ?? [];
  if (path === undefined) return undefined;
  const own = [tlsFiles('').key, keyBeside('')].find((key) => path.endsWith(`/${key}`));
  return own === undefined ? { path, isOwn: false } : { path: join(dir, own), isOwn: true };
}

function httpTls(dir: string, { httpCertificate, httpKey }: Record<string, string>): TlsFacts {
  if (httpCertificate === undefined || httpKey === undefined) return { files: [], certificates: [] };
  const remedy = 'put another pair into the files of http.tls: docs/security.md';
  const folder = join(dir, HTTP_KEY);
  return {
    files: [
      ...(dirname(httpKey) === folder
        ? [fileAt(folder, 'the folder of the key of the API', { needed: true, remedy })]
        : []),
      fileAt(httpKey, 'the key of the API', { needed: true, remedy }),
    ],
    certificates: [certificateAt(httpCertificate, 'the certificate of the API', remedy)],
  };
}

function fileAt(path: string, what: string, o: Partial<Omit<FileFacts, 'path' | 'what' | 'found'>> = {}): FileFacts {
  const found = readFacts(path);
  return { path, what, needed: false, ...o, ...(found !== undefined && { found }) };
}

const configured = (env: NodeJS.ProcessEnv): string | undefined => {
  const file = env['MUSTER_CONFIG'];
  return file === undefined || file === '' ? undefined : dirname(file);
};

/** Settings that name a file, by the name that they have here. */
const NAMED: Record<string, readonly string[]> = {
  datagram: ['keys', 'datagram'],
  secrets: ['keys', 'secrets'],
  agents: ['keys', 'agents'],
  revoker: ['keys', 'revoker'],
  tokens: ['http', 'tokens'],
  httpCertificate: ['http', 'tls', 'certificate'],
  httpKey: ['http', 'tls', 'key'],
  certificate: ['nats', 'certificate'],
  privateKey: ['ansible', 'privateKey'],
};

/** Paths that `muster.yaml` names. A doctor must not fail on a file that is wrong, and the services say what is wrong in it. */
function namedFiles(file: string): Record<string, string> {
  const document = parseDocument(textOf(file) ?? '');
  return Object.fromEntries(
    Object.entries(NAMED).flatMap(([name, path]) => {
      const value: unknown = document.getIn(path);
      return typeof value === 'string' && value !== '' ? [[name, resolve(dirname(file), value)]] : [];
    }),
  );
}

/** Undefined where it is not there, or may not be read: its own line says so. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function certificateAt(path: string, what: string, remedy: string): CertificateFacts {
  const found = readCertificate(path);
  return { path, what, remedy, ...(found !== undefined && { found }) };
}

function readCertificate(path: string): CertificateFacts['found'] {
  let pem: string;
  try {
    pem = readFileSync(path, 'utf8');
  } catch (e) {
    return isGone(e) ? undefined : 'denied';
  }
  try {
    return { endsAt: shownCertificate(pem).endsAt };
  } catch {
    return 'none';
  }
}

const isGone = (e: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes((e as NodeJS.ErrnoException).code ?? '');

function readFacts(path: string): FileFacts['found'] {
  try {
    const found = statSync(path);
    return { mode: found.mode, uid: found.uid, isFolder: found.isDirectory(), isEmpty: found.size === 0 };
  } catch (e) {
    return isGone(e) ? undefined : 'denied';
  }
}
