import { fileURLToPath } from 'node:url';
import { execaSync } from 'execa';

const bring = fileURLToPath(new URL('../../../../scripts/setup/promtool.mjs', import.meta.url));

/** Where promtool is, or else why there is none. A package of 30 MB is fetched once, where it is not installed. */
export function findPromtool(): { program: string; missing: string } {
  const brought = execaSync(process.execPath, [bring], { timeout: 200_000, reject: false });
  const why = brought.stderr || brought.shortMessage || 'it could not be had';
  return { program: brought.stdout, missing: brought.failed ? why : '' };
}
