import type { Command } from 'commander';
import type { UnreadableRecord } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import type { View } from '../output/printer.js';

export function recordCommands(program: Command): void {
  const record = examples(
    program.command('record').description('stored records that cannot be read'),
    'record list',
    'record delete nodes zzz-1 --reason "written by a broken tool"',
  );
  examples(
    does(record.command('list').description('those that are left out until somebody deletes them'), list),
    'record list',
  );
  examples(
    does(
      record
        .command('delete <bucket> <key>')
        .description('delete one; what can be read is not deleted this way')
        .requiredOption('--reason <text>', 'for the audit')
        .option('--force', 'also the incident of a node that is silent'),
      remove,
    ),
    'record delete nodes zzz-1 --reason "written by a broken tool"',
  );
}

const view: View<UnreadableRecord> = {
  name: (r) => `${r.bucket}/${r.key}`,
  head: ['BUCKET', 'KEY', 'REVISION', 'WHY'],
  row: (r) => [r.bucket, r.key, String(r.revision), r.why],
  none: 'every record can be read',
};

async function list(run: Run): Promise<void> {
  const { items } = await run.server.get<{ items: UnreadableRecord[] }>('/v1/records/unreadable');
  await run.print.list(items, view);
}

async function remove(run: Run, bucket: string, key: string, o: { reason: string; force?: boolean }): Promise<void> {
  const request = { bucket, key, reason: o.reason, ...(o.force === true && { force: true }) };
  await run.server.post('/v1/records/delete', request);
  await run.print.done({ bucket, key }, `${bucket}/${key}`, `${bucket}/${key} is deleted`);
}
