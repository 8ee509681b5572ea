#!/usr/bin/env node
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { MusterError } from '#contracts';
import { agentArchive } from './agent-archive.js';

/** `npm run agent-archive -- [--node FILE] FILE`: the archive that discover installs, to be put on a node by hand. */
const USAGE = 'usage: npm run agent-archive -- [--node FILE] muster-agent.tar.gz\n';

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { node: { type: 'string' } }, allowPositionals: true });
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0) {
    process.stderr.write(USAGE);
    return 2;
  }
  const folder = await mkdtemp(join(tmpdir(), 'muster-archive-'));
  try {
    const packed = await agentArchive(folder, values.node === undefined ? process.execPath : resolve(values.node));
    await copyFile(packed.file, file);
    process.stdout.write(`${file}: agent ${packed.version}, sha256 ${packed.sha256}\n`);
    return 0;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (e) {
  const misused = String((e as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`agent-archive: ${MusterError.from(e).message}\n`);
  process.exitCode = misused ? 2 : 1;
}
