import type { Command } from 'commander';
import { existsSync, lstatSync, realpathSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';

const NAME = 'clusterctl';

export function installClusterctlCommand(program: Command): void {
  examples(
    does(
      program
        .command('install-clusterctl')
        .description('put this program under its old name on PATH too: it then behaves as the old clusterctl did')
        .option('--dir <dir>', 'another folder than the one that muster was found in'),
      install,
    ),
    'install-clusterctl',
    'install-clusterctl --dir /usr/local/bin',
  );
}

/** @throws Failure where another clusterctl would be hidden, or would hide ours */
async function install({ io, terminal }: Run, o: { dir?: string }): Promise<void> {
  const program = realpathSync(io.program);
  if (o.dir === undefined && program === resolve(io.program))
    throw new Failure('muster was not found on PATH; say with --dir where clusterctl is to be');
  const ours = join(dirname(program), `${NAME}.mjs`);
  const dir = resolve(o.dir ?? dirname(io.program));
  const target = join(dir, NAME);
  const onPath = placesOn(io.env['PATH'] ?? '');
  const other = [target, ...onPath].find((place) => isOther(place, ours));
  if (other !== undefined)
    throw new Failure(
      `another ${NAME} is at ${other}: remove or rename it first; "muster" has all of its commands under the same names`,
    );
  if (existsSync(target)) return terminal.note(`muster: ${target} is there already`);
  link(ours, target);
  terminal.note(`muster: ${target} is this program under its old name`);
  if (!onPath.includes(target)) terminal.note(`muster: ${dir} is not on PATH`);
}

const placesOn = (path: string): string[] =>
  path
    .split(delimiter)
    .filter((dir) => dir !== '')
    .map((dir) => join(resolve(dir), NAME));

/** A link that leads nowhere is another's too. */
function isOther(place: string, ours: string): boolean {
  if (lstatSync(place, { throwIfNoEntry: false }) === undefined) return false;
  return !existsSync(place) || realpathSync(place) !== realpathSync(ours);
}

function link(ours: string, target: string): void {
  try {
    symlinkSync(ours, target);
  } catch (cause) {
    throw new Failure(`${target}: ${(cause as Error).message.replace(/, symlink .*/, '')}`);
  }
}
