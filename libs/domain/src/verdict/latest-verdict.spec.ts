import { describe, expect, it } from 'vitest';
import { VerdictKinds, type Beacon, type VerdictKind } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { isSilent, latestVerdict } from './latest-verdict.js';

const node = (verdict?: VerdictKind, epoch = 2, seq = 10) =>
  aNode('n-1', verdict && { verdict: { verdict, networks: [], epoch, seq, at: 1 } });
const beacon = (epoch: number, seq: number, told?: [VerdictKind, number]): Pick<Beacon, 'epoch' | 'seq' | 'notUp'> => ({
  epoch,
  seq,
  notUp: told === undefined ? {} : { 'n-1': { verdict: told[0], seq: told[1] } },
});

describe('the last word on a node', () => {
  it.each<[string, VerdictKind | undefined, ReturnType<typeof beacon> | undefined, VerdictKind | undefined]>([
    ['is that of its record where no beacon is heard', 'DOWN', undefined, 'DOWN'],
    ['is that of a beacon that names it since', 'UP', beacon(2, 11, ['SUSPECT', 11]), 'SUSPECT'],
    ['is that of a beacon of a later detector, whatever its numbers', 'UP', beacon(3, 1, ['DOWN', 1]), 'DOWN'],
    ['is that of its record where the beacon is of an earlier detector', 'UP', beacon(1, 99, ['DOWN', 99]), 'UP'],
    ['is that of its record where the beacon names an earlier verdict', 'DOWN', beacon(2, 12, ['SUSPECT', 9]), 'DOWN'],
    ['is that of the beacon where there is no other', undefined, beacon(2, 1, ['LEFT', 1]), 'LEFT'],
    ['is UP where a newer beacon does not name it', 'UP', beacon(2, 11), 'UP'],
    ['is not known where a newer beacon does not name it, and its record is not UP', 'DOWN', beacon(2, 11), undefined],
    ['is that of its record where the beacon is older', 'DOWN', beacon(2, 10), 'DOWN'],
    ['is none where nobody has judged it', undefined, beacon(2, 11), undefined],
  ])('%s', (_what, stored, told, is) => {
    expect(latestVerdict(node(stored), told)).toBe(is);
  });

  it('is silence where it is SUSPECT or DOWN', () => {
    expect(VerdictKinds.filter(isSilent)).toEqual(['SUSPECT', 'DOWN']);
    expect(isSilent(undefined)).toBe(false);
  });
});
