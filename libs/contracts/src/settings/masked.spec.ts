import { describe, expect, it } from 'vitest';
import { quickest } from '../testing/quickest.js';
import { MASK, masked, unmasked } from './masked.js';
import { isSecretName, isSecretText, passwordsInUrls } from './secret-names.js';

describe('a secret', () => {
  it.each([
    'db_password',
    'db_pwd',
    'dbPwd',
    'dsn',
    'DATABASE_DSN',
    'psk',
    'wifi_psk',
    'auth',
    'basic_auth',
    'authorization',
    'snmp_community',
    'api_key',
    'ipmi_pw',
    'jwt',
    'pin',
    'vault_token',
  ])('is known by its name: %s', (name) => expect(isSecretName(name)).toBe(true));

  it.each(['author', 'authority', 'rack', 'spin_up', 'ping_targets', 'zone', 'muster_capacity', 'port', 'saltmine'])(
    'is not seen in every name: %s',
    (name) => expect(isSecretName(name)).toBe(false),
  );

  it.each([
    'postgres://u:p4ss@db/x',
    'see redis://:p4ss@cache:6379 first',
    'https://ghp_abcdef@github.com/x',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3B',
    'host=db user=x password=p4ss',
    '{"api_key": "p4ss"}',
    'curl -H "Authorization: Bearer x"',
    'Bearer abcdefgh12345',
    'run --token=p4ss',
  ])('shows in a text, whatever its name is: %s', (text) => expect(isSecretText(text)).toBe(true));

  it.each([
    'http://host:8080/@scope/package',
    'https://example.org/a?b=c',
    'ssh://git@host/x',
    'the password is in the vault',
    'a: b',
    'user@host',
  ])('is not seen in every text: %s', (text) => expect(isSecretText(text)).toBe(false));

  it('within a URL is its password', () => {
    expect(passwordsInUrls('postgres://u:p4ss@db/x amqp://a:b%40c@q https://t0ken@h ssh://git@h')).toEqual([
      'p4ss',
      'b%40c',
      't0ken',
    ]);
  });

  it('is looked for in a time that grows with the text alone', async () => {
    const texts = [
      'a'.repeat(1e6),
      '://'.repeat(3e5),
      'pass'.repeat(2e5),
      `pass${' '.repeat(1e6)}`,
      '://x:'.repeat(2e5),
    ];
    const took = await quickest(500, () => {
      const started = performance.now();
      for (const text of texts) isSecretText(text);
      return Promise.resolve(performance.now() - started);
    });
    expect(took).toBeLessThan(500);
  });
});

describe('what is shown', () => {
  const stored = {
    rack: 'r1',
    db_pwd: 'p1',
    dsn: 'postgres://u:p2@h',
    url: 'postgres://u:p3@h',
    deep: [{ name: 'a', psk: 'p4' }, { name: 'b', text: 'x password=p5' }, 'redis://:p6@h'],
    snmp_community: ['p7'],
    port: 5432,
  };

  it('holds no secret, keeps its shape, and is the same where there is none', () => {
    expect(masked(stored)).toEqual({
      rack: 'r1',
      db_pwd: MASK,
      dsn: MASK,
      url: MASK,
      deep: [{ name: 'a', psk: MASK }, { name: 'b', text: MASK }, MASK],
      snmp_community: MASK,
      port: 5432,
    });
    const harmless = { a: [{ b: 'c' }], d: null };
    expect(masked(harmless)).toBe(harmless);
  });

  it('means the stored value when it is sent back, wherever it stands', () => {
    expect(unmasked(masked(stored), stored, 'vars')).toEqual(stored);
    const moved = { deep: [...masked(stored).deep].reverse() };
    expect(unmasked(moved, stored, 'vars')).toEqual({ deep: [...stored.deep].reverse() });
  });

  it('is refused where it could stand for one of several, or for nothing', () => {
    const twins = {
      users: [
        { name: 'a', pw: 'p1' },
        { name: 'a', pw: 'p2' },
      ],
    };
    expect(unmasked(masked(twins), twins, 'vars')).toEqual(twins);
    expect(() => unmasked({ users: [{ name: 'new' }, ...masked(twins).users] }, twins, 'vars')).toThrow(/users\[1\]/);
    expect(() => unmasked({ other: MASK }, stored, 'vars')).toThrow('vars.other: ***');
    expect(() => unmasked({ rack: MASK }, stored, 'vars')).toThrow('vars.rack: ***');
    expect(() => unmasked({ toString: MASK }, {}, 'vars')).toThrow('vars.toString: ***');
  });
});
