import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namedFleets } from './fleet/named-fleet-histories.js';
import { namedHistories } from './hands/named-histories.js';

/** The names in the first column of the one table of named histories below this head. */
function namesUnder(head: string): string[] {
  const page = readFileSync(join(process.cwd(), 'docs/testing.md'), 'utf8');
  const [, section = ''] = page.split(`### ${head}\n`);
  const [, table = ''] = section.split(/^## |^### /m)[0]?.split('| named history') ?? [];
  return [...table.split('\n\n')[0]!.matchAll(/^\| `([\w-]+)`/gm)].map(([, name = '']) => name);
}

describe('docs/testing.md has each named history', () => {
  it.each([
    ['The simulation of fencers and provisioners (`sim -- hands`)', Object.keys(namedHistories)],
    ['The simulation of the whole plane', Object.keys(namedFleets)],
  ])('in the table of: %s', (head, names) => {
    const written = names.map((name) => name.replace(/^(conductor-killed)-\w+$/, '$1-PHASE'));
    expect(namesUnder(head).sort()).toEqual([...new Set(written)].sort());
  });
});
