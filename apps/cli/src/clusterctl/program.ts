import type { HelpContext } from 'commander';
import { CliCommand } from '../command/command.js';
import type { Io } from '../io/io.js';
import { DEFAULT_URL } from '../server/address.js';
import { packageVersion } from '#bus/system/package-version.js';
import { clusterCommands } from './cluster-commands.js';
import { nodeCommands } from './node-commands.js';

/** Help is an answer, also where a command was called without a word of what it is to do. */
class OldCommand extends CliCommand {
  override createCommand(name?: string): OldCommand {
    return new OldCommand(name, this.io);
  }

  override help(_context?: HelpContext | ((text: string) => string)): never {
    return super.help();
  }
}

/**
 * The program under its old name: the commands, options and output of the contiv cluster manager's `clusterctl`, over
 * the surface that its server had, so that scripts find every text where it was.
 */
export function createClusterctl(io: Io): CliCommand {
  const program = new OldCommand('clusterctl', io)
    .description('utility to interact with cluster manager')
    .version(`clusterctl version ${packageVersion()}`, '-v, --version', 'print the version')
    .helpCommand('help [command]', 'shows a list of commands or help for one command (also h)')
    .option(
      '-u, --url <address>',
      `cluster manager's REST service url (environment MUSTER_URL; default ${DEFAULT_URL})`,
    )
    .addHelpText(
      'after',
      '\nEnvironment: MUSTER_URL, MUSTER_CA, MUSTER_TOKEN, MUSTER_INSECURE_HTTP\nThe same program as "muster", which has more commands.',
    );
  nodeCommands(program);
  clusterCommands(program);
  return program;
}
