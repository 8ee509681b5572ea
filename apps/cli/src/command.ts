import { Command } from 'commander';
import { DEFAULT_URL, parseAddress } from './server/address.js';
import { Server } from './server/server.js';
import { Terminal } from './output/terminal.js';

/** What a command has at hand when it runs. */
export interface Run {
  server: Server;
  terminal: Terminal;
  /** `--json`. */
  json: boolean;
}

/** Sets a command's work: `work(run, arguments…, options)`. */
export function does<A extends unknown[]>(command: Command, work: (run: Run, ...args: A) => Promise<void>): Command {
  return command.action(async (...given: unknown[]) => {
    const own = given.at(-1) as Command;
    const { url, json } = own.optsWithGlobals<{ url?: string; json?: boolean }>();
    const address = parseAddress(url ?? process.env['MUSTER_URL'] ?? DEFAULT_URL);
    const token = process.env['MUSTER_TOKEN'];
    const server = new Server(address, token === '' ? undefined : token);
    await work({ server, terminal: new Terminal(), json: json === true }, ...(given.slice(0, -1) as A));
  });
}

/** Examples behind a command's help. */
export const examples = (command: Command, ...lines: string[]): Command =>
  command.addHelpText('after', `\nExamples:\n${lines.map((l) => `  $ muster ${l}`).join('\n')}\n`);
