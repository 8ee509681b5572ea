import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSecret, readSecretsKey, sealSecret } from './secrets.js';

describe('secrets', () => {
  const key = randomBytes(32);

  it('opens what it sealed, and seals the same text differently each time', () => {
    const sealed = sealSecret(key, 'pässword');
    expect(openSecret(key, sealed)).toBe('pässword');
    expect(JSON.stringify(sealed)).not.toContain('pässword');
    expect(sealSecret(key, 'pässword').data).not.toBe(sealed.data);
  });

  it('refuses another key and a changed value', () => {
    const sealed = sealSecret(key, 'password');
    expect(() => openSecret(randomBytes(32), sealed)).toThrow(/cannot be opened/);
    const flipped = Buffer.from(sealed.data, 'base64');
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    expect(() => openSecret(key, { ...sealed, data: flipped.toString('base64') })).toThrow(/cannot be opened/);
    const short = Buffer.from(sealed.tag, 'base64').subarray(0, 4).toString('base64');
    expect(() => openSecret(key, { ...sealed, tag: short })).toThrow(/cannot be opened/);
  });

  it('reads a key file, and names a bad one without showing it', () => {
    const dir = mkdtempSync(join(tmpdir(), 'muster-secrets-'));
    const file = join(dir, 'secrets.key');
    writeFileSync(file, `${key.toString('hex')}\n`);
    expect(readSecretsKey(file)).toEqual(key);
    writeFileSync(file, 'tooshort');
    expect(() => readSecretsKey(file)).toThrow(file);
    expect(() => readSecretsKey(file)).not.toThrow(/tooshort/);
    expect(() => readSecretsKey(join(dir, 'none'))).toThrow(/cannot be read/);
    rmSync(dir, { recursive: true });
  });
});
