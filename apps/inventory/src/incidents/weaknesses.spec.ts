import { describe, expect, it } from 'vitest';
import { weaknesses } from './weaknesses.js';

describe('what will keep the dead from being fenced', () => {
  it('is that two members have no witness, and nothing where there is one, or a third member', () => {
    expect(weaknesses({ members: 2, witness: '' })).toMatchObject([
      { text: expect.stringContaining('no witness'), remedy: { command: 'muster settings set witness=HOST:PORT' } },
    ]);
    expect(weaknesses({ members: 2, witness: '10.0.0.1:80' })).toEqual([]);
    for (const members of [0, 3, 5]) expect(weaknesses({ members, witness: '' })).toEqual([]);
  });

  it('is that a member is alone, with a witness or without: nobody is there who could miss it', () => {
    for (const witness of ['', '10.0.0.1:80'])
      expect(weaknesses({ members: 1, witness })).toMatchObject([
        { text: expect.stringContaining('never fenced'), remedy: { command: 'muster agent token create' } },
      ]);
  });
});
