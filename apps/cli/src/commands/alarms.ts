import type { Command } from 'commander';
import type { AlarmRecord, Remedy } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

export function alarmCommands(program: Command): void {
  const alarms = examples(
    program.command('alarms').description('what needs somebody'),
    'alarms',
    'alarms ack fencing-failed=host1-SN1',
  );
  examples(
    does(
      alarms
        .command('list', { isDefault: true })
        .description('those that stand')
        .option('--all', 'the cleared ones too'),
      list,
    ),
    'alarms',
    'alarms list --all --json',
  );
  examples(
    does(
      alarms
        .command('ack <id>')
        .description('acknowledge one: somebody is on it')
        .option('--note <text>', 'for those who look at it next'),
      ack,
    ),
    'alarms ack fencing-failed=host1-SN1',
  );
}

/** A server of another version may not tell what to do. */
type KnownAlarm = AlarmRecord & { id: string; remedy?: Remedy };

const view = (terminal: Terminal): View<KnownAlarm> => ({
  name: (a) => a.id,
  head: ['ALARM', 'SEVERITY', 'SINCE', 'STATE', 'MESSAGE', 'DO'],
  row: (a) => [
    a.id,
    terminal.paint(a.severity === 'critical' ? 'red' : 'yellow', a.severity),
    moment(a.since, terminal),
    stateOf(a),
    a.message,
    a.remedy === undefined ? '' : `${a.remedy.text} (${a.remedy.command})`,
  ],
  none: 'no alarms',
});

function stateOf(a: AlarmRecord): string {
  if (a.cleared !== undefined) return 'cleared';
  if (a.acknowledged === undefined) return 'stands';
  const { by, note } = a.acknowledged;
  return note === undefined ? `acknowledged by ${by}` : `acknowledged by ${by}: ${note}`;
}

async function list(run: Run, o: { all?: boolean }): Promise<void> {
  const path = o.all === true ? '/v1/alarms?all=true' : '/v1/alarms';
  const { items } = await run.server.get<{ items: KnownAlarm[] }>(path);
  await run.print.list(items, view(run.terminal));
}

async function ack(run: Run, id: string, o: { note?: string }): Promise<void> {
  const request = o.note === undefined ? {} : { note: o.note };
  const alarm = await run.server.post<KnownAlarm>(`/v1/alarms/${encodeURIComponent(id)}/ack`, request);
  await run.print.done(alarm, id, `${id} is acknowledged`);
}
