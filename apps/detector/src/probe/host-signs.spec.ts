import { beforeEach, describe, expect, it } from 'vitest';
import { HostSigns } from './host-signs.js';

/** ms for which a sign is kept. */
const KEPT = 10_000;

describe('the signs of a host', () => {
  let sut: HostSigns;
  beforeEach(() => {
    sut = new HostSigns();
  });

  it('are not known before they were asked for, and silent once nothing came', () => {
    const unknown = { ssh: 'not-tried', icmp: 'not-tried', port: 'not-tried', agentPort: 'not-tried' };
    expect(sut.read(0)).toEqual(unknown);
    sut.foundSsh('silent', 0);
    sut.foundIcmp('silent', 0);
    sut.foundPort('silent', 0);
    sut.foundAgentPort('silent', 0);
    expect(sut.read(0)).toEqual({ ssh: 'silent', icmp: 'silent', port: 'silent', agentPort: 'silent' });
    sut.rest();
    expect(sut.read(0)).toEqual(unknown);
  });

  it('outlive what is lost on the way, each for ten seconds', () => {
    for (const at of [0, KEPT - 1, KEPT]) {
      sut = new HostSigns();
      sut.foundSsh('accepted', 0);
      sut.foundIcmp('reply', 0);
      sut.foundPort('unreachable', 0);
      if (at > 0) {
        sut.foundSsh('silent', at);
        sut.foundIcmp('silent', at);
        sut.foundPort('silent', at);
      }
      const kept = at < KEPT;
      expect(sut.read(at)).toMatchObject(
        kept
          ? { ssh: 'accepted', icmp: 'reply', port: 'unreachable' }
          : { ssh: 'silent', icmp: 'silent', port: 'silent' },
      );
    }
  });

  it('say that the agent is gone for as long as the kernel answers at all, which does not answer each question', () => {
    sut.foundAgentPort('unreachable', 0);
    for (let now = 1_000; now <= 60_000; now += 1_000) {
      sut.foundAgentPort('silent', now);
      sut.foundPort('unreachable', now);
      expect(sut.read(now).agentPort).toBe('unreachable');
    }
    sut.foundPort('silent', 70_001);
    expect(sut.read(70_001)).toMatchObject({ port: 'silent', agentPort: 'silent' });
  });

  it('do not say so of an agent that echoes again, and hangs later', () => {
    sut.foundAgentPort('unreachable', 0);
    sut.echoed();
    sut.foundAgentPort('silent', 1_000);
    sut.foundIcmp('reply', 1_000);
    expect(sut.read(1_000)).toMatchObject({ icmp: 'reply', agentPort: 'silent' });
  });
});
