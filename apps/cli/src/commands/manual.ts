import { Argument, type Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { alarmsPage, gatesPage } from '../output/remedy-pages.js';
import { statesPage } from '../output/states-page.js';

/** Columns of the manual, whatever the terminal. */
const WIDTH = 110;

const HEAD = `# The command line

What \`muster --help\` and \`muster COMMAND --help\` say, in one place; written by \`muster manual > docs/cli.md\`.
`;

const pagesOf = { commands: manual, alarms: alarmsPage, gates: gatesPage, states: statesPage };

export function manualCommand(program: Command): void {
  examples(
    does(
      program
        .command('manual')
        .description(
          'a page of Markdown: the help of all commands, every alarm with what to do, every gate, or every state',
        )
        .addArgument(new Argument('[page]').choices(Object.keys(pagesOf)).default('commands')),
      (run: Run, name: keyof typeof pagesOf) => Promise.resolve(run.terminal.out(pagesOf[name](program))),
    ),
    'manual > docs/cli.md',
    'manual alarms > docs/alarms.md',
    'manual gates > docs/gates.md',
    'manual states > docs/states.md',
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
