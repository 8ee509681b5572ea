import { expect, it } from 'vitest';
import { NodeStatuses, type HostGroup } from '#contracts';
import { isInUse, isServingMaster, roleOf } from './roles.js';

const groups: HostGroup[] = [
  { name: 'masters', role: 'master' },
  { name: 'workers', role: 'worker' },
];
const master = { hostGroup: 'masters', status: 'Allocated', state: 'Discovered' } as const;

it('a group that is not configured has no role, nor has a node of none', () => {
  expect(['masters', 'workers', 'gone', undefined].map((g) => roleOf(groups, g))).toEqual([
    ...['master', 'worker'],
    ...['none', 'none'],
  ]);
});

it('a master serves that was set up and is heard', () => {
  expect(isServingMaster(master, groups)).toBe(true);
  for (const o of [{ state: 'Disappeared' }, { status: 'Maintenance' }, { hostGroup: 'workers' }] as const)
    expect(isServingMaster({ ...master, ...o }, groups)).toBe(false);
});

it('a node is in use in each status but those of one that is free', () => {
  expect(NodeStatuses.filter((status) => !isInUse({ status }))).toEqual(['Unallocated', 'Decommissioned']);
});
