import { beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPairSync } from 'node:crypto';
import { issueServerCertificate, newAuthority, type Certificate } from '#bus/init/certificates.js';
import { judgePair } from './certificate-pair.js';

const NOW = Date.UTC(2026, 5, 1);
let authority: Certificate;
let one: Certificate;
let other: Certificate;
beforeAll(async () => {
  authority = await newAuthority('spec', NOW);
  one = await issueServerCertificate(authority, ['muster.example', '10.0.0.1'], NOW);
  other = await issueServerCertificate(authority, ['muster.example'], NOW);
});
const half = (text: string): string => text.slice(0, text.length / 2);

describe('a certificate and its key', () => {
  it('are shown when they belong together, with those that have signed behind it', () => {
    const judged = { ok: true, names: ['muster.example', '10.0.0.1'], endsAt: NOW + 730 * 86_400_000 };
    expect(judgePair(one)).toEqual(judged);
    expect(judgePair({ ...one, certificate: one.certificate + authority.certificate })).toEqual(judged);
  });

  it('are shown when the certificate has ended: whether to is not said here', async () => {
    const ended = await issueServerCertificate(authority, ['a'], NOW - 3_000 * 86_400_000);
    expect(judgePair(ended)).toMatchObject({ ok: true, names: ['a'] });
  });

  it.each([
    ['of two certificates', () => ({ ...one, key: other.key }), 'do not belong together'],
    [
      'whose certificate is half there',
      () => ({ ...one, certificate: half(one.certificate) }),
      'the certificate is not',
    ],
    ['whose certificate is empty', () => ({ ...one, certificate: '' }), 'the certificate is not'],
    ['whose key is half there', () => ({ ...one, key: half(one.key) }), 'the key is not PEM'],
    ['whose key is empty', () => ({ ...one, key: '' }), 'the key is not PEM'],
    ['whose key is the certificate', () => ({ ...one, key: one.certificate }), 'the key is not PEM'],
    [
      'whose key has a passphrase',
      () => {
        const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
        const key = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
        return { ...one, key: key.toString() };
      },
      'the key has a passphrase',
    ],
  ])('are refused: those %s', (_, pair, why) => {
    const judged = judgePair(pair());
    expect(judged).toEqual({ ok: false, why: expect.stringContaining(why) });
    expect(JSON.stringify(judged)).not.toContain(one.key.split('\n')[1]);
  });
});
