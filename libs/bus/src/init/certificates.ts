import { createHash, createPublicKey, webcrypto, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/**
 * Made by @peculiar/x509: Node reads certificates and cannot make them, and `openssl` is not on every machine, least of
 * all in an image of Node. It is loaded only here, where one is made.
 */
async function x509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** PEM. */
export interface Certificate {
  certificate: string;
  /** Secret. */
  key: string;
}

const DAY_MS = 86_400_000;
/** Nobody else signs by it, and to change it every node has to be visited. */
const AUTHORITY_DAYS = 20 * 365;
export const SERVER_DAYS = 2 * 365;
/** The clocks of nodes may be behind. */
const BACKDATED_MS = DAY_MS;

const curve = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

const newKeys = (): Promise<webcrypto.CryptoKeyPair> => webcrypto.subtle.generateKey(curve, true, ['sign', 'verify']);

/** A CA of its own for one cluster. `now`: ms of the wall clock. */
export async function newAuthority(cluster: string, now: number): Promise<Certificate> {
  const lib = await x509();
  const keys = await newKeys();
  const made = await lib.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: `CN=Muster ${cluster} CA`,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(now + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: curve,
    keys,
    extensions: [
      new lib.BasicConstraintsExtension(true, 0, true),
      new lib.KeyUsagesExtension(lib.KeyUsageFlags.keyCertSign | lib.KeyUsageFlags.cRLSign, true),
      await lib.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${made.toString('pem')}\n`, key: await pemOf(keys.privateKey) };
}

/**
 * For a NATS server, also towards the other servers of its cluster, for which it is a client.
 * @param names host names and IP addresses under which it is reached
 * @param now ms of the wall clock
 * @param key PEM: the key that it is for. @default a new one
 */
export async function issueServerCertificate(
  by: Certificate,
  names: readonly string[],
  now: number,
  key?: string,
): Promise<Certificate> {
  const lib = await x509();
  const keys = key === undefined ? await newKeys() : await keysOf(key);
  const authority = new lib.X509Certificate(by.certificate);
  const signingKey = await webcrypto.subtle.importKey('pkcs8', derOf(by.key), curve, false, ['sign']);
  const made = await lib.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: `CN=${names.find((name) => isIP(name) === 0) ?? 'nats-server'}`,
    issuer: authority.subject,
    notBefore: new Date(now - BACKDATED_MS),
    notAfter: new Date(Math.min(now + SERVER_DAYS * DAY_MS, authority.notAfter.getTime())),
    signingAlgorithm: curve,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new lib.BasicConstraintsExtension(false, undefined, true),
      new lib.KeyUsagesExtension(lib.KeyUsageFlags.digitalSignature, true),
      new lib.ExtendedKeyUsageExtension([lib.ExtendedKeyUsage.serverAuth, lib.ExtendedKeyUsage.clientAuth]),
      new lib.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
      ),
      await lib.AuthorityKeyIdentifierExtension.create(authority),
      await lib.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: `${made.toString('pem')}\n`, key: key ?? (await pemOf(keys.privateKey)) };
}

/** Of a key as {@link pemOf} writes it. */
async function keysOf(key: string): Promise<webcrypto.CryptoKeyPair> {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await webcrypto.subtle.importKey('pkcs8', derOf(key), curve, true, ['sign']),
    publicKey: await webcrypto.subtle.importKey('spki', spki, curve, true, ['verify']),
  };
}

/** By what nats-server knows the key of a certificate (`pinned_certs`): hex SHA-256 of its DER. */
export function pinOf(pem: string): string {
  const der = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(der).digest('hex');
}

/** What a certificate says of itself. */
export interface ShownCertificate {
  names: string[];
  /** ms of the wall clock. */
  endsAt: number;
}

/** @throws Error where the text holds none */
export function shownCertificate(pem: string): ShownCertificate {
  const { subjectAltName = '', validTo } = new X509Certificate(pem);
  return {
    names: [...subjectAltName.matchAll(/(?:DNS|IP Address):([^,\s]+)/g)].map(([, name]) => name!),
    endsAt: Date.parse(validTo),
  };
}

/** Positive, 16 bytes: the library's own may begin with a zero, which openssl refuses. */
function newSerial(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  const text = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${text.match(/.{1,64}/g)!.join('\n')}\n-----END PRIVATE KEY-----\n`;
}

const derOf = (pem: string): Buffer => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
