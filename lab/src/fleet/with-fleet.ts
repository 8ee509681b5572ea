import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Fleet, type FleetOptions } from './fleet.js';

/**
 * A fleet in a folder of its own for as long as `work` takes. Whatever happens (a failed start, an error, Ctrl-C)
 * nothing is left running, unless `keep()` says that the lab shall stay; then its folder is told by `say`.
 */
export async function withFleet<T>(
  o: Omit<FleetOptions, 'dir'> & { name: string; say: (line: string) => void; keep: () => boolean },
  work: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const options: FleetOptions = { ...o, dir: await mkdtemp(join(tmpdir(), `muster-${o.name}-`)) };
  const clear = async (): Promise<void> => {
    await Fleet.clear(options);
    await rm(options.dir, { recursive: true, force: true });
  };
  const interrupted = (signal: NodeJS.Signals): void => {
    o.say(`${signal}: taking the lab down`);
    void clear().then(
      () => process.exit(130),
      (e: unknown) => {
        o.say(`the lab in ${options.dir} could not be taken down: ${String(e)}`);
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  let fleet: Fleet | undefined;
  try {
    fleet = await Fleet.up(options);
    return await work(fleet);
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    fleet?.detach();
    if (fleet !== undefined && o.keep())
      o.say(`the lab is kept in ${options.dir}; end it with: npm run lab -- down --dir ${options.dir}`);
    else await clear();
  }
}
