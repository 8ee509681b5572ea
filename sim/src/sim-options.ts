import { execaSync } from 'execa';
import { MusterError } from '#contracts';

export const USAGE = `usage: npm run sim -- detect [--histories N] [--seed S] [--nodes N|LEAST-MOST] [--replay I] [--json]
       npm run sim -- hands [--histories N] [--seed S] [--from I] [--replay I] [--sweep NAME|all [--every N]] [--workers N] [--json]
       npm run sim -- fleet, with the options of hands
  npm run sim -- detect --histories 10000 --seed 1 --json   the last line is {histories, seed, commit, violations, coverage}
  npm run sim -- detect --seed 1 --replay INDEX             the story of one history
  npm run sim -- hands --histories 2000 --seed 1 --json     the last line is {histories, seed, medianVirtualMs, violations, probes, hash}
  npm run sim -- hands --sweep death-off                    a named history, with a crash at each call of a port in turn
  npm run sim -- hands --sweep all --every 100 --from 7     at the 7th of these, the 107th, … of each named history
  npm run sim -- hands --sweep death-off --replay POINT     the story of one of them; without a crash: --replay none
  npm run sim -- fleet --histories 200 --from 200 --json    as hands, of the whole plane, from history 200 on
  Histories are played by as many processes as there are cores; the hash does not depend on how many.`;

/** The options of both simulations, as they were typed. */
export interface SimValues {
  histories?: string | undefined;
  seed?: string | undefined;
  nodes?: string | undefined;
  replay?: string | undefined;
  from?: string | undefined;
  sweep?: string | undefined;
  every?: string | undefined;
  workers?: string | undefined;
  json?: boolean | undefined;
}

export const usageError = (): MusterError => new MusterError('BAD_REQUEST', USAGE);

/** Both say how many histories are played, or say it of a whole run: not of one that is told. */
export const refuseBesideReplay = ({ replay, histories, every }: SimValues): void => {
  if (replay !== undefined && (histories !== undefined || every !== undefined)) throw usageError();
};

/** @throws BAD_REQUEST where it is no whole number, or one that would be rounded */
export function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d+$/.test(text)) throw usageError();
  if (!Number.isSafeInteger(Number(text))) throw usageError();
  return Number(text);
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** How far it is, some twenty times over a run, on stderr. */
export function progressOf(histories: number): (done: number, found: number) => void {
  const began = performance.now();
  const every = Math.max(1, Math.floor(histories / 20));
  return (done, found) => {
    if (done % every !== 0) return;
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stderr.write(`  ${done} of ${histories}, ${found} violations, ${seconds} s\n`);
  };
}

/** Of the sources, for the record; `-dirty` where they differ from it. */
export function commit(): string {
  const git = (...args: string[]): string => execaSync('git', args).stdout;
  try {
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '-dirty'}`;
  } catch {
    return 'unknown';
  }
}
