import { CommanderError } from 'commander';
import { Failure, UsageFailure } from './failure.js';
import { createProgram } from './program.js';

/** Exit codes: 0 done · 1 refused, failed, or no server · 2 wrong command line; `status` has its own. */
async function main(): Promise<void> {
  // `muster … | head` closes our stdout: that is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  process.on('SIGINT', () => process.exit(130));
  try {
    await createProgram().parseAsync();
  } catch (error) {
    // commander has printed its own message, and the help that was asked for is no error.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else if (error instanceof Failure) {
      process.stderr.write(`muster: ${error.message.replaceAll('\n', ' ')}\n`);
      if (error instanceof UsageFailure) process.stderr.write('try: muster --help\n');
      process.exitCode = error.exitCode;
    } else throw error;
  }
}

await main();
