#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const program = new URL('../dist/apps/cli/src/main.js', import.meta.url);
if (existsSync(fileURLToPath(program))) await import(program.href);
else {
  process.stderr.write(
    `muster is not built yet: run "npm run build" in ${fileURLToPath(new URL('..', import.meta.url))}\n`,
  );
  process.exitCode = 1;
}
