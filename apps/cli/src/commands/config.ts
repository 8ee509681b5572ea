import type { Command } from 'commander';
import type { ClustermConfig } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import type { Io } from '../io/io.js';
import { readMapping } from '../input/document.js';
import { indented } from '../output/nested.js';

export function configCommands(program: Command): void {
  const config = examples(
    program.command('config').description('the configuration as the contiv cluster manager has it'),
    'config get',
    'config set clusterm.json',
  );
  examples(
    does(config.command('get').description('show it; secrets are masked'), get),
    'config get',
    'config get --json',
  );
  examples(
    does(
      config
        .command('set <file>')
        .description('change its ansible part from a file of JSON or YAML; - is stdin. The next run takes it'),
      set,
    ),
    'config set clusterm.json',
    'config get --json | jq \'.ansible.user = "admin"\' | muster config set -',
  );
}

async function get(run: Run): Promise<void> {
  const config = await run.server.get<ClustermConfig>('/config');
  if (await run.print.machine(config)) return;
  for (const line of indented(config)) run.terminal.line(line);
}

async function set(run: Run, file: string): Promise<void> {
  await run.server.post('/config', await configBody(run.io, file));
  await run.print.done({}, 'config', 'the configuration is changed');
}

/** A file may hold the configuration, or the request with it. @throws Failure */
export async function configBody(io: Io, file: string): Promise<{ config: unknown }> {
  const given = await readMapping(io, file);
  return { config: 'config' in given ? given['config'] : given };
}
