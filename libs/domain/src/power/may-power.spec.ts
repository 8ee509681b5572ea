import { describe, expect, it } from 'vitest';
import { mayPower, type PowerBar } from './may-power.js';

const paused = { until: 100, by: 'ada', reason: 'works' };
const cordon = { by: 'eve', reason: 'disk', at: 0 };
const bar = (...q: Parameters<typeof mayPower>): PowerBar | undefined => {
  const answer = mayPower(...q);
  return answer.may ? undefined : answer.bar;
};
const kind = (...q: Parameters<typeof mayPower>): string | undefined => bar(...q)?.kind;
const detail = (...q: Parameters<typeof mayPower>): string | undefined => {
  const answer = mayPower(...q);
  return answer.may ? undefined : answer.detail;
};

describe('the power of a node', () => {
  it('is switched by nobody in mode observe, nor where the mode is not known', () => {
    for (const orderer of ['system', 'operator'] as const) {
      expect(kind(orderer, { mode: 'observe' }, {}, 0)).toBe('observe');
      expect(kind(orderer, { mode: 'observe', paused }, { cordon }, 0)).toBe('observe');
      expect(kind(orderer, undefined, {}, 0)).toBe('observe');
      expect(kind(orderer, { mode: 'enforce' }, {}, 0)).toBeUndefined();
    }
  });

  it('is switched by nobody in a pause, until it ends', () => {
    for (const orderer of ['system', 'operator'] as const) {
      expect(bar(orderer, { mode: 'enforce', paused }, { cordon }, 99)).toEqual({
        kind: 'paused',
        by: 'ada',
        reason: 'works',
      });
      expect(kind(orderer, { mode: 'enforce', paused }, {}, 100)).toBeUndefined();
      const forEver = { by: 'ada', reason: 'works' };
      expect(kind(orderer, { mode: 'enforce', paused: forEver }, {}, Number.MAX_SAFE_INTEGER)).toBe('paused');
    }
  });

  it('is an operator’s alone while its node is cordoned, and nobody’s where there is no such node', () => {
    expect(bar('system', { mode: 'enforce' }, { cordon }, 0)).toEqual({
      kind: 'cordoned',
      by: 'eve',
      reason: 'disk',
    });
    expect(kind('operator', { mode: 'enforce' }, { cordon }, 0)).toBeUndefined();
    for (const orderer of ['system', 'operator'] as const)
      expect(kind(orderer, { mode: 'enforce' }, undefined, 0)).toBe('not-registered');
  });

  it('is an operator’s alone where work ran without a start gate: its boot would start that a second time', () => {
    const ungated = ['db'];
    expect(bar('system', { mode: 'enforce' }, { ungated }, 0)).toEqual({ kind: 'ungated', workloads: ['db'] });
    expect(kind('operator', { mode: 'enforce' }, { ungated }, 0)).toBeUndefined();
  });

  it('is refused with a sentence that names who, and why', () => {
    const says = (...q: Parameters<typeof mayPower> extends [unknown, ...infer Rest] ? Rest : never) =>
      detail('system', ...q);
    expect(says({ mode: 'observe' }, {}, 0)).toBe('The mode of fencing is not enforce.');
    expect(says(undefined, {}, 0)).toBe('The mode of fencing is not enforce.');
    expect(says({ mode: 'enforce', paused }, {}, 99)).toBe('Fencing is paused by ada: works.');
    expect(says({ mode: 'enforce', paused }, {}, 100)).toBeUndefined();
    expect(says({ mode: 'enforce' }, undefined, 0)).toBe('It is not registered.');
    expect(says({ mode: 'enforce' }, { cordon }, 0)).toBe('It is cordoned by eve: disk.');
    expect(says({ mode: 'enforce' }, { ungated: ['db'] }, 0)).toMatch(/^db ran there without .*: its boot would start/);
  });
});
