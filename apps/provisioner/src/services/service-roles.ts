import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Service } from './service-folder.js';

/**
 * Services as roles, which is how Ansible finds their templates, files and handlers, and how their defaults come last
 * in precedence: a folder of links for each, in the run's own folder. Nothing is written into the services.
 * @param own task files that run within each role: `effective` beside the author's tasks as `muster-effective.yml`
 */
export async function makeServiceRoles(
  into: string,
  services: readonly Service[],
  own: Readonly<Record<string, string>>,
): Promise<void> {
  for (const service of services) {
    const role = join(into, service.name);
    await mkdir(join(role, 'tasks'), { recursive: true });
    const tasks = join(service.folder, 'tasks');
    for (const name of await readdir(tasks)) await symlink(join(tasks, name), join(role, 'tasks', name));
    for (const [name, path] of Object.entries(own)) await symlink(path, join(role, 'tasks', `muster-${name}.yml`));
    for (const folder of ['templates', 'files', 'handlers', 'vars', 'library', 'meta'])
      if (existsSync(join(service.folder, folder))) await symlink(join(service.folder, folder), join(role, folder));
    await mkdir(join(role, 'defaults'));
    if (existsSync(join(service.folder, 'defaults.yml')))
      await symlink(join(service.folder, 'defaults.yml'), join(role, 'defaults', 'main.yml'));
  }
}
