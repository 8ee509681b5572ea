import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { fatalLine } from './clusterctl/fatal.js';
import { modernWords } from './clusterctl/old-words.js';
import { createClusterctl } from './clusterctl/program.js';
import { Failure, UsageFailure } from './failure/failure.js';
import type { Io } from './io/io.js';
import { createProgram } from './program.js';

/** Under the old name we behave as the old program did. */
const isClusterctl = (program: string): boolean => /^clusterctl(\.mjs)?$/.test(basename(program));

/** Runs one command line. Exit codes: 0 done · 1 refused, failed, or no server · 2 wrong; `status` has its own. */
export async function execute(io: Io): Promise<number> {
  const old = isClusterctl(io.program);
  const program = old ? createClusterctl(io) : createProgram(io);
  try {
    await program.parseAsync(old ? modernWords(io.args) : io.args, { from: 'user' });
    return program.exitCode;
  } catch (error) {
    if (old && error instanceof Failure && !(error instanceof UsageFailure)) {
      io.stderr.write(fatalLine(error.message, new Date(), io.stderr.isTTY === true));
      return error.exitCode;
    }
    return report(error, program.name(), io);
  }
}

function report(error: unknown, program: string, io: Io): number {
  // commander has printed its own message, and the help that was asked for is no error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const say = (line: string): unknown => io.stderr.write(`${line.replaceAll('\n', ' ')}\n`);
  if (!(error instanceof Failure)) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    say(`${program}: a defect of ours: ${message} (MUSTER_DEBUG=1 shows where)`);
    if (io.env['MUSTER_DEBUG'] === '1') io.stderr.write(`${stack}\n`);
    return 1;
  }
  for (const finding of error.findings) say(finding);
  say(`${program}: ${error.message}`);
  if (error instanceof UsageFailure) say(`${error.usage}  (--help says more)`);
  return error.exitCode;
}
