import { describe, expect, it } from 'vitest';
import { sshFailure } from './ssh-failure.js';

const denied = 'Failed to connect to the host via ssh: root@10.0.0.1: Permission denied (publickey,password).';

describe('what ssh says', () => {
  it('is told with the key and the user that it was tried with, and what to do', () => {
    const told = sshFailure(denied, { user: 'root', privateKey: '/etc/muster/id_ed25519' });
    expect(told).toContain('root@10.0.0.1: Permission denied (publickey,password). Tried as root');
    expect(told).toContain('the key /etc/muster/id_ed25519: put its public half into');
    expect(sshFailure(denied, { user: 'root' })).toContain("with ssh's own keys");
  });

  it('of a host that is not there names what may be wrong', () => {
    const refused = 'Failed to connect to the host via ssh: ssh: connect to host 10.0.0.9 port 22: Connection refused';
    expect(sshFailure(refused, { user: 'root' })).toMatch(/Connection refused\. Is sshd there, .*network\.management=/);
  });

  it('stays as it is where nothing is known of it, and where it was not ssh', () => {
    const odd = 'Failed to connect to the host via ssh: kex_exchange_identification: read';
    expect(sshFailure(odd, { user: 'root' })).toBe(odd);
    expect(sshFailure('Permission denied: /etc/shadow', { user: 'root' })).toBe('Permission denied: /etc/shadow');
  });
});
