import { CliCommand } from '../command.js';
import type { Io } from '../io.js';
import { DEFAULT_URL } from '../server/address.js';
import { clusterCommands } from './cluster-commands.js';
import { nodeCommands } from './node-commands.js';

/**
 * The program under its old name: the commands, options and output of the contiv cluster manager's `clusterctl`, over
 * the surface that its server had, so that scripts find every text where it was.
 */
export function createClusterctl(io: Io): CliCommand {
  const program = new CliCommand('clusterctl', io)
    .description('utility to interact with cluster manager')
    .option(
      '-u, --url <address>',
      `cluster manager's REST service url (environment MUSTER_URL; default ${DEFAULT_URL})`,
    )
    .addHelpText(
      'after',
      '\nEnvironment: MUSTER_URL, MUSTER_TOKEN\nThe same program as "muster", which has more commands.',
    );
  nodeCommands(program);
  clusterCommands(program);
  return program;
}
