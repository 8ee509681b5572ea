import { MusterError } from '#contracts';
import { runUntilSignal } from '#service';
import { parseOptions, usage } from './options.js';
import { startStandalone } from './standalone.js';

const tell = (sentence: string): void => void process.stderr.write(`muster: ${sentence}\n`);

function main(): void {
  let options;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    tell(MusterError.from(error).message);
    process.exitCode = 2;
    return;
  }
  if (options === undefined) {
    process.stdout.write(usage);
    return;
  }
  const given = options;
  runUntilSignal('standalone', async () => {
    const running = await startStandalone(given, tell);
    tell(`ready: HTTP on ${running.listen}, data in ${given.data}; Ctrl-C ends it`);
    return running;
  });
}

main();
