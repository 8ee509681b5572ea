import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readServices, type Service } from './service-folder.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-services-'));
});
afterEach(() => rm(dir, { recursive: true }));

const put = async (path: string, text = ''): Promise<void> => {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
};
async function service(name: string, declaration = 'groups: {service-worker: server}'): Promise<void> {
  await put(`${name}/service.yml`, declaration);
  for (const task of ['site', 'check', 'cleanup']) await put(`${name}/tasks/${task}.yml`);
}
const read = async (): Promise<Service[]> => (await readServices({ services: dir })) ?? [];

describe('the folder of services', () => {
  it('holds services in the order in which they are set up, each with what counts in its checksum', async () => {
    await service('web', 'groups: {service-worker: server}\nafter: [zed]');
    await put('web/defaults.yml', '# how it is reached\nweb_port: 80\nweb_key: !vault x\n');
    await put('web/templates/conf.d/a.j2');
    await put('web/files/index.html', 'hello');
    await put('web/README.md');
    await service('zed');
    await put('.git/config');
    await put('README.md');
    const [zed, web] = await read();
    expect([zed?.name, web?.name]).toEqual(['zed', 'web']);
    expect(zed).toMatchObject({ templates: [], files: {}, variables: [] });
    expect(web).toMatchObject({ folder: join(dir, 'web'), templates: ['conf.d/a.j2'], resetup: 'all' });
    expect(web?.variables).toEqual(['web_port', 'web_key']);
    expect(web?.files).toEqual({
      'index.html': '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
  });

  it('may say of a service that less counts', async () => {
    await service('web', 'groups: {a: b}\nchecksum: {templates: [a.j2], files: [], variables: [x]}');
    for (const path of ['templates/a.j2', 'templates/b.j2', 'files/big']) await put(`web/${path}`);
    await put('web/defaults.yml', 'y: 1');
    expect((await read())[0]).toMatchObject({ templates: ['a.j2'], files: {}, variables: ['x'] });
  });

  it('that is the default one need not be there, one that is configured must', async () => {
    const gone = join(dir, 'gone');
    expect(await readServices({})).toBeUndefined();
    expect(await readServices({ defaultServices: gone })).toBeUndefined();
    await expect(readServices({ services: gone, defaultServices: dir })).rejects.toThrow(
      `the folder of services ${gone} (ansible.services) does not exist`,
    );
  });

  it('that cannot be read is refused, and not taken for none', async () => {
    const circle = join(dir, 'circle');
    await symlink(circle, circle);
    for (const config of [{ services: circle }, { defaultServices: circle }])
      await expect(readServices(config)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`${circle} cannot be read`) as unknown,
      });
  });

  it.each([
    ['a folder without service.yml', 'web/tasks/site.yml', '', /web\/service.yml does not exist/],
    ['a misspelt file', 'good/default.yml', '', /good\/default.yml is not a file of a service/],
    ['defaults that are a list', 'good/defaults.yml', '- a', /good\/defaults.yml: a mapping/],
    ['defaults that are no YAML', 'good/defaults.yml', 'a: [', /good\/defaults.yml: /],
    ['a typo in service.yml', 'good/service.yml', 'groups: {a: b}\nafer: []', /good\/service.yml:2: afer is not known/],
    [
      'a template that is not there',
      'good/service.yml',
      'groups: {a: b}\nchecksum: {templates: [x]}',
      /templates\/x does/,
    ],
    ['an unknown service in after', 'good/service.yml', 'groups: {a: b}\nafter: [x]', /there is no service x/],
  ])('is refused for %s', async (_what, path, text, why) => {
    await service('good');
    await put(path, text);
    await expect(read()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(why) as unknown,
    });
  });

  it('is refused where a service has no check', async () => {
    await service('web');
    await rm(join(dir, 'web/tasks/check.yml'));
    await expect(read()).rejects.toThrow('web/tasks/check.yml does not exist: every service has site, check, cleanup');
  });
});

it('the examples and the services of the lab can be read', async () => {
  const folder = (path: string): string => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
  const names = async (path: string): Promise<string[] | undefined> =>
    (await readServices({ services: folder(path) }))?.map((s) => s.name);
  expect(await names('examples/services')).toEqual(['etcd', 'nginx']);
  expect(await names('lab/services')).toEqual(['mirror', 'registry']);
});
