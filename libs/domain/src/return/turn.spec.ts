import { describe, expect, it } from 'vitest';
import type { Hold, HostGroup, JobKind, NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { brokenTurn, turnTable, type TakesDown } from './turn.js';

const groups: HostGroup[] = [
  { name: 'masters', role: 'master' },
  { name: 'workers', role: 'worker' },
];
const of = (hostGroup: 'masters' | 'workers', name: string, o: Partial<NodeRecord> = {}): NodeRecord =>
  aNode(name, { hostGroup, status: 'Allocated', state: 'Discovered', failureDomain: 'd-1', ...o });
const [m1, m2] = ['m-1', 'm-2'].map((name) => of('masters', name)) as [NodeRecord, NodeRecord];
const [w1, w2] = ['w-1', 'w-2'].map((name) => of('workers', name)) as [NodeRecord, NodeRecord];
const under = (kind: JobKind, ...nodes: NodeRecord[]): Record<string, Hold> =>
  Object.fromEntries(nodes.map((n) => [n.name, { kind, job: 'job-2', generation: 1 } as Hold]));
const asked = (
  kind: TakesDown,
  requested: NodeRecord[],
  nodes: NodeRecord[],
  held: Record<string, Hold> = {},
): string | undefined => brokenTurn(kind, requested, { nodes, held, groups });

/** Without the row each of these begins at once. */
const cases: Record<keyof typeof turnTable, [why: string, waits: () => string | undefined, says: RegExp][]> = {
  OTHER_UNDER_WAY: [
    ['another master', () => asked('resetup', [m2], [m1, m2], under('resetup', m1)), /^m-2 .* after m-1/],
    ['another master, in a maintenance', () => asked('maintenance', [m2], [m1, m2], under('maintenance', m1)), /m-1/],
    ['one of its domain', () => asked('resetup', [w2], [w1, w2], under('resetup', w1)), /^w-2 .* after w-1/],
  ],
  SEVERAL_MASTERS: [
    ['masters in one request', () => asked('resetup', [m1, m2], [m1, m2]), /one at a time: \[m-1 m-2\]/],
  ],
  NO_OTHER_MASTER: [
    ['a master that is away', () => asked('resetup', [m1], [m1, { ...m2, state: 'Disappeared' }, w1]), /only worker/],
    ['a master under a job', () => asked('resetup', [m1], [m1, m2, w1], under('decommission', m2)), /only worker/],
    ['one that is being set up', () => asked('maintenance', [m1], [m1, { ...m2, status: 'Provisioning' }, w1]), /only/],
  ],
};

describe('whose turn it is to be taken down', () => {
  it.each(
    Object.entries(cases).flatMap(([row, list]) => list.map(([why, waits, says]) => [row, why, waits, says] as const)),
  )('is not a node’s by %s: %s', (_row, _why, waits, says) => {
    expect(waits()).toMatch(says);
  });
  it.each<[string, () => string | undefined]>([
    ['another master serves', () => asked('resetup', [m1], [m1, m2, w1])],
    ['another master is only checked', () => asked('resetup', [m1], [m1, m2, w1], under('check', m2))],
    ['it is the only master', () => asked('resetup', [m1], [m1, w1])],
    ['there is no worker to leave alone', () => asked('resetup', [m1], [m1, { ...m2, state: 'Disappeared' }])],
    [
      'the other stands in another domain',
      () => asked('resetup', [w2], [{ ...w1, failureDomain: 'd-2' }, w2], under('resetup', w1)),
    ],
    [
      'the other is not a master, in a maintenance',
      () => asked('maintenance', [w2], [w1, w2], under('maintenance', w1)),
    ],
  ])('is a node’s where %s', (_why, begins) => {
    expect(begins()).toBeUndefined();
  });
});
