import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  type KeyObject,
} from 'node:crypto';

/** A text that only one can read: X25519 with keys of this one message, HKDF-SHA256, AES-256-GCM. All base64url. */
export interface SealedTo {
  from: string;
  iv: string;
  tag: string;
  data: string;
}

/** Good for one answer: whoever listens on the way, or reads the asker's disk later, learns nothing. */
export interface OneTimeBox {
  publicKey: string;
  /** @throws Error where it was sealed to another, or was changed */
  open(sealed: SealedTo): string;
}

export function oneTimeBox(): OneTimeBox {
  const own = generateKeyPairSync('x25519');
  const publicKey = textOf(own.publicKey);
  return {
    publicKey,
    open: (sealed) => {
      const key = sharedKey(own.privateKey, sealed.from, publicKey, sealed.from);
      const decipher = createDecipheriv('aes-256-gcm', key, bytes(sealed.iv), { authTagLength: 16 });
      decipher.setAuthTag(bytes(sealed.tag));
      return Buffer.concat([decipher.update(bytes(sealed.data)), decipher.final()]).toString('utf8');
    },
  };
}

/** @throws Error where `publicKey` is none */
export function sealTo(publicKey: string, text: string): SealedTo {
  const own = generateKeyPairSync('x25519');
  const from = textOf(own.publicKey);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sharedKey(own.privateKey, publicKey, publicKey, from), iv);
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return {
    from,
    iv: iv.toString('base64url'),
    tag: cipher.getAuthTag().toString('base64url'),
    data: data.toString('base64url'),
  };
}

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

const textOf = (key: KeyObject): string => String(key.export({ format: 'jwk' }).x);

function sharedKey(own: KeyObject, other: string, to: string, from: string): Buffer {
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: other }, format: 'jwk' });
  const secret = diffieHellman({ privateKey: own, publicKey });
  return Buffer.from(hkdfSync('sha256', secret, `${to}.${from}`, 'muster datagram keys', 32));
}
