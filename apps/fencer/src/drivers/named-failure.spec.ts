import { describe, expect, it } from 'vitest';
import { namedFailure } from './named-failure.js';

const device = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1', username: 'admin' };

describe('a failure of a power device', () => {
  it.each([
    [
      'BMC_TIMEOUT',
      'no session within 6.0 s',
      /^bmc at 10\.2\.0\.1:623 as admin: no session within 6\.0 s; .*--port …$/,
    ],
    ['BMC_AUTH', 'refused', /^bmc at 10\.2\.0\.1:623 as admin: refused; correct it by: .* --password-stdin$/],
    ['BMC_CIPHER', 'none', /--option cipher=17$/],
    ['COMMAND_FAILED', 'stopped', /^bmc at 10\.2\.0\.1:623 as admin: stopped$/],
  ] as const)('%s names the device, its place and what to do', (code, detail, told) => {
    expect(namedFailure('10.2.0.1:623', device, code, detail)).toMatch(told);
  });
});
