import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((f) => (f.endsWith('.md') ? [`docs/${f}`] : [])),
];
const textOf = (page: string): string => readFileSync(join(root, page), 'utf8');
/** Without blocks of code: what stands there is no link. */
const prose = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

/** The anchors that a renderer makes of the heads of a page. */
function anchors(page: string): Set<string> {
  const heads = [...prose(textOf(page)).matchAll(/^#+ (.+)$/gm)].map(([, head = '']) =>
    head
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(heads.map((head, i) => `${head}${suffix(heads.slice(0, i).filter((h) => h === head).length)}`));
}
const suffix = (before: number): string => (before === 0 ? '' : `-${before}`);

describe.each(pages)('%s', (page) => {
  it('links to files and heads that are there', () => {
    const links = [...prose(textOf(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const dead = links.filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchors(target).has(anchor);
    });
    expect(dead).toEqual([]);
  });

  it('names files and folders of the code that are there', () => {
    const named = [...prose(textOf(page)).matchAll(/`((?:apps|libs|sim|lab|test|bench|scripts)\/[\w./-]+)`/g)];
    expect(named.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe('docs/glossary.md', () => {
  const entries = textOf('docs/glossary.md').split(/^## /m).slice(1);
  const terms = entries.map((entry) => entry.slice(0, entry.indexOf('\n')));

  it('has each term once, in the order of the alphabet', () => {
    const sorted = [...new Set(terms)].sort((a, b) => a.localeCompare(b, 'en'));
    expect(terms).toEqual(sorted);
  });

  it('says of each where it is decided, and which page has more', () => {
    const lacking = entries.filter(
      (entry) => !/\n\nDecided in `[^`]+`(, `[^`]+`)*;\s\[[^\]]+\]\([^)]+\)\.\n*$/.test(entry),
    );
    expect(lacking).toEqual([]);
  });

  it.each([
    ...['Quorum', 'Majority', 'Lease', 'Fencing token', 'Fencing', 'Reconcile', 'Drain', 'Backoff', 'Split-brain'],
    ...['Heartbeat', 'Boot grace', 'Power quarantine', 'Incident', 'Verdict', 'Gate', 'Storm', 'Permit'],
  ])('has %s', (term) => {
    expect(terms).toContain(term);
  });
});
