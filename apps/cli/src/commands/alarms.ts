import type { Command } from 'commander';
import type { AlarmRecord } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { printRows } from '../output/table.js';
import { clock } from '../output/times.js';

export function alarmCommands(program: Command): void {
  const alarms = program.command('alarms').description('what needs somebody');
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
    does(alarms.command('ack <id>').description('acknowledge one: somebody is on it'), ack),
    'alarms ack fencing-failed=host1-SN1',
  );
}

async function list(run: Run, o: { all?: boolean }): Promise<void> {
  const { items } = await run.server.get<{ items: (AlarmRecord & { id: string })[] }>(
    o.all === true ? '/v1/alarms?all=true' : '/v1/alarms',
  );
  if (run.json) return run.terminal.json({ items });
  const { terminal } = run;
  const rows = items.map((a) => [
    a.id,
    terminal.paint(a.severity === 'critical' ? 'red' : 'yellow', a.severity),
    clock(a.since),
    a.cleared !== undefined
      ? 'cleared'
      : a.acknowledged === undefined
        ? 'stands'
        : `acknowledged by ${a.acknowledged.by}`,
    a.message,
  ]);
  printRows(terminal, ['ALARM', 'SEVERITY', 'SINCE', 'STATE', 'MESSAGE'], rows, 'no alarms');
}

async function ack(run: Run, id: string): Promise<void> {
  const alarm = await run.server.exchange<AlarmRecord>('POST', `/v1/alarms/${encodeURIComponent(id)}/ack`);
  if (run.json) run.terminal.json(alarm);
}
