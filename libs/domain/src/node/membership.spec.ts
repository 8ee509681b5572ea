import { describe, expect, it } from 'vitest';
import type { NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { isConfigured, isInFailureDomain, isMember, isOnAgain, shouldReport } from './membership.js';

const questions = { isMember, isInFailureDomain, shouldReport, isConfigured };
const cordon = { reason: 'disk', by: 'eve', at: 1 };
const confirmedOff = { at: 1, incident: 'i' };

describe('a node', () => {
  it.each<[string, Partial<NodeRecord>, (keyof typeof questions)[]]>([
    ['that serves', {}, Object.keys(questions) as (keyof typeof questions)[]],
    ['without an agent', { enrolled: false }, ['isConfigured']],
    ['that is cordoned', { cordon }, ['shouldReport', 'isConfigured']],
    ['that is proven off', { confirmedOff }, ['isInFailureDomain', 'isConfigured']],
    ['that is cordoned and proven off', { cordon, confirmedOff }, ['isConfigured']],
    ['in maintenance', { status: 'Maintenance' }, ['isMember', 'isInFailureDomain', 'shouldReport', 'isConfigured']],
    ['that serves nothing', { status: 'Unallocated' }, ['isMember', 'isInFailureDomain', 'shouldReport']],
    [
      'that is fenced by hand',
      { fencing: 'manual' },
      ['isMember', 'isInFailureDomain', 'shouldReport', 'isConfigured'],
    ],
  ])('%s', (_what, o, yes) => {
    const node = aNode('n-1', o);
    const said = Object.entries(questions).flatMap(([name, is]) => (is(node) ? [name] : []));
    expect(said).toEqual(yes);
  });
});

it.each([
  ['in another boot than the one that was ended', { at: 1, incident: 'i', bootId: 'b1' }, 'b2', true],
  ['in any boot, where the ended one was never known', { at: 1, incident: 'i' }, 'b2', true],
  ['in the boot that was ended: on its way before the off', { at: 1, incident: 'i', bootId: 'b1' }, 'b1', false],
  ['in none that is known', { at: 1, incident: 'i' }, undefined, false],
  ['and does not count as off', undefined, 'b2', false],
])('is on again that speaks %s', (_what, off, bootId, is) => {
  expect(isOnAgain(off === undefined ? {} : { confirmedOff: off }, bootId)).toBe(is);
});
