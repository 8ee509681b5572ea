import { describe, expect, it } from 'vitest';
import type { IncidentPhase, IncidentRecord, RunningWorkload } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import type { LastWord } from './last-word.js';
import { checkStart, isUnproven, mustAnswer, unheardOf, type StartCheck, type StartFacts } from './where-it-runs.js';

const says = (node: string, ...names: string[]): StartFacts['fresh'][number] => ({
  node,
  bootId: 'b',
  workloads: names.map((name) => ({ name, generation: 1 })),
});
const facts = (fresh: StartFacts['fresh'], mustAnswer = ['a', 'b', 'c']): StartFacts => ({
  workload: 'w',
  target: 'b',
  mustAnswer,
  unproven: [],
  fresh,
  lastWord: () => undefined,
});

describe('a node must say what it runs before a start', () => {
  const must = (o: Parameters<typeof aNode>[1], hasWork = false, fenced = false, speaks = false): boolean =>
    mustAnswer(aNode('n-1', o), fenced, speaks, () => hasWork);

  it('while it is in service, and while it is being emptied', () => {
    expect(must({ status: 'Allocated' })).toBe(true);
    expect(must({ status: 'Maintenance' }, true)).toBe(true);
    expect(must({ status: 'Maintenance' })).toBe(false);
  });

  it('not where nobody hears it, or no agent runs; one that is fenced only where it speaks', () => {
    expect(must({ state: 'Disappeared' }, true)).toBe(false);
    expect(must({ enrolled: false }, true)).toBe(false);
    expect(must({}, true, true)).toBe(false);
    expect(must({}, true, true, true)).toBe(true);
  });
});

describe('a silent node that is to be fenced, or is gone', () => {
  const incident = (phase: IncidentPhase): IncidentRecord => anIncident('n-1', { phase });
  const is = (i: IncidentRecord | undefined, o: Parameters<typeof aNode>[1] = {}, speaks = false): boolean =>
    isUnproven(aNode('n-1', o), i, speaks);

  it('is unproven until its record says that it is off, whatever holds its incident or its proof', () => {
    for (const phase of ['investigating', 'suppressed', 'fencing', 'failed', 'fenced'] as const)
      expect(is(incident(phase))).toBe(true);
    for (const phase of ['closed', 'cancelled'] as const) expect(is(incident(phase))).toBe(false);
    expect(is(incident('suppressed'), { confirmedOff: { at: 1, incident: 'i' } })).toBe(false);
    expect(is(undefined)).toBe(false);
  });

  it('is unproven again where it has come back since its proof', () => {
    for (const phase of ['recovering', 'recovered'] as const) {
      expect(is(incident(phase))).toBe(true);
      expect(is(incident(phase), { confirmedOff: { at: 1, incident: 'i' } })).toBe(false);
    }
  });

  it('is unproven where it is gone without an incident, as while it is cordoned, and not proven off', () => {
    for (const i of [undefined, incident('closed'), incident('cancelled')]) {
      expect(is(i, { state: 'Disappeared' })).toBe(true);
      expect(is(i, { state: 'Disappeared', confirmedOff: { at: 1, incident: 'i' } })).toBe(false);
      expect(is(i, { state: 'Disappeared' }, true)).toBe(false);
    }
  });

  it('is none that speaks, or has no agent', () => {
    expect(is(incident('suppressed'), {}, true)).toBe(false);
    expect(is(incident('suppressed'), { enrolled: false })).toBe(false);
  });

  it('holds what it named last, which its own node had beside it, and nothing else', () => {
    const word: LastWord = {
      workloads: [{ name: 'w', generation: 1 }],
      mayHaveCome: () => true,
      mayStartByItself: () => true,
    };
    const f = { ...facts([says('a'), says('b'), says('c')]), unproven: ['d'], lastWord: () => word };
    expect(checkStart(f)).toEqual({ kind: 'unknown', silent: [], named: ['d'], ungated: [] });
    expect(checkStart({ ...f, workload: 'x' })).toEqual({ kind: 'clear' });
    expect(checkStart({ ...f, lastWord: () => undefined })).toEqual({ kind: 'clear' });
    expect(checkStart({ ...f, unproven: ['b'] })).toEqual({ kind: 'clear' });
    const isNamed = { ...word, mayStartByItself: () => false };
    expect(checkStart({ ...f, lastWord: () => isNamed })).toEqual({
      kind: 'unknown',
      silent: [],
      named: ['d'],
      ungated: [],
    });
    const named = (o: Partial<RunningWorkload>): StartCheck['kind'] =>
      checkStart({ ...f, lastWord: () => ({ ...word, workloads: [{ name: 'w', generation: 1, ...o }] }) }).kind;
    expect([named({ starting: true, gated: true }), named({ starting: true }), named({ gated: true })]).toEqual([
      ...['clear', 'unknown', 'unknown'],
    ]);
  });

  it('is told apart from who does not say what it runs, and is one of the two alone', () => {
    const word: LastWord = {
      workloads: [{ name: 'w', generation: 1 }],
      mayHaveCome: () => true,
      mayStartByItself: () => true,
    };
    const f = { ...facts([says('b')]), unproven: ['d', 'c'], lastWord: () => word };
    expect(checkStart(f)).toEqual({ kind: 'unknown', silent: ['a'], named: ['c', 'd'], ungated: [] });
  });
});

