import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { isEndedJob, type JobRecord } from '#contracts/job/job.js';
import { does, examples, type Run } from '../command/command.js';
import { wholeNumber } from '../input/numbers.js';
import { ended, jobPath } from '../jobs/await-job.js';
import { nodeLines, resultText } from '../jobs/node-progress.js';
import { oneLine } from '../output/one-line.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';
import { NoServer } from '../server/ask.js';

/** Before the log of a job that is not over is read again, ms. */
const GO_ON_MS = 1_000;

interface LogOptions {
  follow?: boolean;
  from?: string;
}

export function jobCommands(program: Command): void {
  const job = examples(
    program.command('job').description('operations that run or ran'),
    'job get last',
    'job logs active -f',
  );
  examples(
    does(
      job
        .command('get <id>')
        .description('one job: active, last, or an id')
        .option('-f, --follow', 'show its log until it ends; exit 1 if it failed'),
      get,
    ),
    'job get last',
    'job get active -f',
  );
  examples(
    does(
      job
        .command('list')
        .description('jobs, newest first')
        .option('--status <status>', 'only these: Queued, Running, Complete or Errored'),
      list,
    ),
    'job list --status Running',
    'job list -o name',
  );
  examples(
    does(
      job
        .command('logs <id>')
        .description('what Ansible said: of active, last, or an id')
        .option('-f, --follow', 'go on until the job has ended; exit 1 if it failed')
        .option('--from <sequence>', 'begin with this piece of the log'),
      logs,
    ),
    'job logs last',
    'job logs active -f',
  );
  examples(
    does(
      job
        .command('cancel <id>')
        .description('end a job, its Ansible and its children; "active" is never one that the system began'),
      cancel,
    ),
    'job cancel active',
  );
}

const view = (terminal: Terminal): View<JobRecord> => ({
  name: (j) => j.id,
  head: ['ID', 'KIND', 'STATUS', 'CREATED', 'NODES', 'ERROR'],
  row: (j) => [
    j.id,
    j.kind,
    j.status,
    moment(j.createdAt, terminal),
    [...j.nodes, ...(j.addresses ?? [])].join(' '),
    j.error,
  ],
  none: 'no jobs',
});

async function get(run: Run, id: string, o: { follow?: boolean }): Promise<void> {
  const { server, terminal } = run;
  const job = await server.get<JobRecord>(jobPath(id));
  if (o.follow === true) return follow(run, job.id);
  if (run.print.format !== undefined) return run.print.one(job, view(terminal));
  let log = '';
  for await (const text of server.stream(`${jobPath(job.id)}/log`)) log += text;
  for (const line of page(job, log, terminal.interactive)) terminal.line(line);
}

/** As the old program printed a job; how far each node is follows on a terminal. */
function page(job: JobRecord, log: string, interactive: boolean): string[] {
  return [
    '',
    `Description: ${oneLine(job.desc)}`,
    `Status: ${job.status}`,
    `Error: ${oneLine(job.error)}`,
    'Logs:',
    `    ${log.trimEnd().replaceAll('\n', '\n    ')}`,
    '',
    ...(interactive ? nodeLines(job).map((l) => `${l.node}: ${l.text}`) : []),
  ];
}

async function logs(run: Run, id: string, o: LogOptions): Promise<void> {
  const from = o.from === undefined ? undefined : wholeNumber('--from', o.from, 0);
  // `active` and `last` may be another job by the time that we ask how it ended.
  const job = await run.server.get<JobRecord>(jobPath(id));
  if (o.follow === true) return follow(run, job.id, from);
  await show(run, job.id, { ...(from !== undefined && { from: String(from) }) });
}

/**
 * A log may end before its job does: a gateway that stops, or a proxy before it, closes what it carries. So the job alone
 * says when it is over.
 */
async function follow(run: Run, id: string, from?: number): Promise<void> {
  const query = { follow: 'true', ...(from !== undefined && { from: String(from) }) };
  let shown = await showToItsEnd(run, id, query);
  let job = await run.server.get<JobRecord>(jobPath(id));
  for (; !isEndedJob(job); job = await run.server.get<JobRecord>(jobPath(id))) {
    await pause(GO_ON_MS);
    shown = await showToItsEnd(run, id, query, shown);
  }
  if (!run.print.forMachines)
    for (const [node, result] of Object.entries(job.results)) run.terminal.note(`${node}: ${resultText(result)}`);
  await ended(run, job);
}

async function show(run: Run, id: string, query: Record<string, string>): Promise<void> {
  for await (const more of logOf(run, id, query)) run.terminal.out(more);
}

/**
 * A log that breaks off, as the gateway goes down, is read once more from its beginning, at another one where there are
 * more: what was shown is left out.
 * @param shown characters of it that were shown before
 * @returns the same, with what was shown now
 * @throws NoServer: it broke off, and nobody gives any of it
 */
async function showToItsEnd(run: Run, id: string, query: Record<string, string>, shown = 0): Promise<number> {
  for (;;) {
    let read = 0;
    try {
      for await (const more of logOf(run, id, query)) {
        run.terminal.out(more.slice(Math.max(0, shown - read)));
        read += more.length;
        shown = Math.max(shown, read);
      }
      return shown;
    } catch (error) {
      if (!(error instanceof NoServer) || read === 0) throw error;
      run.terminal.note(`muster: the log broke off; going on with it. ${error.message}`);
    }
  }
}

function logOf(run: Run, id: string, query: Record<string, string>): AsyncGenerator<string> {
  const text = new URLSearchParams(query).toString();
  return run.server.stream(`${jobPath(id)}/log${text === '' ? '' : `?${text}`}`);
}

async function list(run: Run, o: { status?: string }): Promise<void> {
  const query = o.status === undefined ? '' : `?${new URLSearchParams({ status: o.status }).toString()}`;
  await run.print.list(await run.server.all<JobRecord>(`/v1/jobs${query}`), view(run.terminal));
}

async function cancel(run: Run, id: string): Promise<void> {
  const job = await run.server.post<JobRecord>(`${jobPath(id)}/cancel`);
  await run.print.done(job, job.id, `job ${job.id} is being ended`);
}
