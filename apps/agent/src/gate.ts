import { parseArgs } from 'node:util';
import { systemClock } from '#bus/system/system-clock.js';
import { NAME_PATTERN } from '#contracts/names/names.js';
import { askGate } from './control/client.js';

/** `muster-gate NAME [--generation N]`: 0 allowed, 1 refused with one line why, 2 wrong use. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { generation: { type: 'string' } }, allowPositionals: true });
  const name = positionals[0];
  const generation = values.generation === undefined ? undefined : Number(values.generation);
  if (positionals.length !== 1 || name === undefined || !NAME_PATTERN.test(name)) return usage();
  if (generation !== undefined && !Number.isSafeInteger(generation)) return usage();
  const { allowed, reason } = await askGate(systemClock, name, generation);
  if (!allowed) process.stderr.write(`muster-gate: ${name} may not start here: ${reason}\n`);
  return allowed ? 0 : 1;
}

function usage(): number {
  process.stderr.write('usage: muster-gate NAME [--generation N]\n');
  return 2;
}

try {
  process.exitCode = await main();
} catch (e) {
  process.stderr.write(`muster-gate: ${(e as Error).message}\n`);
  process.exitCode = 2;
}
