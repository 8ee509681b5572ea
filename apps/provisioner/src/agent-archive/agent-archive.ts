import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createGzip } from 'node:zlib';
import { systemClock, systemRandom } from '#bus';
import { MusterError, type Clock, type Random } from '#contracts';
import { agentFiles } from './agent-files.js';
import { contentOf, tar, type ArchiveFile } from './tar.js';

export interface AgentArchive {
  /** The tar.gz. */
  file: string;
  /** Of its content: the same programs and the same Node have the same one, wherever it was packed. */
  version: string;
  sha256: string;
}

/** From dist, or from the sources (specs). */
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
export const PROJECT = existsSync(here('../../../../package.json')) ? here('../../../..') : here('../../../../..');

/** Others that have packed an older version into the same folder may still be copying it, ms. */
const KEPT_MS = 86_400_000;

/**
 * The archive of this version's agent in `folder`, packed only where it is not there yet. `runtime`: the Node that goes
 * with it. @throws CONFIG_INVALID
 */
export async function agentArchive(
  folder: string,
  runtime = process.execPath,
  o: { clock: Clock; random: Random } = { clock: systemClock, random: systemRandom },
): Promise<AgentArchive> {
  refuseShared(runtime);
  const files = agentFiles(PROJECT, runtime);
  const version = await versionOf(files);
  const file = join(folder, `muster-agent-${version}.tar.gz`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sum = `${file}.sha256`;
  if (!existsSync(file) || !existsSync(sum)) {
    await pack(files, version, file, o.random);
    await removeOlder(folder, basename(file), o.clock.wallMs());
  }
  return { file, version, sha256: await readFile(sum, 'utf8') };
}

/** A Node made of shared libraries (as Debian packs it) is nothing without them. */
function refuseShared(runtime: string): void {
  const { variables } = process.config as { variables: Record<string, unknown> };
  if (runtime === process.execPath && String(variables['node_shared']) === 'true')
    throw new MusterError(
      'CONFIG_INVALID',
      `${runtime} needs libraries that a bare host lacks: name a Node of nodejs.org in agents.runtime`,
    );
}

async function versionOf(files: readonly ArchiveFile[]): Promise<string> {
  const all = createHash('sha256');
  for (const file of files) {
    const one = createHash('sha256');
    for await (const chunk of contentOf(file)) one.update(chunk);
    all.update(`${file.path}\0${file.mode}\0${one.digest('hex')}\n`);
  }
  return all.digest('hex').slice(0, 16);
}

/** Aside, then renamed: several provisioners may share the folder, and one of them may end in the middle. */
async function pack(files: readonly ArchiveFile[], version: string, file: string, random: Random): Promise<void> {
  const aside = `${file}.${process.pid}-${random.hex(4)}.new`;
  const hash = createHash('sha256');
  const hashed = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  try {
    const named: ArchiveFile = { path: 'VERSION', mode: 0o644, text: `${version}\n` };
    // The quickest level: it goes over a local network, once to each node.
    await pipeline(tar([...files, named]), createGzip({ level: 1 }), hashed, createWriteStream(aside, { mode: 0o600 }));
    await writeFile(`${aside}.sha256`, hash.digest('hex'), { mode: 0o600 });
    await rename(aside, file);
    await rename(`${aside}.sha256`, `${file}.sha256`);
  } finally {
    await rm(aside, { force: true });
    await rm(`${aside}.sha256`, { force: true });
  }
}

async function removeOlder(folder: string, kept: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('muster-agent-') || name.startsWith(kept)) continue;
    const path = join(folder, name);
    if (nowMs - (await stat(path)).mtimeMs > KEPT_MS) await rm(path, { force: true });
  }
}
