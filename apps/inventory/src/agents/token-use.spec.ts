import { describe, expect, it } from 'vitest';
import type { NodeRecord, StoredAgentToken } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { asToken, refuseOther, refuseRevoked, unused, used } from './token-use.js';

const token = (o: Partial<StoredAgentToken> = {}): StoredAgentToken => ({
  id: '0123456789abcdef',
  by: 'ann',
  createdAt: 100,
  expiresAt: 1_000,
  uses: 2,
  usedBy: [],
  sha256: 'x',
  ...o,
});

describe('a token for agents', () => {
  it('is good until it ends, for as many nodes as it was made for', () => {
    expect(used(token(), 'n1', 999)?.usedBy).toEqual(['n1']);
    expect(() => used(token(), 'n1', 1_000)).toThrow('this token has ended');
    const one = token({ uses: 1, usedBy: ['n1'] });
    expect(() => used(one, 'n2', 999)).toThrow('this token is used up (1)');
    expect(used(one, 'n1', 999)).toBeUndefined();
    expect(used(unused(one, 'n1'), 'n2', 999)?.usedBy).toEqual(['n2']);
  });

  it('of an earlier Muster that says no number is used up, and says by how many', () => {
    const { uses: _none, ...early } = token({ usedBy: ['n1', 'n2'] });
    expect(asToken(early).uses).toBe(2);
    expect(() => used(asToken(early), 'n3', 999)).toThrow('this token is used up (2)');
    expect(used(asToken(early), 'n1', 999)).toBeUndefined();
    expect(asToken(token()).uses).toBe(2);
  });

  it('does not let in again a node that was shut out after it was made', () => {
    const shown = (at: number) => () => refuseRevoked(token(), 'n1', { by: 'ann', at });
    expect(shown(100)).toThrow('n1 was revoked by ann after this token was made');
    expect(shown(99)).not.toThrow();
    expect(() => refuseRevoked(token(), 'n1', undefined)).not.toThrow();
  });

  it('makes nobody the agent of a node who does not show what is known of its machine', () => {
    const [mine, other] = ['1'.repeat(32), '2'.repeat(32)];
    const shows = (host: Parameters<typeof refuseOther>[0], on: Partial<NodeRecord> = {}) => {
      const node = aNode('n1', { status: 'Allocated', machine: mine, sshHostKeys: ['ssh-ed25519 AAAA'], ...on });
      return () => refuseOther(host, node);
    };
    const hostKeys = ['ssh-ed25519 AAAA'];
    expect(shows({ machine: mine, hostKeys })).not.toThrow();
    expect(shows({ hostKeys })).toThrow(
      'n1 is known by its machine id, which the host does not show: give it a valid /etc/machine-id, or delete that node first (muster node delete n1) and make another token',
    );
    expect(shows({ machine: mine })).toThrow('n1 is known by its ssh host keys');
    expect(shows({ machine: mine, hostKeys: [] })).toThrow('n1 is known by its ssh host keys');
    // Installed anew, or another machine: while the node serves nobody can tell, not even when it is down.
    expect(shows({ machine: other, hostKeys }, { state: 'Disappeared' })).toThrow('n1 is Allocated and has another');
    expect(shows({ machine: other, hostKeys }, { status: 'Unallocated', state: 'Disappeared' })).not.toThrow();
    expect(() => refuseOther({}, aNode('n1', { status: 'Allocated' }))).not.toThrow();
    expect(() => refuseOther({}, undefined)).not.toThrow();
  });
});
