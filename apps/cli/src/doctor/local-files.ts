import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { FileFacts, LocalFacts } from './files.js';

/** Where an installation lies, unless somebody says. */
const PLACES = ['/etc/muster', '.muster'];

const KEYS: [name: string, what: string, needed: boolean][] = [
  ['datagram', 'the key of the agents’ datagrams', true],
  ['secrets', 'the key that seals secrets in the store', true],
  ['agents', 'the key that signs agents’ NATS users', true],
  ['revoker', 'the key of revocations', true],
  ['operator', 'the key that signs all of NATS', false],
];
const USERS = ['detector', 'inventory', 'provisioner', 'fencer', 'gateway'];

/**
 * The files of the installation on this machine that hold secrets.
 * @param given its folder; absent: by MUSTER_CONFIG, else /etc/muster, else ./.muster
 */
export function localFacts(given: string | undefined, env: NodeJS.ProcessEnv): LocalFacts {
  const dir = given ?? configured(env) ?? PLACES.find((place) => existsSync(join(place, 'muster.yaml')));
  if (dir === undefined || !existsSync(dir)) return { files: [] };
  const at = resolve(dir);
  const named = namedFiles(join(at, 'muster.yaml'));
  const file = (path: string, what: string, needed: boolean): FileFacts => {
    const found = look(path);
    return { path, what, needed, ...(found !== undefined && { found }) };
  };
  return {
    dir: at,
    files: [
      file(at, 'the folder of the installation', true),
      file(join(at, 'muster.yaml'), 'the configuration', true),
      file(join(at, 'nats-accounts.conf'), 'the accounts of NATS', false),
      ...KEYS.map(([name, what, needed]) => file(named[name] ?? join(at, 'keys', `${name}.key`), what, needed)),
      ...USERS.map((user) => file(join(at, 'creds', `${user}.json`), `the NATS user of ${user}`, true)),
      file(join(at, 'creds', 'tools.creds'), 'the NATS user of programs', false),
      file(named['tokens'] ?? join(at, 'tokens.json'), 'the tokens of the API', named['tokens'] !== undefined),
      ...(named['privateKey'] === undefined ? [] : [file(named['privateKey'], 'the ssh key to the nodes', true)]),
    ],
  };
}

const configured = (env: NodeJS.ProcessEnv): string | undefined => {
  const file = env['MUSTER_CONFIG'];
  return file === undefined || file === '' ? undefined : dirname(file);
};

/**
 * Paths that `muster.yaml` names, by the name of their setting. Read line by line: a doctor must not fail on a file that
 * is wrong, and the services say what is wrong in it.
 */
function namedFiles(file: string): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // That it is not there, or may not be read, is told by its own line.
    return {};
  }
  const named: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(
    /^ +(datagram|secrets|agents|revoker|tokens|privateKey): *["']?([^"'#\s][^"'#\n]*?)["']? *(?:#.*)?$/gm,
  ))
    named[name] = resolve(dirname(file), value);
  return named;
}

function look(path: string): FileFacts['found'] {
  try {
    const found = statSync(path);
    return { mode: found.mode, uid: found.uid, isFolder: found.isDirectory(), isEmpty: found.size === 0 };
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'denied';
  }
}
