import { describe, expect, it } from 'vitest';
import type { ClaimRecord } from '#contracts';
import { decideEdit, finishEdit } from '../node-requests/edits.js';
import { noReservations, release } from '../operations/reservations.js';
import { confirmClaim, dropClaim, giveUpClaim, takeClaim } from '#domain/claim/claim-holds.js';

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

describe('a claim that is pending', () => {
  const pending = takeClaim(noReservations, { ...claim, pending: true });

  it('counts once its nodes were read again', () => {
    expect(confirmClaim(pending, claim)?.next.claims).toEqual({ 'claim-1': claim });
  });

  it('counts by no read of other nodes, which another request with its key has given up', () => {
    expect(confirmClaim(pending, { id: 'claim-1', nodes: ['a-1', 'c-1'] })).toBeUndefined();
  });

  it('is given up where one of its nodes has left service', () => {
    expect(giveUpClaim(pending, 'claim-1').next?.held).toEqual({});
  });

  it('stands where another request with its key has confirmed it meanwhile', () => {
    const confirmed = confirmClaim(pending, claim)?.next ?? pending;
    expect(giveUpClaim(confirmed, 'claim-1')).toEqual({ stands: claim });
  });
});
