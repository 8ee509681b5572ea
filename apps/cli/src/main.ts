import { execute } from './execute.js';

// `muster … | head` closes our stdout: that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
process.on('SIGINT', () => process.exit(130));

const { stdin, stdout, stderr, env, argv } = process;
process.exitCode = await execute({ stdin, stdout, stderr, env, program: argv[1] ?? '', args: argv.slice(2) });
