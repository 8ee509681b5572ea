import { join } from 'node:path';
import { execa } from 'execa';

const MUSTER = join(import.meta.dirname, '..', '..', 'apps', 'cli', 'src', 'main.js');

/** `muster ARGS`, as an operator would call it, with the gateway at this address. */
export async function muster(
  url: string,
  ...args: string[]
): Promise<{ code: number | undefined; out: string; err: string }> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [MUSTER, ...args], {
    env: { MUSTER_URL: url },
    reject: false,
  });
  return { code: exitCode, out: stdout, err: stderr };
}
