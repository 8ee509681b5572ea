#!/usr/bin/env node
import { agentCommands } from './commands/agent-commands.js';
import { auditCommand } from './commands/audit-command.js';
import { cableCommands } from './commands/cable-commands.js';
import { runCli, type Cli } from './commands/cli.js';
import { controlCommands } from './commands/control-commands.js';
import { fleetCommands } from './commands/fleet-commands.js';
import { bmcCommand, hostCommands } from './commands/host-commands.js';
import { peerCommands } from './commands/peer-commands.js';
import { serviceCommands, workloadCommand } from './commands/service-commands.js';
import { serve } from './commands/serve.js';

/** `npm run lab -- COMMAND`: a fleet on your desk, and faults on command. Exit 0 done, 1 failed, 2 wrong usage or no root. */
function commands(cli: Cli): void {
  fleetCommands(cli);
  hostCommands(cli);
  controlCommands(cli);
  cableCommands(cli);
  agentCommands(cli);
  peerCommands(cli);
  bmcCommand(cli);
  serviceCommands(cli);
  workloadCommand(cli);
  auditCommand(cli);
  cli.program
    .command('serve', { hidden: true })
    .description('command lines as JSON on stdin, one after the other; each answers on stdout when it has ended')
    .action(() => serve((args, words) => runCli(args, words, commands)));
}

const { stdout, stderr } = process;
process.exitCode = await runCli(
  process.argv.slice(2),
  { out: (text) => void stdout.write(text), err: (text) => void stderr.write(text) },
  commands,
);
