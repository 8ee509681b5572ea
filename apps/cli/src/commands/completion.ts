import type { Command, Option } from 'commander';
import type { NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';

/** Each asks the program itself what may come next, so none of them can be out of date. */
const scripts = {
  bash: `_muster() {
  local IFS=$'\\n'
  COMPREPLY=($(muster completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _muster muster
`,
  zsh: `#compdef muster
_muster() {
  local -a next
  next=("\${(@f)$(muster completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a next
}
compdef _muster muster
`,
  fish: `complete -c muster -f -a '(muster completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
};

export function completionCommands(program: Command): void {
  const completion = examples(
    program.command('completion').description('completion of commands, options and names of nodes by your shell'),
    '$ source <(muster completion bash)',
    '$ muster completion fish > ~/.config/fish/completions/muster.fish',
  );
  for (const [shell, script] of Object.entries(scripts))
    examples(
      does(completion.command(shell).description(`the script for ${shell}`), (run: Run) =>
        Promise.resolve(run.terminal.out(script)),
      ),
      `completion ${shell}`,
    );
  examples(
    does(
      completion
        .command('words [words...]')
        .description(
          'what may come next behind these words, of which the last one may be a beginning: for the scripts',
        ),
      async (run: Run, words: string[]) => {
        for (const word of await nextWords(program, words, () => nodeNames(run))) run.terminal.line(word);
      },
    ),
    'completion words -- node ge',
  );
}

/** Commands whose words behind their name are those of nodes. */
const OF_NODES = new Set(['node', 'nodes', 'incident']);

/** What may stand in the place of the last word. */
async function nextWords(
  program: Command,
  words: readonly string[],
  nodes: () => Promise<string[]>,
): Promise<string[]> {
  const begun = words.at(-1) ?? '';
  const { command, value } = commandOf(program, words.slice(0, -1));
  const all = value
    ? []
    : begun.startsWith('-')
      ? [...new Set([...command.options, ...program.options].map((o) => o.long ?? o.short ?? ''))]
      : command.commands.length > 0
        ? command.commands.map((c) => c.name())
        : OF_NODES.has(command.parent?.name() ?? '')
          ? await nodes()
          : [];
  return all.filter((word) => word.startsWith(begun));
}

/** The command that the words name so far; `value`: an option waits for its value. */
function commandOf(program: Command, words: readonly string[]): { command: Command; value: boolean } {
  let command = program;
  let value = false;
  for (const word of words) {
    if (value) value = false;
    else if (word.startsWith('-'))
      value = !word.includes('=') && takesValue([...command.options, ...program.options], word);
    else command = command.commands.find((c) => c.name() === word || c.aliases().includes(word)) ?? command;
  }
  return { command, value };
}

const takesValue = (options: readonly Option[], word: string): boolean =>
  options.some((o) => (o.long === word || o.short === word) && (o.required || o.optional));

/** None where the server cannot be asked: an error in the middle of a line that is being written helps nobody. */
async function nodeNames(run: Run): Promise<string[]> {
  return run.server.all<NodeView>('/v1/nodes').then(
    (nodes) => nodes.map((node) => node.name),
    () => [],
  );
}
