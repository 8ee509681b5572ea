import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { masker, secretsOf } from './masking.js';
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

  it('leaves text alone where there is nothing to hide', () => {
    expect(masker(secretsOf({ password: 'abc' }))('abc')).toBe('abc');
  });
});
