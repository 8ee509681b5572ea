import type { Command } from 'commander';
import { does, examples, type Run } from '../command.js';
import { configBody } from '../commands/config.js';
import { indented } from '../output/nested.js';
import { EXTRA_VARS, JSON_OUTPUT, printJson } from './node-commands.js';

interface OldJob {
  desc: string;
  status: string;
  error: string;
  logs: string[];
}

export function clusterCommands(program: Command): void {
  examples(
    does(
      program
        .command('discover <addresses...>')
        .alias('d')
        .description('provision one or more nodes for discovery')
        .option(...EXTRA_VARS),
      discover,
    ),
    'discover 10.0.0.11 10.0.0.12',
  );
  const global = examples(program.command('global').alias('g').description('set/get global info'), 'global get');
  examples(
    does(
      global
        .command('get')
        .alias('g')
        .description('get global info')
        .option(...JSON_OUTPUT),
      (run, o: Json) => get(run, '/info/globals', o),
    ),
    'global get',
  );
  examples(
    does(
      global
        .command('set')
        .alias('s')
        .description('set global info')
        .option(...EXTRA_VARS),
      setGlobals,
    ),
    `global set -e '{"ntp_server":"10.0.0.1"}'`,
  );
  const config = examples(
    program.command('config').alias('c').description('set/get clusterm configuration'),
    'config get',
  );
  examples(
    does(
      config
        .command('get')
        .alias('g')
        .description('get clusterm configuration')
        .option(...JSON_OUTPUT),
      (run, o: Json) => get(run, '/config', o),
    ),
    'config get --json',
  );
  examples(
    does(config.command('set <file>').alias('s').description('set it from a file of JSON; - is stdin'), setConfig),
    'config set clusterm.json',
  );
  const job = examples(program.command('job').alias('j').description('provisioning job info'), 'job get last');
  examples(
    does(
      job
        .command('get <label>')
        .alias('g')
        .description("get job info: 'active' or 'last'")
        .option(...JSON_OUTPUT)
        .option('-f, --follow', 'stream job logs (just like tail -f)'),
      getJob,
    ),
    'job get last',
    'job get active -f',
  );
}

interface Json {
  json?: boolean;
}

async function discover(run: Run, addresses: string[], o: { extraVars?: string }): Promise<void> {
  await run.server.post('/discover/nodes', { addresses, extra_vars: o.extraVars });
}

async function get(run: Run, path: string, o: Json): Promise<void> {
  const answer = await run.server.get<object>(path);
  if (o.json === true) return printJson(run, answer);
  for (const line of indented(answer)) run.terminal.line(line);
}

async function setGlobals(run: Run, o: { extraVars?: string }): Promise<void> {
  await run.server.post('/globals', { extra_vars: o.extraVars });
}

async function setConfig(run: Run, file: string): Promise<void> {
  await run.server.post('/config', await configBody(run.io, file));
}

async function getJob(run: Run, label: string, o: Json & { follow?: boolean }): Promise<void> {
  const place = encodeURIComponent(label);
  if (o.follow === true) {
    for await (const text of run.server.stream(`/info/logs/${place}`)) run.terminal.out(text);
    return;
  }
  const job = await run.server.get<OldJob>(`/info/job/${place}`);
  if (o.json === true) return printJson(run, job);
  run.terminal.line(`\nDescription: ${job.desc}\nStatus: ${job.status}\nError: ${job.error}\nLogs:`);
  run.terminal.line(`    ${job.logs.join('\n    ')}\n`);
}
