import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AreaMutant } from './mutant.js';

const SIMULATIONS = join('sim', 'src');
const LENGTH = 16;

function simulationFiles(folder: string): string[] {
  return readdirSync(join(folder, SIMULATIONS), { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts'))
    .sort()
    .map((f) => join(SIMULATIONS, f));
}

/**
 * Fingerprint of what a mutant is tried on: how it breaks its file, that file, and its specs; or all of `sim/` where
 * simulations try it. What those import is not in it: that would be most of the tree.
 * @param simsOnly tried by its simulations alone
 */
export function contentOf(folder: string, m: AreaMutant, simsOnly = false): string {
  const { file, symbol, operation, specs = [], test, sims = [] } = m;
  const bySims = simsOnly || specs.length === 0;
  const hash = createHash('sha256').update(JSON.stringify({ file, symbol, operation, specs, test, sims, bySims }));
  for (const path of [file, ...(bySims ? simulationFiles(folder) : specs)]) {
    const whole = join(folder, path);
    hash.update(`\0${path}\0`).update(existsSync(whole) ? readFileSync(whole) : '');
  }
  return hash.digest('hex').slice(0, LENGTH);
}
