import { packageVersion } from '#bus/system/package-version.js';
import { CliCommand } from './command/command.js';
import { agentCommands } from './commands/agent-tokens.js';
import { alarmCommands } from './commands/alarms.js';
import { claimCommands } from './commands/claims.js';
import { completionCommands } from './commands/completion.js';
import { configCommands } from './commands/config.js';
import { eventCommands } from './commands/events.js';
import { fencingCommands } from './commands/fencing.js';
import { globalCommands } from './commands/globals.js';
import { incidentCommands } from './commands/incidents.js';
import { stormCommands } from './commands/storms.js';
import { initCommand } from './commands/init.js';
import { installClusterctlCommand } from './commands/install-clusterctl.js';
import { jobCommands } from './commands/jobs.js';
import { manualCommand } from './commands/manual.js';
import { planCommand } from './commands/plan.js';
import { recordCommands } from './commands/records.js';
import { settingsCommands } from './commands/settings.js';
import { statusCommand } from './commands/status.js';
import { tokenCommands } from './commands/tokens.js';
import { storeCommands } from './commands/store.js';
import { tlsCommands } from './commands/tls.js';
import { toolCommands } from './commands/tools.js';
import { workerCommands } from './commands/workers.js';
import { workloadCommands } from './commands/workloads.js';
import { doctorCommand } from './doctor/doctor.js';
import type { Io } from './io/io.js';
import { serviceCommands } from './services/service-commands.js';
import { nodesCommands } from './nodes/nodes-commands.js';
import { Formats } from './output/format.js';
import { DEFAULT_URL } from './server/address.js';

/** The whole command line. */
export function createProgram(io: Io): CliCommand {
  const program = new CliCommand('muster', io)
    .description('keeps a fleet alive, safe and configured')
    .option(
      '-u, --url <address>',
      `host:port, http(s)://… or unix:/path; of several, with commas, the first that is ready (environment MUSTER_URL; default ${DEFAULT_URL})`,
    )
    .option(
      '--ca <file>',
      'certificates (PEM) that an https:// address is to be signed by, in the place of those that Node trusts (environment MUSTER_CA)',
    )
    .option(
      '--insecure-http',
      'send the token to another machine without TLS: everybody on the way reads it (environment MUSTER_INSECURE_HTTP=true)',
    )
    .option(
      '-o, --output <format>',
      `${Formats.join(', ')}; otherwise a table on a terminal, lines in a pipe (-o table: a table there too)`,
    )
    .option('-j, --json', 'the same as -o json')
    .version(`muster ${packageVersion()}`, '-v, --version', 'print the version')
    .addHelpText(
      'after',
      '\nEnvironment: MUSTER_URL, MUSTER_CA, MUSTER_TOKEN, MUSTER_INSECURE_HTTP, NO_COLOR\nExit code: 0 done · 1 refused, failed, or no server · 2 wrong command line\n\nExamples:\n  $ muster status\n  $ muster nodes get\n  $ muster nodes commission host1-SN1 --host-group service-master --wait\n  $ muster events -f',
    );
  statusCommand(program);
  planCommand(program);
  doctorCommand(program);
  nodesCommands(program);
  jobCommands(program);
  incidentCommands(program);
  stormCommands(program);
  serviceCommands(program);
  workloadCommands(program);
  claimCommands(program);
  alarmCommands(program);
  eventCommands(program);
  fencingCommands(program);
  globalCommands(program);
  configCommands(program);
  settingsCommands(program);
  workerCommands(program);
  tokenCommands(program);
  recordCommands(program);
  agentCommands(program);
  initCommand(program);
  storeCommands(program);
  tlsCommands(program);
  toolCommands(program);
  installClusterctlCommand(program);
  completionCommands(program);
  manualCommand(program);
  return program;
}
