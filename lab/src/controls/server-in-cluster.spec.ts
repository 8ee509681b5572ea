import { describe, expect, it } from '@jest/globals';
import { planLab } from '../plan.js';
import { isFitForCluster, refuseUnfit, serverInCluster } from './server-in-cluster.js';

describe('a nats-server of one of three control hosts', () => {
  const plan = planLab('/a', 'netns', 1, 0, 0, 3);

  it('has a name of its own, and routes to the two others over the management network', () => {
    const text = serverInCluster(plan, plan.controls[1]!, { name: 'lab', password: 'pw', accounts: '/b/accounts' });
    const [first, own, third] = plan.controls.map((c) => c.networks.management);
    expect(text).toContain('server_name: "ctl2"');
    expect(text).toContain(`listen: "${own}:6222"`);
    expect(text).toContain(`routes: ["nats-route://route:pw@${first}:6222", "nats-route://route:pw@${third}:6222"]`);
  });

  it.each([
    ['2.9.10', false],
    ['2.10.27', false],
    ['2.12.11', false],
    ['2.12.12', true],
    ['2.13.9', false],
    ['2.14.2', false],
    ['2.14.3', true],
    ['2.15.1', true],
    ['3.0.0', true],
  ])('of version %s may be one of them: %p', (version, fit) => {
    expect(isFitForCluster(version)).toBe(fit);
  });

  it('is refused by its version, or by the reason for which there is none', () => {
    expect(() => refuseUnfit('2.9.10', '/usr/sbin/nats-server')).toThrow('/usr/sbin/nats-server is 2.9.10');
    expect(() => refuseUnfit(undefined, 'no network')).toThrow('or 2.14.3 or newer: no network');
  });
});
