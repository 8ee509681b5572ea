import { describe, expect, it } from 'vitest';
import type { Check } from './check.js';
import { checks, selectChecks } from './checks.js';

const check = (name: string, ...needs: string[]): Check => ({
  name,
  title: name,
  needs,
  run: () => Promise.resolve(''),
});
const some = [check('init'), check('up', 'init'), check('ports', 'up'), check('story', 'up'), check('audit', 'story')];
const selected = (...names: string[]): string[] => selectChecks(some, names).map(({ name }) => name);

describe('the checks of a run', () => {
  it('are all where none is named', () => {
    expect(selected()).toEqual(['init', 'up', 'ports', 'story', 'audit']);
  });

  it('are those that are named, after what they need, in their order', () => {
    expect(selected('audit', 'ports')).toEqual(['init', 'up', 'ports', 'story', 'audit']);
    expect(selected('story')).toEqual(['init', 'up', 'story']);
  });

  it('are refused where there is none of that name', () => {
    expect(() => selected('up', 'down')).toThrow('there is no check "down"; there are init, up');
  });

  it('need only what comes before them', () => {
    const names = checks.map(({ name }) => name);
    const later = checks.flatMap(({ needs }, i) => needs.filter((need) => !names.slice(0, i).includes(need)));
    expect(later).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});
