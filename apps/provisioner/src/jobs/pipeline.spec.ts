import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { JobKinds, type JobKind } from '#contracts';
import type { Step } from '../ansible/ansible-events.js';
import { nextStep } from './pipeline.js';
import type { PipelineInput, StepDone } from './step-order.js';

const nodes = ['a', 'b', 'c'];
const did = (step: Step, bad: string[] = [], more: Partial<StepDone> = {}): StepDone => ({
  step,
  cancelled: false,
  results: Object.fromEntries(
    (more.results === undefined ? nodes : []).map((n) => [
      n,
      bad.includes(n) ? { ok: false, step, failedTask: 'T', message: 'broke' } : { ok: true, step },
    ]),
  ),
  ...more,
});
const sut = (kind: JobKind, done: StepDone[], more: Partial<PipelineInput> = {}) =>
  nextStep({ kind, nodes, done, resumed: false, ...more });
const run = (step: Step, cancellable = true, on = nodes) => ({ run: step, nodes: on, cancellable });

describe('the steps of a job', () => {
  it('commission is site, and Complete when it worked everywhere', () => {
    expect(sut('commission', [])).toEqual(run('site'));
    expect(sut('commission', [did('site')])).toMatchObject({ end: 'Complete', error: '' });
  });

  it('a commission that fails on one node cleans up all, then says where and why', () => {
    expect(sut('commission', [did('site', ['b'])])).toEqual(run('cleanup', false));
    const end = sut('commission', [did('site', ['b']), did('cleanup', ['c'])]);
    expect(end).toMatchObject({
      end: 'Errored',
      error: 'site failed on b (task "T": broke)',
      results: {
        a: { ok: false, step: 'cleanup', message: 'cleaned up: site failed on b' },
        b: { ok: false, step: 'site', failedTask: 'T' },
        c: { ok: false, cleanupFailed: true },
      },
    });
  });

  it('a cancelled commission cleans up all nodes, also when the cancel comes while a dead worker’s job is resumed', () => {
    const cancelled = { ending: 'cancelled by ann' };
    expect(sut('commission', [did('site', nodes, { cancelled: true })], cancelled)).toEqual(run('cleanup', false));
    expect(sut('commission', [], { ...cancelled, resumed: true })).toEqual(run('cleanup', false));
    expect(sut('commission', [did('cleanup')], { ...cancelled, resumed: true })).toMatchObject({
      end: 'Errored',
      error: 'cancelled by ann',
      results: { a: { ok: false } },
    });
  });

  it('a commission that had worked before the cancel came stays worked', () => {
    expect(sut('commission', [did('site')], { ending: 'cancelled by ann' })).toMatchObject({ end: 'Complete' });
  });

  it('decommission is cleanup at best effort: one that failed on a node is an error, and each node says whether it worked', () => {
    expect(sut('decommission', [])).toEqual(run('cleanup'));
    expect(sut('decommission', [did('cleanup')])).toMatchObject({ end: 'Complete', error: '' });
    expect(sut('decommission', [did('cleanup', ['b'])])).toMatchObject({
      end: 'Errored',
      error: expect.stringContaining('cleanup failed on b') as unknown,
      results: { a: { ok: true }, b: { ok: false, cleanupFailed: true } },
    });
  });

  it('maintenance is cleanup, then site; a failure of either ends it', () => {
    expect(sut('maintenance', [])).toEqual(run('cleanup'));
    expect(sut('maintenance', [did('cleanup')])).toEqual(run('site'));
    expect(sut('maintenance', [did('cleanup', ['a'])])).toMatchObject({ end: 'Errored' });
    expect(sut('maintenance', [did('cleanup'), did('site')])).toMatchObject({ end: 'Complete' });
    expect(sut('maintenance', [did('cleanup'), did('site', ['a'])])).toMatchObject({ end: 'Errored' });
  });

  it('resetup lets each node go its own way', () => {
    expect(sut('resetup', [did('cleanup', ['b'])])).toEqual(run('site', true, ['a', 'c']));
    const site = did('site', [], { results: { a: { ok: true, step: 'site' }, c: { ok: true, step: 'site' } } });
    expect(sut('resetup', [did('cleanup', ['b']), site])).toMatchObject({
      end: 'Errored',
      results: { a: { ok: true, step: 'site' }, b: { ok: false, step: 'cleanup' }, c: { ok: true } },
    });
  });

  it('discover looks at every address, and installs where it could look', () => {
    expect(sut('discover', [])).toEqual(run('discover'));
    expect(sut('discover', [did('discover')])).toEqual(run('install'));
    expect(sut('discover', [did('discover', ['b'])])).toEqual(run('install', true, ['a', 'c']));
    expect(sut('discover', [did('discover', nodes)])).toMatchObject({ end: 'Errored' });
    expect(sut('discover', [did('discover'), did('install')])).toMatchObject({ end: 'Complete' });
    const install = did('install', [], { results: { a: { ok: true, step: 'install', node: 'a-1' } } });
    expect(sut('discover', [did('discover', ['b', 'c']), install])).toMatchObject({
      end: 'Errored',
      error: 'discover failed on b (task "T": broke), c (task "T": broke)',
      results: { a: { ok: true, step: 'install', node: 'a-1' }, b: { ok: false, step: 'discover' } },
    });
    expect(sut('discover', [did('discover')], { ending: 'cancelled by ann' })).toMatchObject({
      end: 'Errored',
      results: { a: { ok: false, step: 'discover', message: 'looked at, and nothing done: cancelled by ann' } },
    });
  });

  it('check and recover are one step', () => {
    for (const kind of ['check', 'recover'] as const) {
      expect(sut(kind, [])).toEqual(run(kind));
      expect(sut(kind, [did(kind)])).toMatchObject({ end: 'Complete' });
      expect(sut(kind, [did(kind, ['a'])])).toMatchObject({ end: 'Errored' });
    }
  });

  it('a job that was cancelled before it began does nothing', () => {
    for (const kind of JobKinds)
      expect(sut(kind, [], { ending: 'cancelled by ann' })).toMatchObject({
        end: 'Errored',
        error: 'cancelled by ann',
      });
  });

  it('always ends, says something of every node, and never calls a node good that was only cleaned up or looked at', () => {
    const outcome = fc.record({ bad: fc.subarray(nodes), cancelled: fc.boolean() });
    fc.assert(
      fc.property(
        fc.constantFrom(...JobKinds),
        fc.array(outcome, { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        fc.nat(3),
        (kind, outcomes, resumed, cancelAt) => {
          const done: StepDone[] = [];
          for (;;) {
            const cancelledBy = done.length >= cancelAt ? { ending: 'cancelled by ann' } : {};
            const next = nextStep({ kind, nodes, done, resumed, ...cancelledBy });
            if ('end' in next) {
              expect(Object.keys(next.results).sort()).toEqual(nodes);
              const good = Object.values(next.results).filter((r) => r.ok);
              if (kind !== 'decommission')
                expect(good.every((r) => r.step !== 'cleanup' && r.step !== 'discover')).toBe(true);
              if (next.end === 'Complete') expect(good).toHaveLength(nodes.length);
              return;
            }
            const o = outcomes[done.length];
            expect(o).toBeDefined();
            if (o === undefined) return;
            const cancelled = next.cancellable && o.cancelled;
            const bad = cancelled ? nodes : o.bad;
            const results = Object.fromEntries(next.nodes.map((n) => [n, { ok: !bad.includes(n), step: next.run }]));
            done.push({ step: next.run, cancelled, results });
          }
        },
      ),
    );
  });
});
