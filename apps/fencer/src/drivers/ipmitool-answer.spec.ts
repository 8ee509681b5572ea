import { describe, expect, it } from 'vitest';
import type { GuardResult } from '#bus';
import { ErrorCodes } from '#contracts';
import { readIpmitoolAnswer } from './ipmitool-answer.js';

const NO_SESSION = 'Error: Unable to establish IPMI v2 / RMCP+ session';
const open = (why: string): string => `Error in open session response message : ${why}\n\n${NO_SESSION}`;
const rakp = (why: string): string => `RAKP 2 message indicates an error : ${why}\n${NO_SESSION}`;

/**
 * What ipmitool 1.8.19 (`-v -I lanplus -R 1 -N 5`) writes to stderr, as it was recorded: of ipmi_sim, and of a peer that
 * answers the handshake with each status code of the specification. Each within 0.3 s.
 */
const recorded: [stderr: string, code: string][] = [
  [`> RAKP 2 HMAC is invalid\n${NO_SESSION}`, 'BMC_AUTH'],
  [rakp('unauthorized name'), 'BMC_AUTH'],
  [rakp('invalid name length'), 'BMC_AUTH'],
  [rakp('invalid role'), 'BMC_AUTH'],
  [rakp('unauthorized role requested'), 'BMC_AUTH'],
  [rakp('invalid integrity check value'), 'BMC_AUTH'],
  [rakp('insufficient resources for session'), 'BMC_REFUSED'],
  [rakp('insufficient resources for role'), 'BMC_REFUSED'],
  [rakp('invalid session ID'), 'BMC_REFUSED'],
  [rakp('unauthorized GUID'), 'BMC_REFUSED'],
  [rakp('illegal parameter'), 'BMC_REFUSED'],
  [open('insufficient resources for session'), 'BMC_REFUSED'],
  [open('invalid session ID'), 'BMC_REFUSED'],
  [open('illegal parameter'), 'BMC_REFUSED'],
  [open('invalid authentication algorithm'), 'BMC_CIPHER'],
  [open('invalid integrity algorithm'), 'BMC_CIPHER'],
  [open('invalid confidentiality algorithm'), 'BMC_CIPHER'],
  [open('no matching cipher suite'), 'BMC_CIPHER'],
  [`Address lookup for bmc-1.example.org failed\nCould not open socket!\n${NO_SESSION}`, 'BMC_REFUSED'],
  // A BMC that restarts answers the first question and then no more, or with its port closed.
  [NO_SESSION, 'BMC_REFUSED'],
  [
    'Invalid completion code received: Invalid command\nSet Chassis Power Control to Down/Off failed: Unspecified error',
    'BMC_REFUSED',
  ],
];

const ended = (o: Partial<GuardResult>): GuardResult => ({
  ...{ exitCode: 1, timedOut: false, killed: false, refused: false, stdout: '', tookMs: 160 },
  stderr: '',
  ...o,
});

describe('what ipmitool says', () => {
  it.each(recorded)('%j', (stderr, code) => {
    const outcome = readIpmitoolAnswer('off', ended({ stderr: `Loading IANA PEN Registry...\n${stderr}\n` }));
    expect(outcome).toMatchObject({ ok: false, code });
  });

  it('is final only where the handshake names the user or the password', () => {
    const isFinal = (code: string): boolean => !ErrorCodes[code as keyof typeof ErrorCodes].retry;
    for (const [stderr, code] of recorded)
      if (isFinal(code) && code !== 'BMC_CIPHER')
        expect(stderr).toMatch(/RAKP 2 (HMAC|.*(name|role|integrity check value))/);
  });

  it('names why, without the lines that say nothing', () => {
    const outcome = readIpmitoolAnswer('status', ended({ stderr: open('insufficient resources for session') }));
    expect(outcome).toMatchObject({ power: 'unknown', detail: expect.stringContaining('insufficient resources') });
  });

  it('is a timeout where it had to wait', () => {
    const late = ended({ stderr: `${NO_SESSION}\n`, tookMs: 5_100 });
    expect(readIpmitoolAnswer('status', late)).toMatchObject({ power: 'unknown', code: 'BMC_TIMEOUT' });
    expect(readIpmitoolAnswer('off', ended({ timedOut: true, exitCode: null }))).toMatchObject({ code: 'BMC_TIMEOUT' });
  });
});