it('holds what its boot starts without asking where it has not said in it what it runs', () => {
  const word = (workload: string): LastWord => ({
    mayHaveCome: () => true,
    mayStartByItself: (name) => name === workload,
  });
  const check = (lastWord: LastWord, target = 'b'): StartCheck =>
    checkStart({ ...facts([says('a'), says('b'), says('c')]), target, unproven: ['d'], lastWord: () => lastWord });
  expect(check(word('w'))).toEqual({ kind: 'unknown', silent: [], named: [], ungated: ['d'] });
  expect(check(word('x'))).toEqual({ kind: 'clear' });
  expect(check({ ...word('w'), workloads: [] })).toEqual({ kind: 'clear' });
});

it('is not stopped to be moved while a node is unheard on which it may run: where it runs now rules none of them out', () => {
  expect(unheardOf(facts([says('a'), says('b', 'w')]))).toEqual({ silent: ['c'], named: [], ungated: [] });
  expect(unheardOf(facts([says('a'), says('b', 'w'), says('c')]))).toEqual({ silent: [], named: [], ungated: [] });
});

describe('before a start', () => {
  it('all is clear when every node has said what it runs, and none runs it', () => {
    expect(checkStart(facts([says('a'), says('b', 'x'), says('c')]))).toEqual({ kind: 'clear' });
  });

  it('a node that did not answer holds it, by name', () => {
    expect(checkStart(facts([says('a')]))).toEqual({ kind: 'unknown', silent: ['b', 'c'], named: [], ungated: [] });
  });

  it('a node that did not answer holds it, also where its unit is only being started on its own', () => {
    const starting = (...fresh: StartFacts['fresh']): StartCheck =>
      checkStart(
        facts([...fresh, { node: 'b', bootId: 'b', workloads: [{ name: 'w', generation: 1, starting: true }] }]),
      );
    expect(starting(says('a'))).toEqual({ kind: 'unknown', silent: ['c'], named: [], ungated: [] });
    expect(checkStart(facts([says('a'), says('b', 'w')]))).toEqual({ kind: 'there' });
  });

  it('a unit that is only being started on its own node is no run: its gate may refuse it for ever', () => {
    const starting = { node: 'b', bootId: 'b', workloads: [{ name: 'w', generation: 1, starting: true as const }] };
    expect(checkStart(facts([says('a'), starting, says('c')]))).toEqual({ kind: 'clear' });
  });

  it('a report without a list is no answer', () => {
    const mute = { node: 'c', bootId: 'b' };
    expect(checkStart(facts([says('a'), says('b'), mute]))).toEqual({
      kind: 'unknown',
      silent: ['c'],
      named: [],
      ungated: [],
    });
  });

  it('seen elsewhere is stronger than a node that did not answer', () => {
    expect(checkStart(facts([says('c', 'w')]))).toEqual({ kind: 'elsewhere', node: 'c', generation: 1 });
  });

  it('a node that need not answer, and runs it, counts', () => {
    expect(checkStart(facts([says('a'), says('b'), says('c'), says('fenced', 'w')]))).toEqual({
      kind: 'elsewhere',
      node: 'fenced',
      generation: 1,
    });
  });

  it('the generation of what is only being started elsewhere is none: its gate has not let it through', () => {
    const starting = { node: 'c', bootId: 'b', workloads: [{ name: 'w', generation: 1, starting: true as const }] };
    expect(checkStart(facts([starting, says('b')]))).toEqual({
      ...{ kind: 'elsewhere', node: 'c', generation: undefined, starting: {} },
    });
  });

  describe('what is only being started elsewhere', () => {
    const starting = (node: string) => ({
      ...{ node, bootId: 'b' },
      workloads: [{ name: 'w', generation: 1, starting: true as const }],
    });

    it('awaits the word of the node that it is assigned to, whose gate may have let it through', () => {
      const awaits = { kind: 'elsewhere', node: 'c', generation: undefined, starting: { awaits: 'b' } };
      expect(checkStart(facts([says('a'), starting('c')]))).toEqual(awaits);
      expect(checkStart(facts([says('a'), { node: 'b', bootId: 'b' }, starting('c')]))).toEqual(awaits);
      expect(checkStart(facts([says('a'), starting('b'), starting('c')]))).toEqual(awaits);
    });

    it('says nothing against where it runs', () => {
      expect(checkStart(facts([says('a'), says('b', 'w'), starting('c')]))).toEqual({ kind: 'there' });
      expect(checkStart(facts([starting('a'), says('b'), says('c', 'w')]))).toEqual({
        ...{ kind: 'elsewhere', node: 'c', generation: 1 },
      });
    });
  });

  it('on the target already is no reason to start it again', () => {
    expect(checkStart(facts([says('a'), says('b', 'w'), says('c')]))).toEqual({ kind: 'there' });
  });
});

