import type { Command } from 'commander';
import { createProgram } from '../program.js';
import { fakeIo } from './muster.js';

/** The command that the program's own parser finds in the line; nothing is carried out. Rejects where it takes none of it. */
export async function parsedCommand(line: string): Promise<string> {
  const { io } = fakeIo([]);
  const program = createProgram(io);
  let found = '';
  const disarm = (command: Command, words: string): void => {
    if (command.commands.length === 0) command.action(() => void (found = words));
    for (const inner of command.commands) disarm(inner, `${words} ${inner.name()}`);
  };
  disarm(program, 'muster');
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? '');
  await program.parseAsync(words.slice(1), { from: 'user' });
  return found;
}
