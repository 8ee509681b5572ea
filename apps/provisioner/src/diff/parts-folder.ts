import { createHash, hkdfSync } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { secretNamePattern } from '#contracts';
import type { NodeParts, PartText, ServiceParts, StandingFile } from './node-parts.js';

/** What a run gathers of the parts of services, see `action_plugins/muster_record.py`. */
export interface PartsOfRun {
  /** Of {@link keepingKey}; undefined: nothing is kept on nodes, and what is there cannot be read. */
  key?: Buffer;
  /** What this process knows to be secret. */
  secrets: KnownSecrets;
  /** What differs is asked for: what the nodes keep is read, and files as they stand. */
  compare: boolean;
}

export interface KnownSecrets {
  /** On every host. */
  all: string[];
  /** By name in the inventory: there, too. */
  hosts: Record<string, string[]>;
}

/** By which nodes keep what they were set up from; only for that. */
export const keepingKey = (secretsKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'muster kept parts', 32));

/** Into the run's own folder, which nobody else may read. @returns what tells Ansible where it is */
export async function givePartsFolder(path: string, parts: PartsOfRun): Promise<Record<string, string>> {
  await mkdir(path, { mode: 0o700 });
  const give = (name: string, text: string): Promise<void> => writeFile(join(path, name), text, { mode: 0o600 });
  await give('key', parts.key?.toString('hex') ?? '');
  await give('names', secretNamePattern);
  await give('secrets', JSON.stringify(parts.secrets));
  return { MUSTER_PARTS: path, ...(parts.compare && { MUSTER_COMPARE: path }) };
}

/** What a run has gathered of each host, by its name in the inventory. */
export async function readPartsFolder(path: string, hosts: readonly string[]): Promise<Map<string, NodeParts>> {
  const read = async (host: string): Promise<[string, NodeParts]> => [
    host,
    {
      now: await parsed<ServiceParts>(join(path, 'now', host)),
      last: await parsed<ServiceParts>(join(path, 'last', host)),
      unreadable: await textsIn(join(path, 'unreadable', host)),
      standing: (await textAt(join(path, 'standing', host))).split('\n').flatMap(standingFile),
    },
  ];
  return new Map(await Promise.all(hosts.map(read)));
}

/** Name of a file → its text; none where the folder is not there. */
async function textsIn(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder).catch(ifMissing<string[]>([]));
  return new Map(await Promise.all(names.map(async (name) => [name, await textAt(join(folder, name))] as const)));
}

const textAt = (path: string): Promise<string> => readFile(path, 'utf8').catch(ifMissing(''));

async function parsed<T>(folder: string): Promise<Map<string, T>> {
  const found = [...(await textsIn(folder))].flatMap(([name, text]) => {
    const value = parse(text);
    return value === undefined ? [] : [[name, value as T] as const];
  });
  return new Map(found);
}

interface StandingLine {
  service: string;
  path: string;
  /** Base64. */
  wanted: string;
  size?: number;
  sha256?: string;
  content?: string;
}

function standingFile(line: string): StandingFile[] {
  const told = parse(line) as StandingLine | undefined;
  if (told === undefined) return [];
  const { service, path, wanted, size, sha256, content } = told;
  const file: StandingFile = { service, path, wanted: partText(Buffer.from(wanted, 'base64')) };
  if (sha256 === undefined) return [file];
  const stands = content === undefined ? { size: size ?? 0, sha256 } : partText(Buffer.from(content, 'base64'));
  return [{ ...file, stands }];
}

/** A text that is longer is one part that nobody reads. */
const MOST_TEXT = 65_536;

function partText(bytes: Buffer): PartText {
  const part: PartText = { size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  if (bytes.length > MOST_TEXT || bytes.includes(0)) return part;
  try {
    return { ...part, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    // No text: its hash has to do.
    return part;
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Half written: the run was killed. What it would have said is missing, and is not told.
    return undefined;
  }
}

const ifMissing =
  <T>(none: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return none;
    throw error;
  };
