import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MusterError } from '#contracts';

/** As kept in bucket `secrets`: AES-256-GCM, base64. Without the key file of the services it says nothing. */
export interface SealedSecret {
  v: 1;
  iv: string;
  tag: string;
  data: string;
}

const KEY_BYTES = 32;

/** Reads a key file: 64 hex digits. @throws CONFIG_INVALID naming the file, never its content. */
export function readSecretsKey(file: string): Buffer {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', `the key file ${file} cannot be read`, { file }, { cause });
  }
  if (!/^[0-9a-fA-F]{64}$/.test(text))
    throw new MusterError('CONFIG_INVALID', `the key file ${file} must hold 64 hex digits`, { file });
  return Buffer.from(text, 'hex');
}

/** @param iv never the same for two texts under one key. @default random */
export function sealSecret(key: Buffer, text: string, iv: Buffer = randomBytes(12)): SealedSecret {
  if (key.length !== KEY_BYTES) throw new RangeError(`a secrets key has ${KEY_BYTES} bytes`);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return {
    v: 1,
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  };
}

/** @throws CONFIG_INVALID where the key is another one, or the value was tampered with. */
export function openSecret(key: Buffer, sealed: SealedSecret): string {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(sealed.iv, 'base64'), { authTagLength: 16 });
    decipher.setAuthTag(Buffer.from(sealed.tag, 'base64'));
    return Buffer.concat([decipher.update(Buffer.from(sealed.data, 'base64')), decipher.final()]).toString('utf8');
  } catch (cause) {
    throw new MusterError('CONFIG_INVALID', 'a sealed secret cannot be opened with this secrets key', {}, { cause });
  }
}
