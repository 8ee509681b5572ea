#!/usr/bin/env node
/**
 * `node scripts/setup/promtool.mjs`: finds promtool, or unpacks it from Debian's package `prometheus` into the user's
 * cache, and prints its path. Nothing is installed, and no server is started. Where it cannot be had: exit 1, and one line.
 */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'muster', 'promtool');
const program = join(cache, 'promtool');
const run = promisify(execFile);
/** Of one command: the package is some 30 MB. */
const TIMEOUT_MS = 180_000;

try {
  const installed = spawnSync('promtool', ['--version']).status === 0 ? 'promtool' : undefined;
  if (installed === undefined && !existsSync(program)) await bring();
  process.stdout.write(`${installed ?? program}\n`);
} catch (e) {
  const stderr = String(e.stderr ?? '').trim();
  process.stderr.write(`promtool: ${stderr.split('\n').at(-1) || e.message}\n`);
  process.exitCode = 1;
}

async function bring() {
  const work = `${cache}.${process.pid}`;
  try {
    mkdirSync(work, { recursive: true });
    const options = { cwd: work, timeout: TIMEOUT_MS };
    await run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', 'prometheus'], options);
    const archive = readdirSync(work).find((name) => name.endsWith('.deb'));
    if (archive === undefined) throw new Error('apt-get download brought no package prometheus');
    await run('dpkg-deb', ['-x', archive, 'tree'], options);
    mkdirSync(cache, { recursive: true });
    renameSync(join(work, 'tree', 'usr', 'bin', 'promtool'), program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
