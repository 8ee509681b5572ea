import { MusterError } from '#contracts/errors/errors.js';
import { parseOptions, type StandaloneOptions, usage } from './options.js';

const tell = (sentence: string): void => void process.stderr.write(`muster: ${sentence}\n`);

/** A wrong option is told before the services, which are most of the program, are even loaded. */
async function run(options: StandaloneOptions): Promise<void> {
  const { runUntilSignal } = await import('#service');
  const { startStandalone } = await import('./standalone.js');
  runUntilSignal('standalone', async () => {
    const running = await startStandalone(options, tell);
    tell(`ready: HTTP on ${running.listen}, data in ${options.data}; Ctrl-C ends it`);
    return running;
  });
}

async function main(): Promise<void> {
  let options;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    tell(MusterError.from(error).message);
    process.exitCode = 2;
    return;
  }
  if (options === undefined) process.stdout.write(usage);
  else await run(options);
}

await main();
