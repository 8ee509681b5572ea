import type { Command } from 'commander';
import type { ClusterSettings } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { UsageFailure } from '../failure/failure.js';
import { jsonOrText, parseAssignment, toMapping } from '../input/assignments.js';
import { readMapping } from '../input/document.js';
import { dotted } from '../output/nested.js';
import { ifMatch } from '../server/if-match.js';

type Settings = ClusterSettings & { revision: number };

export function settingsCommands(program: Command): void {
  const settings = examples(
    program.command('settings').description('settings of the cluster, valid as one set or not at all'),
    'settings get',
    'settings set holdDown=10000',
  );
  examples(
    does(settings.command('get').description('all of them'), get),
    'settings get',
    'settings get | grep detection',
    'settings get -o yaml',
  );
  examples(
    does(
      settings
        .command('set [assignments...]')
        .description('change those that are named; a list is replaced as a whole, null removes')
        .option('--file <file>', 'a mapping of settings, as YAML or JSON; - is stdin'),
      set,
    ),
    'settings set detection.misses=8 holdDown=10000',
    'settings set detection.profile=fast',
    'settings set degraded.policy=drain degraded.after=60000',
    'settings set \'webhooks=[{"name":"pager","url":"https://pager.example/in","severity":"critical"}]\'',
    'settings set --file settings.yaml',
  );
}

async function get(run: Run): Promise<void> {
  const settings = await run.server.get<Settings>('/v1/settings');
  if (await run.print.machine(settings)) return;
  for (const line of dotted({ ...settings })) run.terminal.line(line);
}

async function set(run: Run, assignments: string[], o: { file?: string }): Promise<void> {
  if (assignments.length > 0 === (o.file !== undefined)) throw new UsageFailure('either key=value …, or --file');
  const { revision, ...patch } =
    o.file === undefined
      ? toMapping(assignments.map((text) => parseAssignment(text, jsonOrText)))
      : await readMapping(run.io, o.file);
  // A file that `settings get -o yaml` wrote is given back only onto the settings that it was made from.
  const match = typeof revision === 'number' ? ifMatch(revision) : undefined;
  const settings = await run.server.exchange<Settings>('PATCH', '/v1/settings', patch, match);
  if (await run.print.machine(settings)) return;
  if (run.terminal.interactive) run.terminal.line('the settings are changed');
}
