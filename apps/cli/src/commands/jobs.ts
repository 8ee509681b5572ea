import type { Command } from 'commander';
import type { JobRecord } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { Failure } from '../failure.js';
import { resultText } from '../jobs/await-job.js';
import { printRows } from '../output/table.js';
import { clock } from '../output/times.js';

export function jobCommands(program: Command): void {
  const job = program.command('job').description('operations that run or ran');
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
  examples(does(job.command('list').description('jobs, newest first'), list), 'job list --json');
  examples(
    does(job.command('cancel <id>').description('end a job, its Ansible and its children'), cancel),
    'job cancel last',
  );
}

const jobPath = (id: string): string => `/v1/jobs/${encodeURIComponent(id)}`;

async function get(run: Run, id: string, o: { follow?: boolean }): Promise<void> {
  const { server, terminal } = run;
  const job = await server.get<JobRecord>(jobPath(id));
  if (o.follow === true) {
    for await (const text of server.stream(`${jobPath(job.id)}/log?follow=true`)) terminal.out(text);
    return ending(run, await server.get<JobRecord>(jobPath(job.id)));
  }
  if (run.json) return terminal.json(job);
  let log = '';
  for await (const text of server.stream(`${jobPath(job.id)}/log`)) log += text;
  print(run, job, log);
}

/** As the old program printed a job; the result of each node follows on a terminal. */
function print({ terminal }: Run, job: JobRecord, log: string): void {
  terminal.line(`\nDescription: ${job.desc}\nStatus: ${job.status}\nError: ${job.error}\nLogs:`);
  terminal.line(`    ${log.trimEnd().replaceAll('\n', '\n    ')}\n`);
  if (terminal.interactive)
    for (const [node, result] of Object.entries(job.results)) terminal.line(`${node}: ${resultText(result)}`);
}

function ending({ terminal, json }: Run, job: JobRecord): void {
  if (json) terminal.json(job);
  else for (const [node, result] of Object.entries(job.results)) terminal.note(`${node}: ${resultText(result)}`);
  if (job.status === 'Errored') throw new Failure(`job ${job.id} failed: ${job.error}`);
}

async function list(run: Run): Promise<void> {
  const jobs = await run.server.all<JobRecord>('/v1/jobs');
  if (run.json) return run.terminal.json({ items: jobs });
  const rows = jobs.map((j) => [j.id, j.kind, j.status, clock(j.createdAt), j.nodes.join(' '), j.error]);
  printRows(run.terminal, ['ID', 'KIND', 'STATUS', 'CREATED', 'NODES', 'ERROR'], rows, 'no jobs');
}

async function cancel(run: Run, id: string): Promise<void> {
  const job = await run.server.exchange<JobRecord>('POST', `${jobPath(id)}/cancel`);
  if (run.json) run.terminal.json(job);
}
