import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { createClusterctl } from './clusterctl/program.js';
import { manual } from './commands/manual.js';
import { createProgram } from './program.js';
import { fakeIo } from './testing/muster.js';

const page = new URL('../../../docs/cli.md', import.meta.url);

function helpOf(command: Command): string {
  const texts: string[] = [];
  command.configureOutput({ writeOut: (text) => texts.push(text) }).outputHelp();
  return texts.join('');
}

/** Every command with its words, the program's own first. */
function* walk(command: Command, words = command.name()): Generator<[words: string, command: Command]> {
  yield [words, command];
  for (const inner of command.commands) yield* walk(inner, `${words} ${inner.name()}`);
}

const programs = [createProgram(fakeIo([]).io), createClusterctl(fakeIo([]).io)].flatMap((program) => [
  ...walk(program),
]);

describe('help', () => {
  it.each(programs.slice(1).filter(([words]) => words !== 'clusterctl'))(
    'of %s says what it does, with an example of itself',
    (words, command) => {
      expect(command.description()).not.toBe('');
      expect(helpOf(command)).toContain(`Examples:\n`);
      expect(helpOf(command)).toContain(`$ ${words}`);
    },
  );

  it('gives no example that the program itself would refuse', () => {
    for (const [, command] of programs)
      for (const [, example = ''] of helpOf(command).matchAll(/^ {2}\$ (?:muster|clusterctl) (.+)$/gm)) {
        const said = example.split(/[|#>]/)[0] ?? '';
        const words = said.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
        let meant: Command | undefined = rootOf(command);
        for (const word of words)
          meant = meant?.commands.find((c) => [c.name(), ...c.aliases()].includes(word)) ?? meant;
        const flags = words.filter((word) => /^--?[a-z]/.test(word));
        const known = [...optionsOf(meant), ...optionsOf(rootOf(command))];
        expect([example, flags.filter((flag) => !known.includes(flag))]).toEqual([example, []]);
      }
  });

  it('names the environment', () => {
    expect(helpOf(createProgram(fakeIo([]).io))).toMatch(/MUSTER_URL.*MUSTER_TOKEN.*NO_COLOR/);
  });

  it('stands as a page in docs/cli.md: muster manual > docs/cli.md', () => {
    expect(readFileSync(page, 'utf8')).toBe(manual(createProgram(fakeIo([]).io)));
  });
});

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));
const optionsOf = (command: Command | undefined): string[] =>
  (command?.options ?? []).flatMap((o) => [o.short, o.long]).filter((flag) => flag !== undefined && flag !== null);