describe('a node that does not answer counts by its last word', () => {
  const gated = { name: 'x', generation: 1, gated: true };
  const word = (o: Partial<LastWord> = {}): LastWord => ({
    workloads: [gated],
    mayHaveCome: () => false,
    mayStartByItself: () => false,
    ...o,
  });
  const mute = (last: LastWord | undefined, node = 'c'): StartCheck => {
    const fresh = ['a', 'b', 'c'].filter((n) => n !== node).map((n) => says(n));
    return checkStart({ ...facts(fresh), lastWord: (n) => (n === node ? last : undefined) });
  };
  const held = (node = 'c'): StartCheck => ({ kind: 'unknown', silent: [node], named: [], ungated: [] });

  it('which rules out what it did not run, where it runs nothing ungated', () => {
    expect(mute(word())).toEqual({ kind: 'clear' });
    expect(mute(word({ workloads: [] }))).toEqual({ kind: 'clear' });
  });

  it('and holds the start of what it ran, or was starting', () => {
    expect(mute(word({ workloads: [gated, { ...gated, name: 'w' }] }))).toEqual(held());
    expect(mute(word({ workloads: [{ ...gated, name: 'w', starting: true }] }))).toEqual(held());
  });

  it('and of what was to run there since', () => {
    expect(mute(word({ mayHaveCome: (workload) => workload === 'w' }))).toEqual(held());
    expect(mute(word({ mayHaveCome: (workload) => workload === 'x' }))).toEqual({ kind: 'clear' });
  });

  it('and of what a boot of it may start without asking, although it did not run then', () => {
    expect(mute(word({ mayStartByItself: (workload) => workload === 'w' }))).toEqual(held());
    expect(mute(word({ mayStartByItself: (workload) => workload === 'x' }))).toEqual({ kind: 'clear' });
  });

  it('and everything where something runs there that asks no start gate, or does not tell', () => {
    expect(mute(word({ workloads: [gated, { name: 'y', generation: 1, gated: false }] }))).toEqual(held());
    expect(mute(word({ workloads: [{ name: 'y', generation: 1 }] }))).toEqual(held());
  });

  it('and everything where it never said what it runs', () => {
    expect(mute(undefined)).toEqual(held());
    const { workloads: _list, ...none } = word();
    expect(mute(none)).toEqual(held());
  });

  it('but not for a start on itself, whose gate could ask nobody', () => {
    expect(mute(word(), 'b')).toEqual(held('b'));
  });
});
