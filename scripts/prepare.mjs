#!/usr/bin/env node
/**
 * npm's `prepare`: `npm install -g .` puts `muster` on PATH as a link into this folder, and `npm pack` packs what is
 * built, so both build first. Any other npm command leaves that to the commands that need it (scripts/setup.mjs, which
 * runs `npm ci` itself and would wait for itself here).
 * Node's own spawn, not execa: the node packages may not be installed yet.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const { npm_config_global: globally, npm_command: command, ...env } = process.env;
if (globally === 'true' || command === 'pack') {
  const setup = fileURLToPath(new URL('setup.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [setup, '--for', 'build'], { stdio: 'inherit', env });
  process.exitCode = status ?? 1;
}
