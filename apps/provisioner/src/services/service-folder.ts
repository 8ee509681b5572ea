import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isMap, isScalar, parseDocument } from 'yaml';
import { MusterError } from '#contracts';
import { readServiceFile, type ServiceDeclaration } from '#contracts/services/service-file.js';
import { inOrder } from '#contracts/services/service-order.js';
import type { AnsibleConfig } from '#service';

/** A service of the operator's own, as its folder says. */
export interface Service extends Omit<ServiceDeclaration, 'checksum'> {
  /** Absolute. */
  folder: string;
  /** What counts in the checksum, beside group, mode and version: paths below `templates/`. */
  templates: string[];
  /** Path below `files/` → SHA-256. */
  files: Record<string, string>;
  /** Names of variables. */
  variables: string[];
  /** What `defaults.yml` says. */
  defaults: Record<string, unknown>;
}

const TASKS = ['site', 'check', 'cleanup'];
const OWN_FILES = ['service.yml', 'defaults.yml'];

/**
 * The services that there are, in the order in which they are set up. Undefined where only the default folder could hold
 * any, and is not there; a folder that is configured must be.
 * @throws CONFIG_INVALID
 */
export async function readServices(
  config: Pick<AnsibleConfig, 'services' | 'defaultServices'>,
): Promise<Service[] | undefined> {
  const folder = config.services ?? config.defaultServices;
  if (folder === undefined) return undefined;
  if (!(await isThere(folder))) {
    if (config.services === undefined) return undefined;
    throw invalid(`the folder of services ${folder} (ansible.services) does not exist`);
  }
  const names = (await readdir(folder)).filter((name) => !/^[._]/.test(name)).sort();
  const services: Service[] = [];
  for (const name of names) if (await isFolder(join(folder, name))) services.push(await readService(folder, name));
  return inOrder(services, folder);
}

async function readService(parent: string, name: string): Promise<Service> {
  const folder = join(parent, name);
  const file = join(folder, 'service.yml');
  if (!(await isThere(file))) throw invalid(`${file} does not exist: it says on which nodes ${name} is`);
  const declared = readServiceFile(name, await readFile(file, 'utf8'), file);
  for (const entry of await readdir(folder))
    // A file that nobody reads would look as if it did something.
    if (/\.ya?ml$/.test(entry) && !OWN_FILES.includes(entry))
      throw invalid(`${join(folder, entry)} is not a file of a service: ${OWN_FILES.join(', ')} are, and tasks/*.yml`);
  for (const task of TASKS) {
    const path = join(folder, 'tasks', `${task}.yml`);
    if (!(await isThere(path))) throw invalid(`${path} does not exist: every service has ${TASKS.join(', ')}`);
  }
  const { checksum, ...rest } = declared;
  const defaults = await readDefaults(join(folder, 'defaults.yml'));
  const [templates, files] = [await below(join(folder, 'templates')), await below(join(folder, 'files'))];
  const chosen = (kind: 'templates' | 'files', there: string[]): string[] => {
    const missing = checksum[kind]?.find((path) => !there.includes(path));
    if (missing !== undefined)
      throw invalid(`${file}: checksum.${kind}: ${join(folder, kind, missing)} does not exist`);
    return checksum[kind] ?? there;
  };
  const hashes = chosen('files', files).map(async (path) => [path, await sha256(join(folder, 'files', path))] as const);
  return {
    ...rest,
    folder,
    templates: chosen('templates', templates),
    files: Object.fromEntries(await Promise.all(hashes)),
    variables: checksum.variables ?? Object.keys(defaults),
    defaults,
  };
}

/** Its names count, and secrets in it are masked; Ansible reads the file itself, with tags of its own. */
async function readDefaults(file: string): Promise<Record<string, unknown>> {
  if (!(await isThere(file))) return {};
  const document = parseDocument(await readFile(file, 'utf8'), { logLevel: 'silent' });
  const fault = document.errors[0];
  if (fault !== undefined) throw invalid(`${file}: ${fault.message.split('\n')[0] ?? 'it cannot be read'}`);
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return {};
  if (!isMap(root)) throw invalid(`${file}: a mapping of variables is expected`);
  return document.toJS({ maxAliasCount: 100 }) as Record<string, unknown>;
}

/** Paths of the files below a folder, in order; none where it is not there. */
async function below(folder: string): Promise<string[]> {
  if (!(await isThere(folder))) return [];
  const found: string[] = [];
  for (const entry of (await readdir(folder)).filter((name) => !name.startsWith('.')).sort()) {
    const path = join(folder, entry);
    if (await isFolder(path)) found.push(...(await below(path)).map((rest) => `${entry}/${rest}`));
    else found.push(entry);
  }
  return found;
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw invalid(`${path} cannot be read: ${error.message}`);
    },
  );
const isFolder = async (path: string): Promise<boolean> => (await stat(path)).isDirectory();

const invalid = (message: string): MusterError => new MusterError('CONFIG_INVALID', message);
