import { describe, expect, it } from 'vitest';
import { carriedBirths } from './carried-births.js';

describe('when buckets were made, after a store was loaded elsewhere', () => {
  const [then, now] = ['2026-01-01T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
  const of = (at: string, ...buckets: string[]) => new Map(buckets.map((bucket) => [bucket, new Date(at)]));

  it('is right for those that were right before', () => {
    const kept = { created: { nodes: then, jobs: then } };
    expect(carriedBirths(kept, of(then, 'nodes', 'jobs'), of(now, 'nodes', 'jobs'))).toEqual({
      created: { nodes: now, jobs: now },
    });
  });

  it('stays wrong for one that had been made anew, or was not there', () => {
    const kept = { created: { nodes: then, jobs: then, gone: then } };
    const saved = new Map([...of(then, 'nodes'), ...of('2026-01-09T00:00:00.000Z', 'jobs')]);
    expect(carriedBirths(kept, saved, of(now, 'nodes', 'jobs'))?.created).toEqual({
      nodes: now,
      jobs: then,
      gone: then,
    });
  });

  it('is unknown where nobody had looked', () => {
    expect(carriedBirths(undefined, of(then, 'nodes'), of(now, 'nodes'))).toBeUndefined();
  });
});
