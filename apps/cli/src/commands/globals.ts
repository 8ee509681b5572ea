import type { Command } from 'commander';
import { does, examples, type Run } from '../command.js';
import { parseExtraVars } from './extra-vars.js';

export function globalCommands(program: Command): void {
  const global = program.command('global').description('extra vars of every run');
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
  if (run.json) return run.terminal.json(globals);
  run.terminal.line('extra_vars:');
  for (const [name, value] of Object.entries(globals.extra_vars))
    run.terminal.line(`    ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

async function set(run: Run, o: { extraVars: string }): Promise<void> {
  await run.server.exchange('POST', '/globals', { extra_vars: parseExtraVars(o.extraVars) });
}
