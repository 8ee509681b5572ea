import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parsedCommand } from '../../../apps/cli/src/testing/parsed-command.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((f) => (f.endsWith('.md') ? [`docs/${f}`] : [])),
];
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, object> };
/** As `init` itself tells them. */
const usage = /const usage = `[^`]*/.exec(read('apps/cli/src/containers/main.ts'))?.[0] ?? '';
const ofInit = [...usage.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name]) => name);

/** Options that have a value behind them. */
const valued = new Set(['--env-file', '--profile', '-f', '-p', '-e', '-v']);

interface ComposeCommand {
  verb: string;
  options: string[];
  words: string[];
}

/** Blocks of code, and code in a line. */
function codeOf(page: string): string[] {
  const blocks: string[] = [];
  const prose = read(page).replaceAll(/^```[^\n]*\n([^]*?)^```/gm, (_all, code: string) => (blocks.push(code), ''));
  return [...blocks, ...[...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)];
}

/** What stands behind `docker compose`, or what a page calls so, up to the end of the command. */
function commandsOf(page: string): ComposeCommand[] {
  const found = codeOf(page).flatMap((code) => [
    ...code.matchAll(/(?:docker compose|\$compose|^demo) (?=[a-z-])([^\n#|<>;'"]*)/gm),
  ]);
  return found.map(([, text = '']) => {
    const options: string[] = [];
    const words: string[] = [];
    const tokens = text.trim().split(/\s+/);
    for (let i = 0; i < tokens.length; i += 1) {
      const token = tokens[i] ?? '';
      // Behind the service everything is its own.
      const isOption = token.startsWith('-') && (words.length < 2 || words[0] !== 'run');
      if (!isOption) words.push(token);
      else options.push(valued.has(token) ? `${token} ${tokens[(i += 1)]}` : token);
    }
    const [verb = '', ...rest] = words;
    return { verb, options, words: rest };
  });
}

const all = pages.flatMap((page) => commandsOf(page).map((command) => [page, command] as const));
const title = ({ verb, words }: ComposeCommand): string => [verb, ...words].join(' ');

describe('what the pages tell of docker compose', () => {
  const named = all.filter(([, { verb }]) => verb !== '');

  it.each(named.map(([page, command]) => [title(command), page, command] as const))(
    'is what the composition takes: %s (%s)',
    async (_title, _page, { verb, words }) => {
      expect(['run', 'up', 'down', 'stop', 'restart', 'exec']).toContain(verb);
      const [service, ...rest] = words;
      const named = verb === 'run' || verb === 'exec' ? [service] : words;
      expect(named.filter((name) => !Object.hasOwn(services, name ?? ''))).toEqual([]);
      if (verb !== 'run') return;
      if (service === 'init') expect([undefined, ...ofInit]).toContain(rest[0]);
      else {
        const command = ['muster', ...(service === 'store' ? ['store'] : []), ...rest].join(' ');
        expect(command.startsWith(await parsedCommand(command))).toBe(true);
      }
    },
  );

  it('is found in them', () => {
    expect(new Set(named.map(([, { verb }]) => verb))).toEqual(
      new Set(['run', 'up', 'down', 'stop', 'restart', 'exec']),
    );
    expect(ofInit).toEqual(['demo', 'show', 'configure', 'admin-token', 'renew']);
  });

  it('puts no token where every user of the machine sees it', () => {
    const shown = all.flatMap(([page, { options }]) => (/TOKEN=/.test(options.join(' ')) ? [page] : []));
    expect(shown).toEqual([]);
  });
});
