import { Command } from 'commander';
import { alarmCommands } from './commands/alarms.js';
import { eventCommands } from './commands/events.js';
import { fencingCommands } from './commands/fencing.js';
import { globalCommands } from './commands/globals.js';
import { incidentCommands } from './commands/incidents.js';
import { initCommand } from './commands/init.js';
import { jobCommands } from './commands/jobs.js';
import { nodesCommands } from './commands/nodes.js';
import { statusCommand } from './commands/status.js';
import { workloadCommands } from './commands/workloads.js';
import { DEFAULT_URL } from './server/address.js';

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('muster')
    .description('keeps a fleet alive, safe and configured')
    .option(
      '-u, --url <address>',
      `host:port, http(s)://… or unix:/path (environment MUSTER_URL; default ${DEFAULT_URL})`,
    )
    .option('-j, --json', 'answer as JSON')
    .addHelpText(
      'after',
      '\nEnvironment: MUSTER_URL, MUSTER_TOKEN, NO_COLOR\n\nExamples:\n  $ muster status\n  $ muster nodes get\n  $ muster events -f\n',
    );
  statusCommand(program);
  nodesCommands(program);
  jobCommands(program);
  incidentCommands(program);
  workloadCommands(program);
  alarmCommands(program);
  eventCommands(program);
  fencingCommands(program);
  globalCommands(program);
  initCommand(program);
  quiet(program);
  return program;
}

/** Errors of the command line come back to us, for one line and our exit codes. */
function quiet(command: Command): void {
  command
    .exitOverride()
    .showHelpAfterError('(muster --help shows every command)')
    .configureHelp({ showGlobalOptions: true });
  for (const inner of command.commands) quiet(inner);
}
