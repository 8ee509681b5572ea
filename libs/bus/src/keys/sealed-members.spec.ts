import { describe, expect, it } from 'vitest';
import { masked } from '#contracts';
import { openMembers, sealMembers } from './sealed-members.js';

const key = Buffer.alloc(32, 1);
const vars = {
  rack: 'r1',
  db_pwd: 's3cret-1',
  dsn: { user: 'u', password: 's3cret-2' },
  list: ['postgres://u:s3cret-3@h', 'plain', { psk: 31_337 }],
  gone_key: null,
  empty_token: '',
};

describe('sealed members', () => {
  it('say nothing without the key, stay where they are, and come back as they were', () => {
    const sealed = sealMembers(key, vars);
    const text = JSON.stringify(sealed);
    for (const secret of ['s3cret', '31337']) expect(text).not.toContain(secret);
    expect(sealed).toMatchObject({
      rack: 'r1',
      list: [expect.any(String), 'plain', {}],
      gone_key: null,
      empty_token: '',
    });
    expect(openMembers(key, sealed)).toEqual(vars);
    expect(openMembers(undefined, { rack: 'r1' })).toEqual({ rack: 'r1' });
    expect(openMembers(key, vars)).toEqual(vars);
  });

  it('are the same for the same secret, and no other', () => {
    const again = sealMembers(key, vars);
    expect(again).toEqual(sealMembers(key, vars));
    expect(sealMembers(key, { db_pwd: 'other' }).db_pwd).not.toBe(again.db_pwd);
    expect(sealMembers(Buffer.alloc(32, 2), vars).db_pwd).not.toBe(again.db_pwd);
    // AES-GCM gives its key away where a nonce serves for two texts.
    const nonce = (secret: string): string | undefined => sealMembers(key, { key: secret }).key.split(/[:.]/)[2];
    expect(nonce('one')).toMatch(/^[\w+/]{16}$/);
    expect(nonce('one')).not.toBe(nonce('two'));
  });

  it('are refused with another key or none, and where somebody changed them', () => {
    const sealed = sealMembers(key, { db_pwd: 'x' });
    for (const [other, value] of [
      [Buffer.alloc(32, 2), sealed],
      [undefined, sealed],
      [key, { db_pwd: `${sealed.db_pwd.slice(0, -4)}AAAA` }],
      [key, { db_pwd: sealed.db_pwd.slice(0, 20) }],
    ] as const)
      expect(() => openMembers(other, value)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('are masked where they are shown, whatever their names are, and a text that pretends is sealed itself', () => {
    const { list } = sealMembers(key, vars);
    expect(masked({ list })).toMatchObject({ list: ['***', 'plain', { psk: '***' }] });
    const pretended = { note: sealMembers(key, { db_pwd: 'x' }).db_pwd };
    expect(openMembers(key, sealMembers(key, pretended))).toEqual(pretended);
  });
});
