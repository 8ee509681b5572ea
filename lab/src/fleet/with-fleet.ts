import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterError } from '#contracts';
import { Fleet, type FleetOptions } from './fleet.js';

/** This process is about to end, and would leave behind what it begins. */
let ending = false;

/**
 * A fleet in a folder of its own for as long as `work` takes. Whatever happens (a failed start, an error, Ctrl-C)
 * nothing is left running, unless `keep()` says that the lab shall stay. Where something went wrong (an error, or
 * `failed()`) its folder stays, with every log: that is the evidence.
 * @param o.dir another folder for it, absent or empty
 */
export async function withFleet<T>(
  o: Omit<FleetOptions, 'dir'> & {
    name: string;
    dir?: string;
    say: (line: string) => void;
    keep: () => boolean;
    failed: () => boolean;
  },
  work: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  if (ending) throw new MusterError('FORBIDDEN', 'no fleet comes up: this run was interrupted');
  const options: FleetOptions = { ...o, dir: o.dir ?? (await mkdtemp(join(tmpdir(), `muster-${o.name}-`))) };
  let failed = true;
  const clear = async (): Promise<void> => {
    await Fleet.clear(options);
    if (failed || o.failed()) o.say(`the logs are kept in ${options.dir}`);
    else await rm(options.dir, { recursive: true, force: true });
  };
  const interrupted = (signal: NodeJS.Signals): void => {
    ending = true;
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
    const done = await work(fleet);
    failed = false;
    return done;
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
    fleet?.detach();
    if (fleet !== undefined && o.keep())
      o.say(`the lab is kept in ${options.dir}; end it with: npm run lab -- down --dir ${options.dir}`);
    else await clear();
  }
}
