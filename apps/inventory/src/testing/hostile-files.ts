import { expect } from 'vitest';
import { longestTurnMs } from './longest-turn.js';

const keys = (n: number): string =>
  `nodes:\n  - label: a\n    serial: "1"\n    vars:\n${Array.from({ length: n }, (_, i) => `      k${i}: 1\n`).join('')}`;
const columns = (n: number): string => `${Array.from({ length: n }, (_, i) => `var:c${i}`).join(',')}\n`;
const bomb = `nodes:\n${Array.from({ length: 400 }, (_, i) => `  - &a${i} {label: a, vars: {x: [${`*a${i - 1},`.repeat(i === 0 ? 0 : 90)}]}}\n`).join('')}`;

export type HostileFile = readonly [format: 'yaml' | 'csv', what: string, content: () => string];

/** One of each format, for every day. */
export const hostileFiles: readonly HostileFile[] = [
  ['yaml', 'aliases of aliases', () => bomb],
  ['csv', '90,000 columns', () => columns(90_000)],
];

/** Each takes seconds of a worker's CPU. */
export const moreHostileFiles: readonly HostileFile[] = [
  ['yaml', 'a node with 60,000 variables', () => keys(60_000)],
  ['yaml', 'nothing but brackets', () => `nodes: ${'['.repeat(900_000)}`],
  ['yaml', 'lists in lists', () => `nodes:\n${'- '.repeat(400_000)}`],
  ['yaml', 'aliases without end', () => `nodes:\n  - &a {x: [${'*a,'.repeat(200_000)}]}\n`],
  ['yaml', 'one fault a line', () => `nodes:\n${'  - }\n'.repeat(40_000)}`],
  ['csv', '100,000 lines', () => `label\n${'a\n'.repeat(100_000)}`],
  ['csv', 'nothing but quotes', () => '"'.repeat(900_001)],
];

/** An import that is on its way is refused, and no turn of this process, in which inventory runs, takes long meanwhile. */
export async function isRefusedInPassing(outcome: Promise<unknown>): Promise<void> {
  const turn = longestTurnMs(outcome);
  await expect(outcome).rejects.toMatchObject({
    code: expect.stringMatching(/^(IMPORT_INVALID|BAD_REQUEST)$/) as unknown,
  });
  expect(await turn).toBeLessThan(250);
}
