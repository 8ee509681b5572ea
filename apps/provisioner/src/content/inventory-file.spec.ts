import { describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { parse } from 'yaml';
import { defaultHostGroups, MusterError } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { node } from '../testing/records.js';
import { ansibleYaml } from './ansible-yaml.js';
import { inventoryFile, type InventoryInput } from './inventory-file.js';

interface Parsed {
  all: {
    hosts: Record<string, Record<string, unknown>>;
    children: Record<string, { hosts: Record<string, unknown> }>;
  };
}
const unsafe = { tag: '!unsafe', resolve: (text: string) => text };
const read = (text: string): Parsed => parse(text, { version: '1.1', customTags: [unsafe] }) as Parsed;

const sut = (o: Partial<InventoryInput>) =>
  inventoryFile({ nodes: [], hostGroups: defaultHostGroups, targets: [], user: 'root', ...o });

/** Text as people, and those who mean harm, would send it. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'yes',
    '0o14',
    '1:30',
    '2001-01-01',
    '~',
    '=',
    '<<',
    '!!python/object:os.system ls',
    'a"\n  ansible_connection: local\n#',
    "{{ lookup('pipe', 'id') }}",
    '{% raw %}',
    '\u2028\u0085\u007f\ufeff',
    '1e21',
  ),
);
const variable = fc.stringMatching(/^[a-z_][a-z0-9_]{0,8}$/).filter((n) => !/^(muster|ansible)_/.test(n));
const jsonValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    nasty,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(nasty, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

describe('the inventory', () => {
  it('holds what it was given, or is refused, whatever stands in names, addresses and variables', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.constant('n1'), nasty),
        fc.oneof(fc.constant('10.0.0.1'), fc.constant('fe80::1'), nasty),
        fc.dictionary(fc.oneof({ weight: 9, arbitrary: variable }, nasty), jsonValue, {
          maxKeys: 4,
          noNullPrototype: true,
        }),
        (name, address, vars) => {
          const target = node(name, { networks: { management: { address } }, vars });
          let text: string;
          try {
            ({ text } = sut({ nodes: [target, node('other')], targets: [name] }));
          } catch (error) {
            expect(error).toBeInstanceOf(MusterError);
            return;
          }
          const { hosts, children } = read(text).all;
          expect(Object.keys(hosts).sort()).toEqual([...new Set([name, 'other'])].sort());
          expect(hosts[name]).toMatchObject({ ansible_host: address, muster_node: name, muster_role: 'worker' });
          const given = Object.fromEntries(Object.keys(vars).map((key) => [key, hosts[name]?.[key]]));
          expect(given).toEqual(JSON.parse(JSON.stringify(vars)));
          expect(Object.keys(children['service-worker']?.hosts ?? {})).toContain(name);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('is read by Ansible’s own parser exactly as it was written', () => {
    const values = fc.sample(jsonValue, { numRuns: 300, seed: 7 }).flatMap((v) => {
      try {
        return [{ v, text: ansibleYaml(v, { trusted: true }) }];
      } catch (error) {
        expect(error).toBeInstanceOf(MusterError);
        return [];
      }
    });
    const python = 'import sys,json,yaml; print(json.dumps(yaml.safe_load(sys.stdin.read())))';
    const input = `[${values.map((v) => v.text).join(',\n')}]`;
    const { stdout: back } = execaSync('/usr/bin/python3', ['-c', python], { input });
    expect(JSON.parse(back)).toEqual(values.map(({ v }) => JSON.parse(JSON.stringify(v)) as unknown));
  });

  it('marks template text of users as unsafe, at any depth', () => {
    const { text } = sut({
      nodes: [node('n1', { vars: { a: { b: ["x {{ lookup('pipe', 'id') }}"] } } })],
      targets: ['n1'],
    });
    expect(text).toContain(`!unsafe "x {{ lookup('pipe', 'id') }}"`);
  });

  it('refuses variables that would turn this machine into the target', () => {
    for (const name of ['ansible_connection', 'ansible_ssh_common_args', 'ansible_host', 'muster_role', 'a b', '1a'])
      expect(() => sut({ nodes: [node('n1', { vars: { [name]: 'x' } })], targets: ['n1'] })).toThrow(/refused/);
  });

  it('refuses an address that ssh would take for an option', () => {
    const networks = { management: { address: '-oProxyCommand=id' } };
    expect(() => sut({ nodes: [node('n1', { networks })], targets: ['n1'] })).toThrow(/address/);
  });

  it('has every configured group, and every member of the cluster in its own, whoever is the target', () => {
    const nodes = [
      node('m1', { hostGroup: 'service-master' }),
      node('w1'),
      node('w2', { status: 'Provisioning' }),
      node('gone', { status: 'Decommissioned' }),
      node('new', { status: 'Unallocated' }),
    ];
    const { children, hosts } = read(sut({ nodes, targets: ['w2'] }).text).all;
    expect(Object.keys(hosts)).toEqual(['m1', 'w1', 'w2']);
    expect(Object.fromEntries(Object.entries(children).map(([g, c]) => [g, Object.keys(c.hosts)]))).toEqual({
      'service-master': ['m1'],
      'service-worker': ['w1', 'w2'],
      muster_role_master: ['m1'],
      muster_role_worker: ['w1', 'w2'],
    });
    expect(read(sut({ nodes: [], targets: [] }).text).all.children).toHaveProperty('service-master');
  });

  it('leaves out, and names, another member that cannot be written: the job at hand is not its fault', () => {
    const bad = node('bad', { vars: { ansible_connection: 'local' } });
    const { text, left } = sut({ nodes: [bad, node('n1')], targets: ['n1'] });
    expect(Object.keys(read(text).all.hosts)).toEqual(['n1']);
    expect(left).toEqual([{ node: 'bad', reason: expect.stringContaining('ansible_connection') as unknown }]);
  });

  it('reaches a node by its own user and port, and needs no root below a prefix', () => {
    const vars = { ansible_port: '2222', ansible_user: 'ops', muster_root: '/tmp/host' };
    const host = read(sut({ nodes: [node('n1', { vars })], targets: ['n1'] }).text).all.hosts['n1'];
    expect(host).toMatchObject({ ansible_port: 2222, ansible_user: 'ops', ansible_become: false });
    const other = read(sut({ nodes: [node('n1', { vars: { ansible_user: 'ops' } })], targets: ['n1'] }).text);
    expect(other.all.hosts['n1']).toMatchObject({ ansible_become: true });
  });

  it('names every host as content written for contiv’s cluster manager reads it', () => {
    const { hosts } = read(
      sut({ nodes: [node('n1', { vars: { node_addr: '10.9.9.9' } }), node('n2')], targets: ['n1'] }).text,
    ).all;
    for (const [name, vars] of Object.entries(hosts))
      expect(vars).toMatchObject({ node_name: name, node_addr: vars['ansible_host'] });
  });

  it('does not know a target that does not exist', () => {
    expect(() => sut({ targets: ['n1'] })).toThrow(/not known/);
  });
});
