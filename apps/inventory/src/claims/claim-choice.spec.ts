import { describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import { chooseNodes, type Candidate } from './claim-choice.js';
import { dropClaim, takeClaim } from '#domain/claim/claim-holds.js';
import { noReservations, release, reserve } from '../operations/reservations.js';
import { aJob } from '../testing/fixtures.js';

const free = (name: string, failureDomain = 'default'): Candidate => ({ name, failureDomain, reasons: [] });

describe('the nodes of a claim', () => {
  it('are spread over the failure domains', () => {
    const fleet = [free('a-1', 'r1'), free('a-2', 'r1'), free('a-3', 'r1'), free('b-1', 'r2'), free('c-1', 'r3')];
    expect(chooseNodes(3, fleet)).toEqual(['a-1', 'b-1', 'c-1']);
    expect(chooseNodes(4, fleet)).toEqual(['a-1', 'a-2', 'b-1', 'c-1']);
    expect(chooseNodes(5, fleet)).toHaveLength(5);
  });

  it('are never out of service, and the refusal counts why there are too few', () => {
    const fleet: Candidate[] = [
      free('a-1'),
      { ...free('b-1'), reasons: ['CORDONED', 'STATE'] },
      { ...free('c-1'), reasons: ['STATE'] },
      { ...free('d-1'), reasons: ['RESERVED'] },
    ];
    expect(chooseNodes(1, fleet)).toEqual(['a-1']);
    try {
      chooseNodes(2, fleet);
      throw new Error('it was taken');
    } catch (e) {
      expect(MusterError.from(e)).toMatchObject({
        code: 'NO_SERVICEABLE_NODE',
        facts: { wanted: 2, serviceable: 1, candidates: 4, reasons: { CORDONED: 1, STATE: 2, RESERVED: 1 } },
      });
    }
  });
});

describe('a claim and a job of the system on one node', () => {
  const claim = { id: 'c1', owner: 'o', nodes: ['a-1', 'b-1'], by: 'spec', at: 1 };
  const claimed = takeClaim(noReservations, claim);
  const checked = reserve(claimed, aJob({ id: 'j1' }), ['a-1']);

  it('stand together, and either may end first', () => {
    expect(checked.held['a-1']).toMatchObject({ job: 'j1', claim: 'c1' });
    expect(release(checked, 'j1')?.held['a-1']).toMatchObject({ claim: 'c1' });
    expect(release(checked, 'j1')?.held['a-1']).not.toHaveProperty('job');
    const dropped = dropClaim(checked, 'c1');
    expect(dropped?.claims).toEqual({});
    expect(dropped?.held['a-1']).toMatchObject({ job: 'j1' });
    expect(Object.keys(dropped?.held ?? {})).toEqual(['a-1']);
    expect(dropped && release(dropped, 'j1')?.held).toEqual({});
  });

  it('are kept by what follows on other nodes', () => {
    expect(reserve(claimed, aJob({ id: 'j2' }), ['c-1']).claims).toEqual({ c1: claim });
  });
});
