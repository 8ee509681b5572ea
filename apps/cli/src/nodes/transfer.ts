import type { Command } from 'commander';
import { extname } from 'node:path';
import type { ImportOutcome, NodeImportRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure, UsageFailure } from '../failure/failure.js';
import { readText } from '../input/document.js';
import { Refusal } from '../server/server.js';
import { SELECTOR } from './selector-option.js';

/** Characters of a file: the contract's limit, told before so much is sent. */
const LONGEST = 1_000_000;

type FileFormat = NodeImportRequest['format'];
const FORMATS: Record<string, FileFormat> = { '.yaml': 'yaml', '.yml': 'yaml', '.json': 'yaml', '.csv': 'csv' };

export function transferCommands(nodes: Command): void {
  examples(
    does(
      nodes
        .command('import <file>')
        .description('register and change all nodes of a file, or, where anything in it is wrong, none; - is stdin')
        .option('--format <format>', "yaml or csv; otherwise the file's ending says it")
        .option('--dry-run', 'say what would happen'),
      importNodes,
    ),
    'nodes import fleet.yaml --dry-run',
    'nodes import fleet.csv',
    'nodes export | ssh control2 muster nodes import - --format yaml',
  );
  examples(
    does(
      nodes
        .command('export')
        .description('all nodes as a file that import takes; passwords are not in it')
        .option('--format <format>', 'yaml or csv', 'yaml')
        .option(...SELECTOR),
      exportNodes,
    ),
    'nodes export > fleet.yaml',
    'nodes export --format csv --selector vars.rack=r1',
  );
}

async function importNodes(run: Run, file: string, o: { format?: string; dryRun?: boolean }): Promise<void> {
  const format = fileFormat(o.format, file);
  const content = await readText(run.io, file);
  if (content.length > LONGEST) throw new Failure(`${file}: a file takes ${LONGEST} characters; split it`);
  const request: NodeImportRequest = { format, content, ...(o.dryRun === true && { dryRun: true }) };
  const outcome = await run.server
    .post<ImportOutcome>('/v1/nodes/import', request)
    .catch((error: unknown) => refused(error, file));
  if (await run.print.machine(outcome, [...outcome.created, ...outcome.updated])) return;
  const rows = (['created', 'updated', 'unchanged'] as const).flatMap((what) => outcome[what].map((n) => [n, what]));
  run.print.rows(['NODE', outcome.dryRun ? 'WOULD BE' : 'IS'], rows, 'the file names no nodes');
}

/** What is wrong, line by line of the file, as compilers say it. */
function refused(error: unknown, file: string): never {
  if (!(error instanceof Refusal) || error.code !== 'IMPORT_INVALID') throw error;
  const { errors, found } = error.facts as { errors?: { line: number; message: string }[]; found?: number };
  if (errors === undefined) throw error;
  const more = found !== undefined && found > errors.length ? `, of which the first ${errors.length} are shown` : '';
  const failure = new Failure(`nothing is imported: ${found ?? errors.length} found to be wrong${more}`);
  const name = file === '-' ? 'stdin' : file;
  failure.findings.push(...errors.map(({ line, message }) => `${name}:${line}: ${message}`));
  throw failure;
}

async function exportNodes(run: Run, o: { format: string; selector?: string }): Promise<void> {
  const query = new URLSearchParams({
    format: fileFormat(o.format, ''),
    ...(o.selector !== undefined && { selector: o.selector }),
  });
  for await (const text of run.server.stream(`/v1/nodes/export?${query.toString()}`)) run.terminal.out(text);
}

/** @throws UsageFailure */
function fileFormat(given: string | undefined, file: string): FileFormat {
  const format = given === undefined ? FORMATS[extname(file).toLowerCase()] : FORMATS[`.${given}`];
  if (format === undefined)
    throw new UsageFailure(
      given === undefined ? `${file}: say --format yaml or csv` : `--format ${given}: yaml or csv`,
    );
  return format;
}
