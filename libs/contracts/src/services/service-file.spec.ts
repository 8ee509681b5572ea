import { describe, expect, it } from 'vitest';
import { readServiceFile } from './service-file.js';
import { inOrder } from './service-order.js';

const read = (...lines: string[]): ReturnType<typeof readServiceFile> =>
  readServiceFile('web', lines.join('\n'), 'services/web/service.yml');

describe('a service.yml', () => {
  it('says where the service is, in which mode, after what, and what counts in its checksum', () => {
    expect(
      read(
        'version: 1.10',
        'groups:',
        '  service-worker: server',
        '  service-master: absent',
        'after: [registry]',
        'checksum: {templates: [web.conf.j2], files: [], variables: [web_port]}',
        'resetup: alone',
      ),
    ).toEqual({
      name: 'web',
      version: '1.10',
      groups: { 'service-worker': 'server', 'service-master': 'absent' },
      after: ['registry'],
      checksum: { templates: ['web.conf.j2'], files: [], variables: ['web_port'] },
      resetup: 'alone',
    });
  });

  it('that says its groups only is in order: everything counts, and it is set up again with the others', () => {
    expect(read('groups: {service-worker: server}')).toEqual({
      name: 'web',
      version: '1',
      groups: { 'service-worker': 'server' },
      after: [],
      checksum: {},
      resetup: 'all',
    });
  });

  it.each([
    ['a typo', ['groups: {a: b}', 'afer: [x]'], ':2: afer is not known in service.yml'],
    ['a typo further down', ['groups: {a: b}', 'checksum:', '  templats: []'], ':3: templats is not known in checksum'],
    ['no groups', ['version: 1'], ':1: groups is missing'],
    ['nothing at all', [''], ':1: groups is missing'],
    ['a group without a mode', ['groups:', '  a:', '  b: c'], ':2: groups.a: a mode is expected'],
    ['a mode that is a list', ['groups:', '  a: [b]'], ':2: groups.a: a mode is expected'],
    ['a group that cannot be one', ['groups:', '  "a b": c'], ':2: groups: "a b" cannot name a host group'],
    ['after as a text', ['groups: {a: b}', 'after: registry'], ':2: after: a list is expected'],
    ['after itself', ['groups: {a: b}', 'after: [web]'], ':2: after: web cannot come after itself'],
    ['a path that leads out', ['groups: {a: b}', 'checksum: {files: [../../etc/shadow]}'], ':2: checksum.files'],
    ['a variable with a dot', ['groups: {a: b}', 'checksum: {variables: [a.b]}'], ':2: checksum.variables: "a.b"'],
    ['another word for resetup', ['groups: {a: b}', 'resetup: yes please'], ':2: resetup: alone or all'],
    ['a member that says nothing', ['groups: {a: b}', 'after:'], ':2: after says nothing'],
    ['the same name twice', ['groups: {a: b}', 'groups: {c: d}'], ':2: Map keys must be unique'],
    ['no YAML', ['groups: {a: b'], ':1: '],
  ])('is refused with its line: %s', (_what, lines, why) => {
    expect(() => read(...lines)).toThrow(`services/web/service.yml${why}`);
  });
});

it('no service can be called as the agent is', () => {
  expect(() => readServiceFile('agent', 'groups: {a: b}', 'f')).toThrow("f:1: agent is Muster's own service");
});

describe('the order of services', () => {
  const s = (name: string, ...after: string[]): { name: string; after: string[] } => ({ name, after });
  const names = (...services: { name: string; after: string[] }[]): string[] =>
    inOrder(services, 'services').map((x) => x.name);

  it('is that of `after`, else by name, whatever order they were read in', () => {
    expect(names(s('c'), s('a', 'd'), s('d', 'b'), s('b'))).toEqual(['b', 'd', 'a', 'c']);
    expect(names(s('b'), s('d', 'b'), s('a', 'd'), s('c'))).toEqual(['b', 'd', 'a', 'c']);
  });
  it('refuses a circle, and names it', () => {
    expect(() => names(s('x', 'a'), s('a', 'b'), s('b', 'c'), s('c', 'a'))).toThrow(
      'services: services wait for each other: a → b → c → a',
    );
  });
  it('refuses a service that is not there', () => {
    expect(() => names(s('a', 'b'))).toThrow('services/a/service.yml: after: there is no service b in services');
  });
});
