import { describe, expect, it } from 'vitest';
import type { ClaimRecord } from '#contracts';
import { decideEdit, finishEdit } from '../node-requests/edits.js';
import { noReservations, release } from '../operations/reservations.js';
import { dropClaim, takeClaim } from '#domain/claim/claim-holds.js';

const claim: ClaimRecord = { id: 'claim-1', owner: 'nomad', nodes: ['a-1', 'b-1'], by: 'spec', at: 1 };

describe('the end of a claim', () => {
  it('frees its nodes', () => {
    expect(dropClaim(takeClaim(noReservations, claim), 'claim-1')?.held).toEqual({});
  });

  it('and its beginning leave a check alone that looks at one of its nodes', () => {
    const looked = { job: 'job-1', kind: 'check' as const, periodic: true as const, generation: 1, at: 1 };
    const claimed = takeClaim({ ...noReservations, held: { 'a-1': looked } }, claim);
    expect(claimed.held['a-1']).toMatchObject({ job: 'job-1', kind: 'check', claim: 'claim-1' });
    expect(release(claimed, 'job-1')?.held['a-1']).toEqual({ claim: 'claim-1', generation: 1, at: 1 });
    expect(dropClaim(claimed, 'claim-1')?.held).toEqual({ 'a-1': { ...looked } });
  });

  it('leaves a node to the edit that is being written to it', () => {
    const edited = decideEdit(takeClaim(noReservations, claim), 'edit-1', ['a-1'], 2);
    const ended = dropClaim(edited, 'claim-1');
    expect(ended?.held).toEqual({ 'a-1': { edit: 'edit-1', generation: 1, at: 1 } });
    expect(ended && finishEdit(ended, 'edit-1', 3)?.held).toEqual({});
  });
});
