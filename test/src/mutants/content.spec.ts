import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf } from './content.js';
import type { AreaMutant } from './mutant.js';

describe('the content that a mutant is tried on', () => {
  let folder: string;
  const mutant: AreaMutant = {
    area: 'gate',
    name: 'the limit is gone',
    file: 'gate/limit.ts',
    symbol: 'LIMIT',
    operation: { set: 'LIMIT', to: '0' },
    specs: ['gate/limit.spec.ts'],
    sims: ['detect'],
  };
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'muster-content-'));
    for (const dir of ['gate', 'sim/src/detect']) mkdirSync(join(folder, dir), { recursive: true });
    write('gate/limit.ts', 'export const LIMIT = 3;');
    write('gate/limit.spec.ts', 'it holds');
    write('sim/src/detect/history.ts', 'export const STEPS = 9;');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is the same as long as nothing changes', () => {
    const before = contentOf(folder, mutant);
    write('gate/other.ts', 'export const OTHER = 1;');
    expect(contentOf(folder, { ...mutant })).toBe(before);
  });

  it.each<[string, () => Partial<AreaMutant>]>([
    ['the file that is broken', () => (write('gate/limit.ts', 'export const LIMIT = 4;'), {})],
    ['a spec', () => (write('gate/limit.spec.ts', 'it holds now and then'), {})],
    ['how it is broken', () => ({ operation: { set: 'LIMIT', to: '1' } })],
    ['the test that is named', () => ({ test: 'it holds' })],
  ])('changes with %s', (_what, change) => {
    const before = contentOf(folder, mutant);
    expect(contentOf(folder, { ...mutant, ...change() })).not.toBe(before);
  });

  it('is that of the simulations where they alone try it', () => {
    const [bySpecs, bySims] = [contentOf(folder, mutant), contentOf(folder, mutant, true)];
    const withoutSpecs = contentOf(folder, { ...mutant, specs: [] });
    write('sim/src/detect/history.ts', 'export const STEPS = 2;');
    expect(contentOf(folder, mutant)).toBe(bySpecs);
    expect(contentOf(folder, mutant, true)).not.toBe(bySims);
    expect(contentOf(folder, { ...mutant, specs: [] })).not.toBe(withoutSpecs);
  });
});
