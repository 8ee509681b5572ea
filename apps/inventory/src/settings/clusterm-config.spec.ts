import { describe, expect, it } from 'vitest';
import { MusterError, type AnsibleSettings } from '#contracts';
import { AnsibleConfig, effectiveAnsible } from '#service';
import { ansibleFromClusterm, clustermConfig, inClustermWords, type ConfigFacts } from './clusterm-config.js';

const config = Object.assign(new AnsibleConfig(), {
  playbooks: '/etc/muster/playbooks',
  privateKey: '/etc/muster/key',
  extraVars: { region: 'eu', db_password: 'p-1' },
});
const facts = (settings: AnsibleSettings = {}): ConfigFacts => ({ config, settings, listen: 'unix:/s,0.0.0.0:9007' });
const post = (ansible: unknown, settings: AnsibleSettings = {}): AnsibleSettings =>
  ansibleFromClusterm({ ansible }, facts(settings));

describe('the configuration as clients of the contiv cluster manager know it', () => {
  it('is the one in force, without its secrets', () => {
    const is = clustermConfig(facts({ sitePlaybook: 'mine.yml', extraVars: { region: null, zone: 2 } }));
    expect(is.ansible).toEqual({
      configure_playbook: 'mine.yml',
      cleanup_playbook: 'cleanup.yml',
      upgrade_playbook: 'rolling-upgrade.yml',
      playbook_location: '/etc/muster/playbooks',
      extra_variables: '{"db_password":"***","zone":2}',
      user: 'root',
      priv_key_file: '/etc/muster/key',
    });
    expect(is.manager).toEqual({ addr: '0.0.0.0:9007' });
  });

  it('sent back as it was shown changes nothing', () => {
    const settings: AnsibleSettings = {
      user: 'ops',
      upgradePlaybook: 'up.yml',
      extraVars: { zone: 2, api_token: 't-1' },
    };
    expect(ansibleFromClusterm(clustermConfig(facts(settings)), facts(settings))).toEqual(settings);
  });

  it('keeps of what is posted only what differs from the file', () => {
    expect(post({ user: 'ops', configure_playbook: 'site.yml' })).toEqual({ user: 'ops' });
    expect(post({ user: 'root' }, { user: 'ops' })).toEqual({});
    expect(post({ extra_variables: '{"region":"eu","db_password":"***"}' }, { extraVars: { zone: 2 } })).toEqual({});
  });

  it('takes a posted set of variables for the whole set, the secrets that are masked with it', () => {
    const settings = post({ extra_variables: '{"zone":2,"db_password":"***"}' });
    expect(settings).toEqual({ extraVars: { zone: 2, region: null } });
    expect(effectiveAnsible(config, settings).extraVars).toEqual({ zone: 2, db_password: 'p-1' });
    expect(post({ extra_variables: { db_password: 'p-2', region: 'eu' } })).toEqual({
      extraVars: { db_password: 'p-2' },
    });
    expect(() => post({ extra_variables: '{"other_key":"***"}' })).toThrow('extra_variables.other_key: ***');
  });

  it('leaves alone what is absent, null or empty, in any case of its name', () => {
    const settings = { user: 'ops', extraVars: { zone: 2 } };
    for (const nothing of [{}, { USER: null }, { user: '', extra_variables: '' }, { unknown: 1 }])
      expect(post(nothing, settings)).toEqual(settings);
    expect(post({ Playbook_Location: '/x' })).toEqual({ playbooks: '/x' });
  });

  it('takes a playbook_location that is relative to the folder of the configuration, and shows the whole path', () => {
    const inFolder = { ...facts(), folder: '/etc/muster' };
    const settings = ansibleFromClusterm(
      { ansible: { playbook_location: 'mine/ansible', priv_key_file: './key' } },
      inFolder,
    );
    expect(settings).toEqual({ playbooks: '/etc/muster/mine/ansible' });
    expect(clustermConfig({ ...inFolder, settings }).ansible.playbook_location).toBe('/etc/muster/mine/ansible');
  });

  it('is refused in the words of its client', () => {
    const refusal = new MusterError(
      'SETTINGS_INVALID',
      'ansible.playbooks must be absolute, ansible.user must be a name',
    );
    expect(inClustermWords(refusal)).toMatchObject({
      code: 'SETTINGS_INVALID',
      message: 'ansible.playbook_location must be absolute, ansible.user must be a name',
    });
  });

  it.each([
    [undefined, 'nil value specified for clusterm configuration'],
    [null, 'nil value specified for clusterm configuration'],
    [[], 'the clusterm configuration must be an object'],
    [{ ansible: 'x' }, 'the ansible configuration must be an object'],
    [{ ansible: { user: 7 } }, 'ansible.user must be a text'],
    [{ ansible: { extra_variables: '{"a":}' } }, '"extra_variables" should be a valid json. Error: '],
    [{ ansible: { extra_variables: `{"a":${'['.repeat(9_000)}${']'.repeat(9_000)}}` } }, 'more than 32 levels deep'],
    [{ ansible: { extra_variables: '[1]' } }, '"extra_variables" should be a valid json. Error: an object'],
  ])('refuses %j', (given, message) => {
    expect(() => ansibleFromClusterm(given, facts())).toThrow(message);
  });

  it.each([
    ['serf', { Addr: '10.0.0.1:7373' }],
    ['inventory', { collins: { url: 'foobar' } }],
    ['manager', { addr: '0.0.0.0:1' }],
  ])('refuses another %s, whatever else is posted', (part, given) => {
    const text = `"${part}" configuration can't be changed. Only changes to ansible configuration are allowed.`;
    expect(() => ansibleFromClusterm({ [part]: given, ansible: { user: 'ops' } }, facts())).toThrow(text);
    const same = { serf: { addr: '127.0.0.1:7373', Timeout: 0 }, inventory: { boltdb: null }, manager: {} };
    expect(ansibleFromClusterm({ ...same, ansible: { user: 'ops' } }, facts())).toEqual({ user: 'ops' });
  });
});
