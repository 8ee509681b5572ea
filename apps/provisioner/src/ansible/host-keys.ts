import { createHash, createHmac } from 'node:crypto';

/** What is known of a host's sshd before a run. */
export interface HostKeys {
  /** Name under which ssh looks its keys up (`HostKeyAlias`); it takes and writes all names in small letters. */
  alias: string;
  /** Keys on record, as in known_hosts without the name; empty: none is pinned yet. */
  pinned: readonly string[];
  /** None is pinned, but the operator's own known_hosts knows the name. */
  inFile: boolean;
}

const KEY = /^[A-Za-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,4096}={0,2}$/;

/** A host whose key is known shows that one, or is not talked to; of any other the first key is taken. */
export const isStrict = (h: Omit<HostKeys, 'alias'>): boolean => h.pinned.length > 0 || h.inFile;

/** The known_hosts of a run. What is no key on record is left out: its host then shows none that would do. */
export const knownHostsText = (hosts: Iterable<HostKeys>): string =>
  [...hosts]
    .flatMap(({ alias, pinned }) => pinned.filter((key) => KEY.test(key)).map((key) => `${alias} ${key}\n`))
    .join('');

/** Keys that ssh has added to the run's known_hosts, by host; only those of hosts that had none. */
export function learnedKeys(text: string, hosts: ReadonlyMap<string, HostKeys>): Map<string, string[]> {
  const byAlias = new Map([...hosts].filter(([, h]) => !isStrict(h)).map(([name, h]) => [h.alias.toLowerCase(), name]));
  const learned = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [alias = '', ...key] = line.trim().split(' ');
    const host = byAlias.get(alias.toLowerCase());
    if (host === undefined || !KEY.test(key.join(' '))) continue;
    learned.set(host, [...(learned.get(host) ?? []), key.join(' ')]);
  }
  return learned;
}

/** As `ssh-keygen -l` prints it. */
export const fingerprint = (key: string): string =>
  `SHA256:${createHash('sha256')
    .update(Buffer.from(key.split(' ')[1] ?? '', 'base64'))
    .digest('base64')
    .replaceAll('=', '')}`;

/** Does a known_hosts file, of which names may be hashed, hold a key for this name? */
export function isInFile(text: string, alias: string): boolean {
  const name = alias.toLowerCase();
  return text.split('\n').some((line) => {
    const [names = ''] = line.trim().split(/\s+/);
    if (names.startsWith('#') || names.startsWith('@')) return false;
    const [, hashed, salt, hash] = names.split('|');
    if (hashed !== '1') return names.toLowerCase().split(',').includes(name);
    const key = Buffer.from(salt ?? '', 'base64');
    return [alias, name].some((n) => createHmac('sha1', key).update(n).digest('base64') === hash);
  });
}

/**
 * Why ssh would not talk to a host whose key is known, in words for the operator; undefined where it failed otherwise.
 * @param said what ssh printed
 * @param file the operator's own known_hosts, if any
 */
export function changedKey(node: string, said: string, host: HostKeys, file?: string): string | undefined {
  if (!said.includes('Host key verification failed')) return undefined;
  const shown = /sent by the remote host is\s+(SHA256:[A-Za-z0-9+/]+)/.exec(said)?.[1];
  const seen = shown === undefined ? '' : `, it shows ${shown}`;
  const expected = host.pinned.filter((key) => KEY.test(key)).map(fingerprint);
  if (host.pinned.length > 0)
    return `ssh host key of ${node} has changed: expected ${expected.join(' or ') || 'what is on record, which is no key'}${seen}; if the node was reinstalled, forget the old key: muster node unset ${node} ssh-host-keys`;
  return `ssh host key of ${node} is not the one that ${file ?? 'known_hosts'} has for ${host.alias}${seen}; if the node was reinstalled, remove its line there`;
}
