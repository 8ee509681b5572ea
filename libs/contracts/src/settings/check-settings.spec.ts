import { describe, expect, it } from 'vitest';
import { checkSettings, type SettingsFacts } from './check-settings.js';
import { MusterError } from '../errors/errors.js';
import { changedPaths, patchedSettings, shownSettings } from './settings-patch.js';
import { completeSettings, DetectionProfiles, defaultSettings, type ClusterSettings } from './settings.js';

const before = (o: Partial<ClusterSettings> = {}): ClusterSettings => ({ ...defaultSettings('lab'), ...o });
const patched = (patch: unknown, was = before(), facts?: SettingsFacts): ClusterSettings =>
  checkSettings(patchedSettings(was, patch), facts);
const hook = { name: 'pager', url: 'https://pager.example/hook', secret: 's3cret-one' };

describe('a patch of the settings', () => {
  it('changes what it names, and keeps the rest', () => {
    const is = patched({ fencing: { storm: { flaps: 5 } }, globals: { a: 1 } }, before({ globals: { b: { c: 2 } } }));
    expect(is.fencing).toEqual({ ...before().fencing, storm: { ...before().fencing.storm, flaps: 5 } });
    expect(is.globals).toEqual({ a: 1, b: { c: 2 } });
    expect({ ...is, fencing: 0, globals: 0 }).toEqual({ ...before(), fencing: 0, globals: 0 });
  });

  it('brings a default back with null, also inside a part', () => {
    const was = before({ leaveGrace: 1, witness: 'router:22', fencing: { ...before().fencing, hung: 'fence' } });
    expect(patched({ leaveGrace: null, witness: null, fencing: { hung: null } }, was)).toEqual(before());
  });

  it('has nodes in service checked in any period from a minute to thirty days, and never by itself', () => {
    expect(before().check).toEqual({ every: 0 });
    for (const every of [60_000, 86_400_000, 2_592_000_000]) {
      const is = patched({ check: { every } });
      expect(is.check).toEqual({ every });
      expect(patched({ check: { every: null } }, is).check).toEqual({ every: 0 });
      expect(patched({ check: { every: 0 } }, is).check).toEqual({ every: 0 });
    }
    const { check: _unknown, ...older } = before();
    expect(completeSettings(older as ClusterSettings).check).toEqual({ every: 0 });
  });

  it('takes the numbers of another detection profile with its name, and own ones on top', () => {
    expect(patched({ detection: { profile: 'wan' } }).detection).toEqual(DetectionProfiles.wan);
    expect(patched({ detection: { profile: 'fast', misses: 8 } }).detection).toEqual({
      ...DetectionProfiles.fast,
      misses: 8,
    });
    const mine = before({ detection: { ...DetectionProfiles.lan, misses: 8 } });
    expect(patched({ detection: { profile: 'lan' } }, mine)).toEqual(mine);
  });

  it('takes what was shown masked for what is stored, wherever it stands', () => {
    const was = before({
      globals: { db: { password: 'p-1', port: 1 }, users: [{ name: 'ann', api_key: 'k-1' }] },
      ansible: { extraVars: { vault_token: 't-1' } },
      webhooks: [hook],
    });
    const shown = shownSettings(was);
    for (const secret of ['p-1', 'k-1', 't-1', hook.secret]) expect(JSON.stringify(shown)).not.toContain(secret);
    expect(patched(shown, was)).toEqual(was);
    const moved = patched(
      { globals: { ...shown.globals, users: [{ name: 'eve' }, ...(shown.globals['users'] as [])] } },
      was,
    );
    expect(moved.globals['users']).toEqual([{ name: 'eve' }, { name: 'ann', api_key: 'k-1' }]);
  });

  it.each([
    [{ globals: { db_password: '***' } }, 'globals.db_password: *** stands for a secret'],
    [{ globals: { users: [{ name: 'other', api_key: '***' }] } }, 'globals.users[0].api_key: *** stands for'],
    [{ webhooks: [{ name: 'new', url: 'http://x', secret: '***' }] }, 'the stored secret of new, which has none'],
  ])('refuses a mask that stands for nothing: %j', (patch, message) => {
    expect(() => patched(patch, before({ globals: { users: [{ name: 'ann', api_key: 'k' }] } }))).toThrow(message);
  });

  it('says where the settings have changed, and not to what', () => {
    const is = patched({ detection: { profile: 'fast' }, globals: { db_password: 'x' }, webhooks: [hook] });
    expect(changedPaths(before(), is)).toEqual([
      'detection.freshness',
      'detection.interval',
      'detection.profile',
      'detection.reportPeriod',
      'globals.db_password',
      'webhooks',
    ]);
    expect(changedPaths(is, is)).toEqual([]);
  });

  it('cannot reach an object’s prototype', () => {
    const patch = JSON.parse('{"globals": {"__proto__": {"polluted": 1}}}') as unknown;
    expect(() => patched(patch)).not.toThrow();
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('numbers of detection', () => {
  it.each(Object.values(DetectionProfiles))('are good as profile $profile has them', (profile) => {
    expect(patched({ detection: profile }).detection).toEqual(profile);
  });

  it('are good at their bounds', () => {
    const least = { interval: 100, misses: 6, suspectMisses: 3, reportPeriod: 100, freshness: 200, loopGap: 100 };
    expect(patched({ detection: least }).detection).toEqual({ profile: 'lan', ...least });
    const most = { interval: 500, misses: 120, reportPeriod: 1250, freshness: 2500, loopGap: 500 };
    expect(patched({ detection: most }).detection).toMatchObject(most);
  });

  it('are all named that are wrong', () => {
    expect(() => patched({ detection: { freshness: 1, loopGap: 1, interval: 1, reportPeriod: 1 } })).toThrow(
      /interval \(1\).*reportPeriod \(1\).*freshness \(1\).*loopGap \(1\)/,
    );
  });
});

describe('settings are refused as one set', () => {
  it.each<[unknown, string]>([
    [7, 'a mapping of the members to change'],
    [{ colour: 'red' }, 'colour is not a setting'],
    [{ agentPort: 70_000 }, 'agentPort (70000) must be a whole number from 1 to 65535'],
    [{ leaveGrace: '9' }, 'leaveGrace (9)'],
    [{ detection: 3 }, 'detection must be a mapping'],
    [{ detection: { profile: 'warp' } }, 'detection.profile must be one of lan, fast, wan'],
    [{ detection: { beat: 1 } }, 'detection.beat is not a setting'],
    [{ detection: { misses: 3 } }, 'freshness (2500) must be at most'],
    [
      { detection: { freshness: 2501 } },
      'detection: freshness (2501) must be at most the silence timeout − interval (2500)',
    ],
    [
      { detection: { profile: 'fast', freshness: 2500 } },
      'freshness (2500) must be at most the silence timeout − interval (1250)',
    ],
    [
      { detection: { reportPeriod: 1001 } },
      'reportPeriod (1001) must be at most a third of the silence timeout (1000)',
    ],
    [{ degraded: { policy: 'reboot' } }, 'degraded.policy must be alarm or drain or down'],
    [{ degraded: { after: -1 } }, 'degraded.after must be a whole number of ms from 0 to'],
    [{ degraded: { since: 1 } }, 'degraded.since is not a setting'],
    [{ degraded: 'drain' }, 'degraded must be a mapping'],
    [{ check: { every: 59_999 } }, 'check.every must be 0 (never) or a whole number of ms from 60000 to 2592000000'],
    [{ check: { every: 2_592_000_001 } }, 'check.every must be 0'],
    [{ check: { every: '1h' } }, 'check.every must be 0'],
    [{ check: { every: -1 } }, 'check.every must be 0'],
    [{ check: { at: 1 } }, 'check.at is not a setting'],
    [{ check: 'daily' }, 'check must be a mapping'],
    [{ detection: { interval: 99 } }, 'interval (99) must be at least 100 ms'],
    [{ detection: { reportPeriod: 99 } }, 'reportPeriod (99) must be at least 100 ms'],
    [{ detection: { reportPeriod: 1 } }, 'reportPeriod (1) must be at least 100 ms'],
    [{ detection: { freshness: 1 } }, 'freshness (1) must be at least twice'],
    [{ detection: { freshness: 1999 } }, 'freshness (1999) must be at least twice the reportPeriod (2000)'],
    [{ detection: { loopGap: 1 } }, 'loopGap (1) must be at least 100 ms'],
    [{ detection: { loopGap: 501 } }, 'loopGap (501) must be at most the interval (500)'],
    [{ detection: { loopGap: 10_000_000 } }, 'loopGap (10000000) must be at most the interval (500)'],
    [{ detection: { misses: 121 } }, 'interval × misses (60500) must be at most 60000 ms'],
    [{ fencing: { hung: 'maybe' } }, 'fencing.hung must be alarm or fence'],
    [{ fencing: { storm: { brakeShare: 0.9 } } }, 'brakeShare (0.9) must be from 0 to 0.5'],
    [
      {
        hostGroups: [
          { name: 'a', role: 'none' },
          { name: 'a', role: 'none' },
        ],
      },
      'a is there twice',
    ],
    [{ hostGroups: [{ name: 'a', role: 'boss' }] }, 'role must be master, worker or none'],
    [{ hostGroups: [{ name: 'all', role: 'none' }] }, 'means something else to Ansible'],
    [{ hostGroups: [{ name: 'a b', role: 'none' }] }, 'each needs a name'],
    [{ hostGroups: [{ name: 'a', role: 'none', onReturn: 'x' }] }, 'onReturn must be'],
    [{ hostGroups: [{ name: 'a', role: 'none', lifeSign: 'no', lifeSignReason: 'x' }] }, 'lifeSign must be none'],
    [{ hostGroups: [{ name: 'a', role: 'none', lifeSign: 'none' }] }, 'needs a lifeSignReason'],
    [{ hostGroups: [{ name: 'a', role: 'none', lifeSign: 'none', lifeSignReason: ' ' }] }, 'needs a lifeSignReason'],
    [{ hostGroups: [{ name: 'a', role: 'none', lifeSign: 'none', lifeSignReason: 'a\nb' }] }, 'in one line'],
    [{ hostGroups: [{ name: 'a', role: 'none', lifeSignReason: 'x' }] }, 'needs a lifeSignReason'],
    [{ hostGroups: {} }, 'hostGroups must be a list'],
    [{ globals: { ansible_connection: 'local' } }, 'globals: the variable "ansible_connection" is refused'],
    [{ globals: [1] }, 'globals must be a mapping'],
    [{ witness: 'router' }, 'witness must be host:port'],
    [{ witness: 'router:0' }, 'witness must be host:port'],
    [{ ansible: { playbooks: 'relative' } }, 'ansible.playbooks must be the absolute path'],
    [{ ansible: { sitePlaybook: '../x.yml' } }, 'ansible.sitePlaybook must be the name of a .yml file'],
    [{ ansible: { user: 'a b' } }, 'ansible.user must be a user name'],
    [{ ansible: { extraVars: { 'a b': 1 } } }, 'the variable "a b" is refused'],
    [
      { ansible: { extraVars: { ansible_ssh_common_args: '-oProxyCommand=id' } } },
      '"ansible_ssh_common_args" is refused',
    ],
    [{ ansible: { extraVars: { ansible_connection: 'docker' } } }, '"ansible_connection" is refused'],
    [{ ansible: { parallel: 9 } }, 'ansible.parallel is not a setting'],
    [{ webhooks: [hook, hook] }, 'pager is there twice'],
    [{ webhooks: [{ ...hook, url: 'ftp://x' }] }, 'must begin with http:// or https://'],
    [{ webhooks: [{ ...hook, url: 'https://u:p@x/' }] }, 'must hold no user or password'],
    ...[
      '169.254.169.254/latest/meta-data',
      '2852039166/',
      '0xA9FEA9FE/',
      '[::ffff:169.254.169.254]/',
      '[64:ff9b::a9fe:a9fe]/',
      '[fe80::1]/',
      '[fd00:ec2::254]/',
      '100.100.100.200/',
      'Metadata.Google.Internal/computeMetadata/v1/',
    ].map((where): [unknown, string] => [
      { webhooks: [{ ...hook, url: `http://${where}` }] },
      'must not lead to a link-local address',
    ]),
    [{ webhooks: [{ ...hook, secret: '' }] }, 'secret must be a text'],
    [{ webhooks: [{ ...hook, severity: 'loud' }] }, 'severity must be'],
    [{ webhooks: ['x'] }, 'webhooks[0] must be a mapping'],
    [{ compat: { force: 1 } }, 'compat.force must be true or false'],
  ])('%j', (patch, message) => {
    let error: unknown;
    try {
      patched(patch);
    } catch (e) {
      error = e;
    }
    expect(error).toBeInstanceOf(MusterError);
    expect(error).toMatchObject({ code: 'SETTINGS_INVALID' });
    expect((error as Error).message).toContain(message);
  });

  it('naming everything that is wrong at once', () => {
    expect(() => patched({ colour: 1, witness: 'x', compat: {} })).toThrow(/colour.*witness/);
  });

  it('when a host group would vanish under its nodes, and not otherwise', () => {
    const nodes = [{ name: 'a-1', hostGroup: 'service-worker' }, { name: 'b-1' }];
    const was = before();
    const only = (name: string) => ({ hostGroups: [{ name, role: 'master' }] });
    expect(() => patched(only('service-master'), was, { nodes, before: was })).toThrow(
      /service-worker cannot be removed while nodes are in it: a-1/,
    );
    expect(patched(only('service-worker'), was, { nodes, before: was }).hostGroups).toHaveLength(1);
    expect(() => patched({ hostGroups: [{ name: 'b-1', role: 'none' }] }, was, { nodes })).toThrow(/is a node's/);
  });

  it('when the port of agents would change while there are any', () => {
    const was = before();
    const nodes = [{ name: 'a-1', enrolled: true }, { name: 'b-1' }];
    expect(() => patched({ agentPort: 8_000 }, was, { nodes, before: was })).toThrow(
      'agentPort cannot be changed while nodes run agents, which listen on 7946: a-1',
    );
    expect(patched({ agentPort: 8_000 }, was, { nodes: nodes.slice(1), before: was }).agentPort).toBe(8_000);
    expect(patched({ agentPort: 7_946, holdDown: 1 }, was, { nodes, before: was }).holdDown).toBe(1);
  });

  it('although a connection by ssh, or on this machine for trials, may be asked for', () => {
    for (const how of ['ssh', 'local'])
      expect(patched({ ansible: { extraVars: { ansible_connection: how } } }).ansible.extraVars).toEqual({
        ansible_connection: how,
      });
  });
});
