#!/usr/bin/env node
/**
 * `node scripts/setup/newer-nats.mjs`: brings a nats-server from Debian's testing suite, newer than the system's, and
 * prints its path. It lies in the user's cache and is installed nowhere. Where the system is no Debian, its mirror has no
 * such suite, or there is no network: exit 1, and one line that says why.
 */
import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const SUITE = 'testing';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const SOURCES = '/etc/apt/sources.list.d';
/** Of one command: an update is some 10 MB. */
const TIMEOUT_MS = 180_000;

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'muster', 'newer-nats');
const program = join(cache, 'nats-server');
const run = promisify(execFile);

try {
  if (!present()) await bring();
  process.stdout.write(`${program}\n`);
} catch (e) {
  const stderr = String(e.stderr ?? '').trim();
  process.stderr.write(`newer-nats: ${stderr.split('\n').at(-1) || e.message}\n`);
  process.exitCode = 1;
}

function present() {
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** With a package list of our own: the system's stays as it is, and nothing of it is replaced. */
async function bring() {
  const work = `${cache}.${process.pid}`;
  try {
    for (const folder of ['lists/partial', 'archives/partial', 'tree'])
      mkdirSync(join(work, folder), { recursive: true });
    const list = join(work, 'sources.list');
    writeFileSync(list, `deb [signed-by=${KEYRING}] ${mirror()} ${SUITE} main\n`);
    writeFileSync(join(work, 'status'), '');
    const apt = [
      ['Dir::Etc::sourcelist', list],
      ['Dir::Etc::sourceparts', '-'],
      ['Dir::State', work],
      ['Dir::State::lists', join(work, 'lists')],
      ['Dir::State::status', join(work, 'status')],
      ['Dir::Cache', work],
      ['Dir::Cache::archives', join(work, 'archives')],
      ['APT::Sandbox::User', 'root'],
      ['Acquire::Languages', 'none'],
      ['Acquire::Check-Valid-Until', 'false'],
    ].flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const options = { cwd: work, timeout: TIMEOUT_MS };
    await run('apt-get', [...apt, 'update'], options);
    await run('apt-get', [...apt, 'download', 'nats-server'], options);
    const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error(`suite ${SUITE} of the system's mirror has no nats-server`);
    await run('dpkg-deb', ['-x', archive, 'tree'], options);
    mkdirSync(cache, { recursive: true });
    renameSync(join(work, 'tree', 'usr', 'sbin', 'nats-server'), program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The one that the system is configured with. */
function mirror() {
  for (const text of [
    ...readdirSync(SOURCES)
      .filter(isSource)
      .map((name) => join(SOURCES, name)),
    '/etc/apt/sources.list',
  ].map(read)) {
    const uri = /^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+\/debian\/?)(?=\s|$)/m.exec(text)?.[1];
    if (uri !== undefined) return uri;
  }
  throw new Error("the system's package sources name no Debian mirror");
}

function isSource(name) {
  return /\.(list|sources)$/.test(name);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (e) {
    if (e.code === 'ENOENT') return '';
    throw e;
  }
}
