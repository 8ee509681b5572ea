import { parseArgs } from 'node:util';
import { systemClock } from '#bus/system/system-clock.js';
import { NAME_PATTERN } from '#contracts/names/names.js';
import { OrderRefused, startWorkload, stopWorkload, type Order } from './workload/orders.js';
import { listRunning } from './workload/running.js';

const EXIT = { GATE: 1, FAILED: 1, STALE: 3 } as const;
const USAGE = `usage: muster-workload start NAME --generation N [--unit UNIT]
       muster-workload stop NAME --generation N [--unit UNIT]
       muster-workload list [--json]
`;

/** 0 done; 1 refused or failed, with one line; 2 wrong use; 3 an older generation than this node has seen. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { generation: { type: 'string' }, unit: { type: 'string' }, json: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [verb, name, ...rest] = positionals;
  if (rest.length > 0) return usage();
  if (verb === 'list' && name === undefined) {
    const running = await listRunning(systemClock);
    process.stdout.write(
      values.json === true
        ? `${JSON.stringify(running)}\n`
        : running.map((w) => `${w.name} ${w.generation}\n`).join(''),
    );
    return 0;
  }
  const generation = Number(values.generation ?? 'none');
  if (name === undefined || !NAME_PATTERN.test(name) || !Number.isSafeInteger(generation)) return usage();
  const order: Order = { name, generation, ...(values.unit !== undefined && { unit: values.unit }) };
  if (verb !== 'start' && verb !== 'stop') return usage();
  const done = await (verb === 'start' ? startWorkload(systemClock, order) : stopWorkload(systemClock, order));
  process.stdout.write(`${JSON.stringify(done)}\n`);
  return 0;
}

function usage(): number {
  process.stderr.write(USAGE);
  return 2;
}

try {
  process.exitCode = await main();
} catch (e) {
  const refused = e instanceof OrderRefused ? e : undefined;
  process.stderr.write(`muster-workload: ${refused ? `${refused.code}: ` : ''}${(e as Error).message}\n`);
  const misused = String((e as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  process.exitCode = refused ? EXIT[refused.code] : misused ? 2 : 1;
}
