import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkMutants } from './check.js';
import type { AreaMutant } from './mutant.js';

describe('the check of the mutants', () => {
  let folder: string;
  const good: AreaMutant = {
    area: 'gate',
    name: 'the limit is gone',
    file: 'apps/gate/limit.ts',
    symbol: 'LIMIT',
    operation: { set: 'LIMIT', to: '0' },
    specs: ['apps/gate/limit.spec.ts'],
  };
  const check = (mutants: readonly AreaMutant[], floor = mutants.length): string[] =>
    checkMutants({ folder, mutants, floors: { gate: floor }, sims: ['detect'] });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'muster-check-'));
    for (const top of ['apps/gate', 'libs', 'lab', 'sim']) mkdirSync(join(folder, top), { recursive: true });
    writeFileSync(join(folder, 'apps/gate/limit.ts'), 'export const LIMIT = 3;\n');
    writeFileSync(join(folder, 'apps/gate/limit.spec.ts'), '');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('has nothing to say of one that is found', () => {
    expect(check([good])).toEqual([]);
  });

  it.each<[string, Partial<AreaMutant>, RegExp]>([
    [
      'symbol',
      { symbol: 'LIMITS' },
      /^gate "the limit is gone": apps\/gate\/limit.ts: no symbol LIMITS; nearest: LIMIT/,
    ],
    ['file', { file: 'apps/old/limit.ts' }, /apps\/old\/limit.ts: the file is gone; nearest: apps\/gate\/limit.ts$/],
    ['spec', { specs: ['apps/limit.spec.ts'] }, /no spec apps\/limit.spec.ts; nearest: apps\/gate\/limit.spec.ts$/],
    ['test', { test: 'a limit holds' }, /no test "a limit holds" in apps\/gate\/limit.spec.ts$/],
    ['simulation', { sims: ['dreams'] }, /no simulation dreams; there are detect$/],
    ['guard', { specs: [] }, /nothing guards it/],
  ])('names a %s that is gone', (_what, change, says) => {
    expect(check([{ ...good, ...change }])).toEqual([expect.stringMatching(says)]);
  });

  it('lets no area have fewer than it had, and keeps what came', () => {
    expect(check([good], 2)).toEqual(['gate: 1 mutants, and there were 2: their number never falls']);
    expect(check([good], 0)).toEqual(['gate: 1 mutants: raise its floor from 0 to 1']);
  });

  it('takes no two of one name', () => {
    expect(check([good, good])).toEqual(['gate "the limit is gone": two mutants have this name']);
  });
});
