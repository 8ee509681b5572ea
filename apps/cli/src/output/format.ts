import { UsageFailure } from '../failure/failure.js';

export const Formats = ['table', 'json', 'yaml', 'name'] as const;
/** `-o`; without it people get a table on a terminal, and lines to search in a pipe. */
export type Format = (typeof Formats)[number];

/** `--json` is `-o json`. @throws UsageFailure */
export function chosenFormat(o: { output?: string; json?: boolean }): Format | undefined {
  if (o.json === true) {
    if (o.output !== undefined && o.output !== 'json') throw new UsageFailure('either --json or --output');
    return 'json';
  }
  if (o.output === undefined) return undefined;
  const format = Formats.find((f) => f === o.output);
  if (format === undefined) throw new UsageFailure(`--output ${o.output}: one of ${Formats.join(', ')}`);
  return format;
}
