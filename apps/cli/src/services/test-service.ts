import type { Command } from 'commander';
import type { JobRecord, OperationRequest, ServiceTestResult, ServiceTestStep } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { parseExtraVars } from '../input/json-option.js';
import { seconds } from '../input/numbers.js';
import { followJob } from '../jobs/await-job.js';

interface TestOptions {
  on: string;
  hostGroup?: string;
  extraVars?: string;
  timeout?: string;
}

/** What each part does, in a few words. */
const parts: Record<ServiceTestStep, string> = {
  begin: 'cleanup, where it never was',
  site: 'site',
  check: 'check says ok',
  again: 'site again changes nothing',
  edit: 'check finds files that were changed by hand',
  resetup: 'set up again',
  recheck: 'check says ok',
  end: 'cleanup leaves nothing',
};

export function testCommand(service: Command): void {
  examples(
    does(
      service
        .command('test <name>')
        .description(
          'set it up on a node that is out of service, check it, change it, take it away, and say what is wrong',
        )
        .requiredOption('--on <node>', 'a node on which nothing is set up (Unallocated or Decommissioned); it stays so')
        .option(
          '-g, --host-group <group>',
          'as in this host group. Default: that of the node, or the first of service.yml',
        )
        .option('-e, --extra-vars <json>', 'extra vars of this run, a JSON object')
        .option('--timeout <duration>', 'end the test, with its cleanup, after 15m, 2h'),
      test,
    ),
    'service test web --on host1-SN1',
    'service test web --on host1-SN1 --host-group service-master --json',
  );
}

async function test(run: Run, service: string, o: TestOptions): Promise<void> {
  const request: OperationRequest = {
    kind: 'service-test',
    nodes: [o.on],
    service,
    ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }),
    ...(o.extraVars !== undefined && { extraVars: parseExtraVars(o.extraVars) }),
    ...(o.timeout !== undefined && { timeout: seconds('--timeout', o.timeout) }),
  };
  const { job: id } = await run.server.post<{ job: string }>('/v1/operations', request);
  const job = await followJob(run, id);
  const [node = o.on] = job.nodes;
  const found = job.results[node]?.test;
  const ok = job.status === 'Complete' && found !== undefined && found.wrong.length === 0;
  const answer = {
    job: id,
    node,
    ok,
    ...(ok ? {} : { error: job.error }),
    ...(found ?? { service, steps: [], wrong: [] }),
  };
  if (!(await run.print.machine(answer, [id])) && found !== undefined)
    for (const line of linesOf(found, node)) run.terminal.line(line);
  if (!ok) throw new Failure(endingOf(service, job, found));
}

/** What was run and how it went, then what is to be mended. */
function linesOf(t: ServiceTestResult, node: string): string[] {
  const width = Math.max(...t.steps.map((s) => s.step.length));
  return [
    `${t.service} on ${node}, as ${t.mode} in host group ${t.hostGroup}:`,
    ...t.steps.map((s) => `  ${s.ok ? 'ok   ' : 'WRONG'}  ${s.step.padEnd(width)}  ${parts[s.step]}`),
    ...t.wrong.map((w) => `${w.file}: ${w.what}`),
  ];
}

function endingOf(service: string, job: JobRecord, found: ServiceTestResult | undefined): string {
  const wrong = found?.wrong.length ?? 0;
  if (wrong === 0 || job.cancel !== undefined) return `${service} was not tested whole: ${job.error}`;
  return `${service} is not right: ${wrong === 1 ? '1 thing is' : `${wrong} things are`} to be mended`;
}
