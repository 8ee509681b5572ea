import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { issueServerCertificate, newAuthority, shownCertificate, type Certificate } from './certificates.js';

const NOW = Date.UTC(2026, 5, 1);
const NAMES = ['control-1', 'localhost', '10.0.0.1', 'fd00::1'];
const DAY_MS = 86_400_000;

let dir: string;
let authority: Certificate;
let server: Certificate;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'muster-certificates-'));
  authority = await newAuthority('spec', NOW);
  server = await issueServerCertificate(authority, NAMES, NOW);
  for (const [file, text] of Object.entries({ ca: authority.certificate, server: server.certificate }))
    writeFileSync(join(dir, file), text);
});
afterAll(() => rmSync(dir, { recursive: true }));

/** The judge that most others use. */
const judged = (...more: string[]) => {
  const { exitCode, all } = execaSync(
    'openssl',
    ['verify', '-x509_strict', '-CAfile', join(dir, 'ca'), '-attime', String(NOW / 1000), ...more, join(dir, 'server')],
    { reject: false, all: true },
  );
  return [exitCode, all?.replaceAll('\n', ' ')];
};

describe('a certificate of a NATS server', () => {
  it.each(['sslserver', 'sslclient'])('is good for openssl, strictly, as %s', (purpose) => {
    expect(judged('-purpose', purpose)).toEqual([0, expect.stringMatching(/OK$/)]);
  });

  it('is good for each of its names, and for no other', () => {
    expect(judged('-verify_ip', '10.0.0.1')).toEqual([0, expect.anything()]);
    expect(judged('-verify_ip', 'fd00::1')).toEqual([0, expect.anything()]);
    expect(judged('-verify_hostname', 'control-1')).toEqual([0, expect.anything()]);
    expect(judged('-verify_ip', '10.0.0.2')).toEqual([2, expect.stringContaining('IP address mismatch')]);
  });

  it('lasts two years, and holds for clocks that are a day behind', () => {
    const at = (ms: number) => judged('-attime', String(Math.floor(ms / 1000)))[0];
    expect([-DAY_MS, 729 * DAY_MS, 731 * DAY_MS].map((after) => at(NOW + after))).toEqual([0, 0, 2]);
  });

  it('signs nobody', () => {
    expect(new X509Certificate(server.certificate).ca).toBe(false);
    expect(new X509Certificate(authority.certificate).ca).toBe(true);
  });

  it('is told by its names and its end', () => {
    expect(shownCertificate(server.certificate)).toEqual({
      names: ['control-1', 'localhost', '10.0.0.1', 'FD00:0:0:0:0:0:0:1'],
      endsAt: NOW + 730 * DAY_MS,
    });
  });

  it('is not believed where another CA has signed it', async () => {
    const other = await issueServerCertificate(await newAuthority('spec', NOW), NAMES, NOW);
    writeFileSync(join(dir, 'server'), other.certificate);
    try {
      expect(judged()[0]).toBe(2);
    } finally {
      writeFileSync(join(dir, 'server'), server.certificate);
    }
  });
});
