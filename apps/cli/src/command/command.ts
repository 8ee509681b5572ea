import { Command, type ErrorOptions } from 'commander';
import { UsageFailure } from '../failure/failure.js';
import type { Io } from '../io/io.js';
import { chosenFormat } from '../output/format.js';
import { Printer } from '../output/printer.js';
import { Terminal } from '../output/terminal.js';
import { DEFAULT_URL, parseAddresses } from '../server/address.js';
import { authorityFor } from '../server/authority.js';
import { Server } from '../server/server.js';

/** What a command has at hand when it runs. */
export interface Run {
  server: Server;
  terminal: Terminal;
  print: Printer;
  io: Io;
}

/** Options of every command. */
interface Globals {
  url?: string;
  ca?: string;
  insecureHttp?: true;
  json?: boolean;
  output?: string;
}

/** A command, and all below it, in the surroundings that the program was started in. */
export class CliCommand extends Command {
  /** What the program ends with where all went well. */
  exitCode = 0;

  constructor(
    name: string | undefined,
    readonly io: Io,
  ) {
    super(name);
    this.exitOverride()
      .configureHelp({ showGlobalOptions: true })
      .configureOutput({
        writeOut: (text) => io.stdout.write(text),
        writeErr: (text) => io.stderr.write(text),
        getOutHelpWidth: () => io.stdout.columns ?? 100,
        getErrHelpWidth: () => io.stderr.columns ?? 100,
        getOutHasColors: () => false,
        getErrHasColors: () => false,
      });
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.io);
  }

  /** What is wrong, and how the command is used that was meant. */
  override error(message: string, options?: ErrorOptions): never {
    return super.error(`${message}\n${usageOf(this)}  (--help says more)`, options);
  }
}

/** Sets a command's work: `work(run, arguments…, options)`. It may answer another exit code than 0. */
export function does<A extends unknown[]>(
  command: Command,
  work: (run: Run, ...args: A) => Promise<number | void>,
): Command {
  return command.action(async (...given: unknown[]) => {
    const own = given.at(-1) as CliCommand;
    try {
      const code = await work(prepare(own), ...(given.slice(0, -1) as A));
      (rootOf(own) as CliCommand).exitCode = code ?? 0;
    } catch (error) {
      if (error instanceof UsageFailure) error.usage = usageOf(own);
      throw error;
    }
  });
}

function prepare(command: CliCommand): Run {
  const { io } = command;
  const o = command.optsWithGlobals<Globals>();
  const format = chosenFormat(o);
  // A variable that is set to nothing is not set.
  const token = io.env['MUSTER_TOKEN'] || undefined;
  const insecureHttp = o.insecureHttp === true || allowed(io.env, 'MUSTER_INSECURE_HTTP');
  const hasToken = token !== undefined;
  const addresses = parseAddresses(o.url ?? (io.env['MUSTER_URL'] || DEFAULT_URL), { hasToken, insecureHttp });
  const terminal = new Terminal(io);
  const ca = authorityFor(addresses, o.ca, io.env['MUSTER_CA'] || undefined);
  const server = new Server(addresses, token, ca);
  return { server, terminal, print: new Printer(terminal, format), io };
}

/** @throws UsageFailure where it is neither yes nor no: what was meant to be no may allow nothing. */
function allowed(env: Io['env'], name: string): boolean {
  const value = env[name] || 'false';
  if (value === 'true' || value === 'false') return value === 'true';
  throw new UsageFailure(`${name}=${value}: true or false is expected`);
}

const usageOf = (command: Command): string => `Usage: ${command.createHelp().commandUsage(command)}`;

/** Examples behind a command's help: what comes behind the program's name, or a whole line of a shell behind `$ `. */
export const examples = (command: Command, ...lines: string[]): Command =>
  command.addHelpText('after', () => {
    const program = rootOf(command).name();
    return `\nExamples:\n${lines.map((l) => (l.startsWith('$ ') ? `  ${l}` : `  $ ${program} ${l}`)).join('\n')}`;
  });

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));
