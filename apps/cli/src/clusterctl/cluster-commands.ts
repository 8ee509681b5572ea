import type { Command } from 'commander';
import { isIP } from 'node:net';
import { does, examples, type Run } from '../command/command.js';
import { configBody } from '../commands/config.js';
import { Failure } from '../failure/failure.js';
import { goLines, quoted } from './go-text.js';
import { EXTRA_VARS, JSON_OUTPUT } from './node-commands.js';
import {
  expectFirst,
  expectNone,
  expectOne,
  expectSome,
  fetchText,
  inOldWords,
  post,
  printJson,
  printLines,
} from './old-exchange.js';

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
        .command('discover [addresses...]')
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
        .command('get [rest...]')
        .alias('g')
        .description('get global info')
        .option(...JSON_OUTPUT),
      (run, _rest: string[], o: Json) => get(run, 'info/globals', o),
    ),
    'global get',
  );
  examples(
    does(
      global
        .command('set [rest...]')
        .alias('s')
        .description('set global info; without -e nothing changes, {} clears it')
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
        .command('get [rest...]')
        .alias('g')
        .description('get clusterm configuration')
        .option(...JSON_OUTPUT),
      (run, _rest: string[], o: Json) => get(run, 'config', o),
    ),
    'config get --json',
  );
  examples(
    does(config.command('set [file...]').alias('s').description('set it from a file of JSON; - is stdin'), setConfig),
    'config set clusterm.json',
  );
  const job = examples(program.command('job').alias('j').description('provisioning job info'), 'job get last');
  examples(
    does(
      job
        .command('get [label...]')
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

async function discover(run: Run, addresses: string[], o: { extraVars: string }): Promise<void> {
  expectSome(addresses);
  const wrong = addresses.find((address) => isIP(address) === 0);
  if (wrong !== undefined) throw new Failure(`failed to parse ip address ${quoted(wrong)}`);
  await post(run, 'discover/nodes', { addresses, extra_vars: o.extraVars });
}

async function get(run: Run, path: string, o: Json): Promise<void> {
  const text = await fetchText(run, path);
  if (o.json === true) return printJson(run, text);
  printLines(run, JSON.parse(text));
}

async function setGlobals(run: Run, rest: string[], o: { extraVars: string }): Promise<void> {
  expectNone(rest);
  await post(run, 'globals', { extra_vars: o.extraVars });
}

async function setConfig(run: Run, files: string[]): Promise<void> {
  await post(run, 'config', await configBody(run.io, expectOne(files)));
}

async function getJob(run: Run, labels: string[], o: Json & { follow?: boolean }): Promise<void> {
  const label = expectFirst(labels);
  const text = await fetchText(run, `info/job/${label}`);
  if (o.json === true) return printJson(run, text);
  const job = JSON.parse(text) as OldJob;
  run.terminal.line(`\nDescription: ${job.desc}\nStatus: ${job.status}\nError: ${job.error}\nLogs:`);
  if (o.follow === true) return follow(run, label);
  // The old server's log had one empty line where nothing was logged.
  for (const line of goLines(job.logs.length === 0 ? [''] : job.logs, '    ')) run.terminal.line(line);
  run.terminal.line();
}

async function follow(run: Run, label: string): Promise<void> {
  const path = `info/logs/${label}`;
  await inOldWords(path, undefined, async () => {
    for await (const text of run.server.stream(`/info/logs/${encodeURIComponent(label)}`)) run.terminal.out(text);
  });
}
