import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { blocksOf, placeOf, withValues } from './blocks.js';
import { PAGES, SCENES } from './pages.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = ['text', '<!-- quickstart: one -->', '', '```sh', 'a', '', 'b', '```', 'text', '```', 'c', '```'].join(
  '\n',
);

describe('code blocks of a page', () => {
  it('are found with who runs them', () => {
    expect(blocksOf('p.md', page)).toEqual([
      { file: 'p.md', line: 4, text: 'a\n\nb', runner: { scene: 'one' } },
      { file: 'p.md', line: 10, text: 'c' },
    ]);
    const [stays] = blocksOf('p.md', '<!-- quickstart: one, until "ready" -->\n```\nx\n```');
    expect(stays?.runner).toEqual({ scene: 'one', until: 'ready' });
    const [not] = blocksOf('p.md', '<!-- quickstart: skipped, it needs docker -->\n   ```\n   x\n   ```');
    expect(not).toMatchObject({ text: 'x', runner: { skipped: 'it needs docker' } });
  });

  it('have no marker where it says nothing', () => {
    expect(blocksOf('p.md', '<!-- quickstart: -->\n```\nx\n```')[0]?.runner).toBeUndefined();
  });

  it.each([['<!-- quickstart: skipped -->'], ['<!-- quickstart: skipped, -->'], ['<!-- quickstart: one, later -->']])(
    'are not passed over in silence: %s',
    (mark) => {
      expect(() => blocksOf('p.md', `${mark}\n\`\`\`\nx\n\`\`\``)).toThrow('says neither');
    },
  );

  it('must end', () => {
    expect(() => blocksOf('p.md', '```\nx')).toThrow('p.md:1: the fence is not closed');
  });

  it('get the values of the place where they run', () => {
    const values = { '10.0.0.1': '10.77.1.1', '10.0.0.11': '10.77.1.12', SN1: 'abc' };
    expect(withValues('a=10.0.0.1:4222 10.0.0.11 host1-SN1 SN10 110.0.0.1', values)).toBe(
      'a=10.77.1.1:4222 10.77.1.12 host1-abc SN10 110.0.0.1',
    );
  });
});

describe.each(PAGES)('%s', (file) => {
  const blocks = blocksOf(file, readFileSync(join(root, file), 'utf8'));

  it('says of each code block who runs it, or why nobody does', () => {
    expect(blocks.filter((block) => block.runner === undefined).map(placeOf)).toEqual([]);
    const unknown = blocks.filter((b) => b.runner && 'scene' in b.runner && !SCENES.includes(b.runner.scene as never));
    expect(unknown.map(placeOf)).toEqual([]);
    expect(blocks.length).toBeGreaterThan(0);
  });
});
