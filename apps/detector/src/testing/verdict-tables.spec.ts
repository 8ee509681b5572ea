import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { withVerdictTables } from './verdict-tables.js';

const file = fileURLToPath(new URL('../../../../docs/detection.md', import.meta.url));

describe('docs/detection.md', () => {
  it('has the verdicts that the code gives; if not: node dist/apps/detector/src/testing/write-verdict-tables.js', () => {
    const document = readFileSync(file, 'utf8');
    expect(document).toBe(withVerdictTables(document));
  });

  it('has a place for every table', () => {
    expect(() => withVerdictTables('')).toThrow('verdicts on the dead');
  });
});
