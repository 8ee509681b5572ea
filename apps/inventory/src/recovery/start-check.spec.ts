import { describe, expect, it } from '@jest/globals';
import { checkStart, type StartFacts } from './start-check.js';

const says = (node: string, ...names: string[]): StartFacts['fresh'][number] => ({
  node,
  bootId: 'b',
  workloads: names.map((name) => ({ name, generation: 1 })),
});
const facts = (fresh: StartFacts['fresh'], mustAnswer = ['a', 'b', 'c']): StartFacts => ({
  workload: 'w',
  target: 'b',
  mustAnswer,
  fresh,
});

describe('before a start', () => {
  it('all is clear when every node has said what it runs, and none runs it', () => {
    expect(checkStart(facts([says('a'), says('b', 'x'), says('c')]))).toEqual({ kind: 'clear' });
  });

  it('a node that did not answer holds it, by name', () => {
    expect(checkStart(facts([says('a')]))).toEqual({ kind: 'unknown', nodes: ['b', 'c'] });
  });

  it('a report without a list is no answer', () => {
    const mute = { node: 'c', bootId: 'b' };
    expect(checkStart(facts([says('a'), says('b'), mute]))).toEqual({ kind: 'unknown', nodes: ['c'] });
  });

  it('seen elsewhere is stronger than a node that did not answer', () => {
    expect(checkStart(facts([says('c', 'w')]))).toEqual({ kind: 'elsewhere', node: 'c' });
  });

  it('a node that need not answer, and runs it, counts', () => {
    expect(checkStart(facts([says('a'), says('b'), says('c'), says('fenced', 'w')]))).toEqual({
      kind: 'elsewhere',
      node: 'fenced',
    });
  });

  it('on the target already is no reason to start it again', () => {
    expect(checkStart(facts([says('a'), says('b', 'w'), says('c')]))).toEqual({ kind: 'there' });
  });
});
