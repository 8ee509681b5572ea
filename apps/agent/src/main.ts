import './small-heap.js';
import { reasonOf } from './log/agent-log.js';

/** What a subcommand is: gets the arguments after its name, resolves to an exit code, or to nothing while it goes on. */
type Command = (args: string[]) => Promise<number | void>;

/** Each is loaded only when it is asked for: the agent that runs on a node carries none of the others. */
const commands: Record<string, () => Promise<Command>> = {
  run: async () => (await import('./run.js')).run,
  status: async () => (await import('./status.js')).status,
  enroll: async () => (await import('./enrol/enroll.js')).enroll,
};

const USAGE = `usage: muster-agent [run|status|enroll] [options]

  run      [--config FILE]              the agent, until it is told to stop; what the unit starts, and the default
  status   [--json] [--socket PATH]     what the agent of this host knows and does
  enroll   --server URL [options]       make this host a node: muster-agent enroll --help
`;

/** `muster-agent [COMMAND] [options]`, by default `run`. What goes wrong is one line on stderr; wrong use ends with 2. */
async function main(args: string[]): Promise<void> {
  const [first] = args;
  const named = first !== undefined && !first.startsWith('-');
  const name = named ? first : 'run';
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  const helps = name !== 'enroll' && args.some((a) => a === '--help' || a === '-h');
  if (helps || name === 'help') {
    process.stdout.write(USAGE);
    return;
  }
  if (!load) {
    process.stderr.write(`muster-agent: no command ${name}\n\n${USAGE}`);
    process.exitCode = 2;
    return;
  }
  const command = await load();
  const code = await command(named ? args.slice(1) : args);
  if (code !== undefined) process.exitCode = code;
}

main(process.argv.slice(2)).catch((e: unknown) => {
  process.stderr.write(`muster-agent: ${reasonOf(e)}\n`);
  process.exit(String((e as NodeJS.ErrnoException | undefined)?.code).startsWith('ERR_PARSE_ARGS') ? 2 : 1);
});
