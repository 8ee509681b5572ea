import { describe, expect, it } from 'vitest';
import { expiryAlarms, plainAlarms, whyBroken } from './nats-tls.js';

const DAY_MS = 86_400_000;

describe('the alarm of NATS without TLS', () => {
  it('names where it is spoken to over a network', () => {
    const servers = ['nats://127.0.0.1:4222', 'nats://10.0.0.1:4222', 'nats://10.0.0.1:4222'];
    expect(plainAlarms({ encrypted: false, servers })).toEqual([
      expect.objectContaining({
        code: 'nats-plain',
        message: 'NATS is spoken to without TLS at nats://10.0.0.1:4222.',
      }),
    ]);
  });

  it('is none with TLS, or on this machine alone', () => {
    expect(plainAlarms({ encrypted: true, servers: ['nats://10.0.0.1:4222'] })).toEqual([]);
    expect(plainAlarms({ encrypted: false, servers: ['nats://localhost:4222'] })).toEqual([]);
  });
});

describe('the alarm of a certificate that ends', () => {
  it.each([
    [31, undefined],
    [29, 'warning'],
    [4, 'warning'],
    [2, 'critical'],
    [-1, 'critical'],
  ])('%d days before its end: %s', (days, severity) => {
    const now = Date.UTC(2026, 0, 31);
    const [alarm] = expiryAlarms('nats', now + days * DAY_MS, now);
    expect(alarm?.severity).toBe(severity);
    if (days === 29) expect(alarm?.message).toBe('The certificate of NATS ends 2026-03-01.');
    if (days === 2) expect(alarm?.message).toBe('The certificate of NATS ends 2026-02-02.');
  });

  it('is told by what shows it', () => {
    expect(expiryAlarms('http', 0, 1)).toEqual([
      expect.objectContaining({
        subject: 'http',
        severity: 'critical',
        message: 'The certificate of the API (http.tls) has ended: 1970-01-01.',
      }),
    ]);
  });
});

describe('a certificate that cannot be shown', () => {
  it.each([
    ['ENOENT', 'the file is not there any more'],
    ['EISDIR', 'the file cannot be read (EISDIR)'],
    ['ERR_OSSL_PEM_NO_START_LINE', 'it is no certificate (PEM), or only a part of one'],
    [undefined, 'it is no certificate (PEM), or only a part of one'],
    ['EACCES', undefined],
  ])('is told by what is wrong with it: %s', (code, why) => {
    expect(whyBroken(code)).toBe(why);
  });
});
