import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../../apps/cli/src/program.js';
import { fakeIo } from '../../../apps/cli/src/testing/muster.js';
import { parsedCommand } from '../../../apps/cli/src/testing/parsed-command.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** docs/cli.md is written by the program itself. */
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((f) => (f.endsWith('.md') && f !== 'cli.md' ? [`docs/${f}`] : [])),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
const BLOCK = /^```(\w*)\n([^]*?)^```$/gm;

/** Lines of the blocks for a shell, those that go on joined, without remarks. */
const linesOf = (page: string): string[] =>
  [...textOf(page).matchAll(BLOCK)]
    .filter(([, language = '']) => ['', 'sh', 'bash', 'console'].includes(language))
    .flatMap(([, , block = '']) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/(^|\s)#\s.*$/, ''));

/** What a shell would give to `muster`, up to the next command, redirection or substitution. */
const commandsIn = (line: string): string[] =>
  [...line.matchAll(/(?<=^|[|;(]\s*|\$\s|&&\s|--\s|=\$\()muster [a-z](?:"[^"]*"|'[^']*'|[^|;&<>)"'])*/g)].map(([c]) =>
    c.trim(),
  );

const inBlocks = pages.flatMap((page) =>
  linesOf(page)
    .flatMap(commandsIn)
    .map((command): [string, string] => [page, command]),
);
const inProse = pages.flatMap((page) =>
  [
    ...textOf(page)
      .replaceAll(BLOCK, '')
      .matchAll(/`(muster\s[a-z][^`]*)`/g),
  ].map(([, c = '']): [string, string] => [page, c.replaceAll(/\s+/g, ' ')]),
);

/** Is each word a command of the one before it, down to one that takes no other? Its arguments may be left out. */
function isThere(command: string): boolean {
  let at: Command = createProgram(fakeIo([]).io);
  for (const word of command.split(' ').slice(1)) {
    if (at.commands.length === 0) return true;
    const next = at.commands.find((c) => c.name() === word || c.aliases().includes(word));
    if (next === undefined) return /^[^a-z]/.test(word);
    at = next;
  }
  return true;
}

describe('a command that a page names', () => {
  it.each(inBlocks)('in a block of %s is one that the program takes: %s', async (_, command) => {
    const found = await parsedCommand(command);
    expect(found.split(' ').length).toBeGreaterThan(1);
  });

  it('in a sentence is there', () => {
    expect(inProse.filter(([, command]) => !isThere(command))).toEqual([]);
  });

  it('is looked for on all of them', () => {
    expect(inBlocks.length).toBeGreaterThan(150);
    expect(new Set(inBlocks.map(([page]) => page)).size).toBeGreaterThan(10);
    expect(inProse.length).toBeGreaterThan(100);
  });
});
