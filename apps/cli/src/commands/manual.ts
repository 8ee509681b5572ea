import type { Command } from 'commander';
import { does, examples, type Run } from '../command.js';

/** Columns of the manual, whatever the terminal. */
const WIDTH = 110;

const HEAD = `# The command line

What \`muster --help\` and \`muster COMMAND --help\` say, in one place; written by \`muster manual > docs/cli.md\`.
`;

export function manualCommand(program: Command): void {
  examples(
    does(program.command('manual').description('the help of all commands as one page of Markdown'), (run: Run) =>
      Promise.resolve(run.terminal.out(manual(program))),
    ),
    'manual > docs/cli.md',
  );
}

export function manual(program: Command): string {
  return [HEAD, section(program, program.name(), true), ...program.commands.flatMap((c) => pages(c, program.name()))]
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n');
}

function pages(command: Command, parent: string): string[] {
  const path = `${parent} ${command.name()}`;
  const inner = command.commands.flatMap((c) => pages(c, path));
  return inner.length > 0 ? inner : [section(command, path, false)];
}

const section = (command: Command, path: string, globals: boolean): string =>
  `## \`${path}\`\n\n\`\`\`text\n${helpOf(command, globals).trim()}\n\`\`\`\n`;

/** Options of every command are told once, with the program's own. */
function helpOf(command: Command, globals: boolean): string {
  const texts: string[] = [];
  const output = command.configureOutput();
  const help = command.configureHelp();
  command
    .configureOutput({ writeOut: (text) => texts.push(text), getOutHelpWidth: () => WIDTH })
    .configureHelp({ ...help, showGlobalOptions: globals })
    .outputHelp();
  command.configureOutput(output).configureHelp(help);
  return texts.join('').replaceAll(/[ \t]+$/gm, '');
}
