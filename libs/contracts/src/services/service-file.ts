import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';
import { MusterError } from '../errors/errors.js';
import { NAME_PATTERN } from '../names/names.js';

/** Of a host group in which the service must not be: it is not set up there, and its check sees that it is gone. */
export const ABSENT = 'absent';

/** The service that every node has, whatever the folder of services holds. */
const AGENT = 'agent';

/** What `service.yml` says of a service. */
export interface ServiceDeclaration {
  /** Of its folder. */
  name: string;
  /** The author's own: another one is another configuration, although no template has changed. @default '1' */
  version: string;
  /** Host group → mode in it, {@link ABSENT} included. A group that is not named has nothing to do with the service. */
  groups: Record<string, string>;
  /** Services that are set up before it, where they are on the same node. @default none */
  after: string[];
  /** What else counts in the checksum of the effective configuration; what is absent: everything of that kind. */
  checksum: {
    /** Below `templates/`; rendered as they would be on the node. */
    templates?: string[];
    /** Below `files/`. */
    files?: string[];
    /** Variables, with what was merged into them. Everything is: each name in `defaults.yml`. */
    variables?: string[];
  };
  /**
   * `alone`: cleaned up and set up again by itself while the node's other services go on. `all`: only together with
   * them.
   * @default 'all'
   */
  resetup: 'alone' | 'all';
}

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const FILE = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;
const MODE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/**
 * Reads a `service.yml`. Strict: what is not known is refused with its line, since a slip of the pen (`afer:`) would
 * otherwise mean something else without a word.
 * @param file as told in refusals
 * @throws CONFIG_INVALID
 */
export function readServiceFile(name: string, text: string, file: string): ServiceDeclaration {
  const reader = new Reader(text, file);
  if (!NAME_PATTERN.test(name)) reader.refuse(undefined, `the folder ${JSON.stringify(name)} cannot name a service`);
  if (name === AGENT) reader.refuse(undefined, `${AGENT} is Muster's own service: another name is needed`);
  const root = reader.root();
  const members = reader.members(root, 'service.yml', ['version', 'groups', 'after', 'checksum', 'resetup']);
  const groups = members.get('groups');
  if (groups === undefined) return reader.refuse(root, 'groups is missing: host group → mode');
  const checksum = members.get('checksum');
  const parts = checksum && reader.members(checksum, 'checksum', ['templates', 'files', 'variables']);
  const list = (key: string, what: string, pattern: RegExp): Record<string, string[]> => {
    const node = parts?.get(key);
    return node === undefined ? {} : { [key]: reader.list(node, `checksum.${key}`, what, pattern) };
  };
  return {
    name,
    version: readVersion(reader, members.get('version')),
    groups: reader.groups(groups),
    after: readAfter(reader, name, members.get('after')),
    checksum: {
      ...list('templates', 'a path below templates/', FILE),
      ...list('files', 'a path below files/', FILE),
      ...list('variables', 'the name of a variable', VARIABLE),
    },
    resetup: readResetup(reader, members.get('resetup')),
  };
}

function readVersion(reader: Reader, node: Node | undefined): string {
  if (node === undefined) return '1';
  const value = reader.scalar(node);
  // As it was written: 1.10 is another version than 1.1.
  if (typeof value === 'number' && isScalar(node)) return node.source ?? String(value);
  if (typeof value === 'string' && value !== '') return value;
  return reader.refuse(node, 'version: a text or a number is expected');
}

function readAfter(reader: Reader, name: string, node: Node | undefined): string[] {
  if (node === undefined) return [];
  const after = reader.list(node, 'after', 'the name of a service', NAME_PATTERN);
  return after.includes(name) ? reader.refuse(node, `after: ${name} cannot come after itself`) : after;
}

function readResetup(reader: Reader, node: Node | undefined): 'alone' | 'all' {
  const value = node === undefined ? 'all' : reader.scalar(node);
  return value === 'alone' || value === 'all' ? value : reader.refuse(node, 'resetup: alone or all is expected');
}

class Reader {
  private readonly lines = new LineCounter();
  private readonly document;

  constructor(
    text: string,
    private readonly file: string,
  ) {
    this.document = parseDocument(text, { lineCounter: this.lines, uniqueKeys: true, merge: false });
  }

  root(): Node {
    const fault = this.document.errors[0] ?? this.document.warnings[0];
    if (fault !== undefined) {
      const what = fault.message.split(' at line')[0] ?? 'it cannot be read';
      throw invalid(`${this.file}:${fault.linePos?.[0].line ?? 1}: ${what}`);
    }
    return this.document.contents ?? this.refuse(undefined, 'groups is missing: host group → mode');
  }

  refuse(node: Node | undefined, why: string): never {
    const line = node?.range ? this.lines.linePos(node.range[0]).line : 1;
    throw invalid(`${this.file}:${line}: ${why}`);
  }

  /** Undefined of a list or a mapping. */
  scalar(node: Node): unknown {
    return isScalar(node) ? node.value : undefined;
  }

  members(node: Node, what: string, known: readonly string[]): Map<string, Node> {
    const found = new Map<string, Node>();
    for (const { key, name, value } of this.pairs(node, what)) {
      if (!known.includes(name)) this.refuse(key, `${name} is not known in ${what}: ${known.join(', ')} are`);
      if (value === null || this.scalar(value) === null) this.refuse(key, `${name} says nothing`);
      else found.set(name, value);
    }
    return found;
  }

  list(node: Node, at: string, what: string, pattern: RegExp): string[] {
    if (!isSeq(node)) return this.refuse(node, `${at}: a list is expected`);
    const found = node.items.map((item) => {
      const value = this.scalar(item as Node);
      if (typeof value === 'string' && pattern.test(value) && !value.split('/').includes('..')) return value;
      return this.refuse(item as Node, `${at}: ${JSON.stringify(value) ?? 'this'} is not ${what}`);
    });
    return [...new Set(found)];
  }

  groups(node: Node): Record<string, string> {
    const found = this.pairs(node, 'groups').map(({ key, name, value }): [string, string] => {
      if (!NAME_PATTERN.test(name)) this.refuse(key, `groups: ${JSON.stringify(name)} cannot name a host group`);
      const mode = value === null ? undefined : this.scalar(value);
      if (typeof mode === 'string' && MODE.test(mode)) return [name, mode];
      return this.refuse(value ?? key, `groups.${name}: a mode is expected, one word, or ${ABSENT}`);
    });
    return Object.fromEntries(found);
  }

  private pairs(node: Node, what: string): { key: Node; name: string; value: Node | null }[] {
    if (!isMap(node)) return this.refuse(node, `${what}: a mapping is expected`);
    return (node as YAMLMap).items.map((pair: Pair) => {
      const key = pair.key as Node;
      const name = this.scalar(key);
      if (typeof name !== 'string') return this.refuse(key, `${what}: its names are texts`);
      return { key, name, value: pair.value as Node | null };
    });
  }
}

const invalid = (message: string): MusterError => new MusterError('CONFIG_INVALID', message);
