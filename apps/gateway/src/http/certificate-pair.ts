import { createPrivateKey } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { shownCertificate } from '#bus';

/** PEM: a certificate with its private key, as both stand in their files. */
export interface CertificatePair {
  certificate: string;
  /** Secret. */
  key: string;
}

export type JudgedPair =
  | { ok: true; names: string[]; /** ms of the wall clock. */ endsAt: number }
  /** `why`: half a sentence, without a word of the key. */
  | { ok: false; why: string };

/** Whether a server can show this certificate. One that has ended can still be shown: `endsAt` says so. */
export function judgePair({ certificate, key }: CertificatePair): JudgedPair {
  let shown;
  try {
    shown = shownCertificate(certificate);
  } catch {
    return { ok: false, why: 'the certificate is not PEM, or only a part of it' };
  }
  if (key.includes('ENCRYPTED')) return { ok: false, why: 'the key has a passphrase: nobody is there to type it' };
  try {
    // By itself first: a secure context takes an empty one for none.
    createPrivateKey(key);
  } catch {
    return { ok: false, why: 'the key is not PEM, or only a part of it' };
  }
  try {
    createSecureContext({ cert: certificate, key });
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    const foreign = code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH';
    return { ok: false, why: foreign ? 'certificate and key do not belong together' : message };
  }
  return { ok: true, ...shown };
}
