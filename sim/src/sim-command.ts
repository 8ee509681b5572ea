import { parseArgs } from 'node:util';
import { isPlayer, players } from './players.js';
import { runDetect } from './run-detect.js';
import { runPlay } from './run-play.js';
import { say, USAGE, usageError } from './sim-options.js';

/**
 * `npm run sim -- ARGS`: @returns the exit code
 * @throws BAD_REQUEST with the usage where the arguments are not understood
 */
export async function simCommand(args: string[]): Promise<number> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      histories: text,
      seed: text,
      nodes: text,
      replay: text,
      from: text,
      sweep: text,
      every: text,
      workers: text,
      json: flag,
      help: flag,
    },
  });
  if (values.help === true) {
    say(USAGE);
    return 0;
  }
  if (positionals.length !== 1) throw usageError();
  if (positionals[0] === 'detect') return runDetect(values);
  const [simulation = ''] = positionals;
  if (isPlayer(simulation)) return runPlay(simulation, await players[simulation](), values);
  throw usageError();
}
