import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { masker, secretsOf } from '../diff/masking.js';
import { variablesOfRun, type ExtraVars } from './variables.js';

const extraVarsFile = (vars: ExtraVars): string => variablesOfRun(vars).file;
const none = { configuration: {}, settings: {}, globals: {}, request: {}, run: {} };

describe('extra vars', () => {
  it('go configuration < settings < globals < request, whole values and no merging', () => {
    const text = extraVarsFile({
      configuration: { a: 1, b: { x: 1 }, c: 1, d: 1, e: 1 },
      settings: { c: 9, d: 4, e: null, f: 6 },
      globals: { b: { y: 2 }, c: 2 },
      request: { c: 3 },
      run: { muster_job: 'j' },
    });
    expect(parse(text)).toEqual({ a: 1, b: { y: 2 }, c: 3, d: 4, f: 6, muster_job: 'j' });
  });

  it('may be templates in the configuration only', () => {
    expect(extraVarsFile({ ...none, configuration: { a: '{{ b }}' } })).toContain('"a": "{{ b }}"');
    expect(extraVarsFile({ ...none, settings: { a: '{{ b }}' } })).toContain('"a": !unsafe "{{ b }}"');
    expect(extraVarsFile({ ...none, globals: { a: '{{ b }}' } })).toContain('"a": !unsafe "{{ b }}"');
    expect(extraVarsFile({ ...none, request: { a: '{{ b }}' } })).toContain('"a": !unsafe "{{ b }}"');
  });

  it('that say how a host is reached go to the hosts, and to nobody else whom the content may ask', () => {
    const configuration = { ansible_become: true, ansible_connection: 'local' };
    const sut = variablesOfRun({
      ...none,
      configuration,
      settings: { ansible_port: 22, ansible_user: 'a' },
      globals: { ansible_become: false, ansible_user: 'b' },
      request: { ansible_user: 'c', x: 1 },
    });
    expect(parse(sut.file)).toEqual({ ansible_connection: 'local', x: 1 });
    expect(sut.connection).toEqual({ ansible_port: 22, ansible_become: false, ansible_user: 'c' });
  });

  it('of a request cannot change what Muster says of the run, nor the machine it is for', () => {
    expect(() => extraVarsFile({ ...none, request: { muster_role: 'master' } })).toThrow(/extra-vars.*set by Muster/);
    expect(() => extraVarsFile({ ...none, globals: { ansible_connection: 'local' } })).toThrow(/globals/);
    const risky = { ansible_ssh_common_args: '-oProxyCommand=id' };
    expect(() => extraVarsFile({ ...none, settings: risky })).toThrow(/ansible.extraVars.*refused/);
    expect(extraVarsFile({ ...none, configuration: risky, settings: risky })).toContain('ProxyCommand');
    expect(extraVarsFile({ ...none, configuration: risky, settings: { ansible_ssh_common_args: null } })).toBe(
      '---\n{}\n',
    );
    expect(() => extraVarsFile({ ...none, request: { x: { __ansible_vault: 'y' } } })).toThrow(/reserved/);
  });
});

describe('masking', () => {
  it('hides values of variables whose names say that they are secret, also inside others and across quoting', () => {
    const secrets = secretsOf({ db: { password: 'hun"ter22', port: 5432 }, api_token: ['t0ken-a'], user: 'bob' });
    expect(secrets.sort()).toEqual(['hun"ter22', 't0ken-a']);
    const mask = masker(secrets);
    expect(mask('bob hun"ter22 {"p": "hun\\"ter22"} t0ken-a 5432')).toBe(
      'bob ******** {"p": "********"} ******** 5432',
    );
  });

  it.each(['ceph_key', 'munge_key', 'ssh_key', 'encryption_key', 'password_hash'])('hides %s', (name) => {
    expect(masker(secretsOf({ [name]: 'hidden-one' }))('a hidden-one b')).toBe('a ******** b');
  });

  it('hides what a text shows to be secret, and the password of a URL without the URL', () => {
    const mask = masker(secretsOf({ url: 'postgres://u:tr0ub4dor@db/x', rack: 'r1' }));
    expect(mask('connect postgres://u:tr0ub4dor@db/x: tr0ub4dor refused, r1')).toBe(
      'connect ********: ******** refused, r1',
    );
  });

  it('hides a secret in base64, alone and within a longer text, in either alphabet, and in percent-encoding', () => {
    const secret = 'tr0ub4dor&3?>~';
    const mask = masker(secretsOf({ password: secret }));
    for (const [before, behind] of [
      ['', ''],
      ['', '\n'],
      ['a', ''],
      ['ab', 'c'],
      ['user:', '\nmore'],
      ['{"p":"', '"}'],
    ] as const) {
      const bytes = Buffer.from(`${before}${secret}${behind}`);
      for (const text of [bytes.toString('base64'), bytes.toString('base64url')]) {
        const shown = mask(`x ${text} y`);
        expect(shown).toContain('********');
        // What is left tells no more than the characters at its edges.
        const left = shown.replace(/^x | y$/g, '').split('********');
        for (const piece of left) expect(Buffer.from(piece, 'base64').toString('latin1')).not.toContain('0ub');
        expect(left.join('').length).toBeLessThan(text.length - 12);
      }
    }
    expect(mask(`?p=${encodeURIComponent(secret)}`)).toBe('?p=********');
  });

  it('leaves text alone where there is nothing to hide', () => {
    expect(masker(secretsOf({ password: 'abc' }))('abc')).toBe('abc');
  });
});
