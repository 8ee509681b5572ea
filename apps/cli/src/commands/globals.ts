import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { parseExtraVars } from '../input/json-option.js';
import { indented } from '../output/nested.js';

export function globalCommands(program: Command): void {
  const global = examples(
    program.command('global').description('extra vars of every run'),
    'global get',
    `global set -e '{"ntp_server":"10.0.0.1"}'`,
  );
  examples(does(global.command('get').description('show them'), get), 'global get --json');
  examples(
    does(
      global
        .command('set')
        .description('replace them all; {} clears them')
        .requiredOption('-e, --extra-vars <json>', 'a JSON object'),
      set,
    ),
    `global set -e '{"ntp_server":"10.0.0.1"}'`,
  );
}

async function get(run: Run): Promise<void> {
  const globals = await run.server.get<{ extra_vars: Record<string, unknown> }>('/info/globals');
  if (await run.print.machine(globals)) return;
  for (const line of indented(globals)) run.terminal.line(line);
}

async function set(run: Run, o: { extraVars: string }): Promise<void> {
  const extra_vars = parseExtraVars(o.extraVars);
  await run.server.post('/globals', { extra_vars });
  await run.print.done({ extra_vars }, 'globals', 'the extra vars of every run are changed');
}
