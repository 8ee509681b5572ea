import { describe, expect, it } from '@jest/globals';
import { planLab } from '../plan.js';
import { serverInCluster } from './server-in-cluster.js';

describe('a nats-server of one of three control hosts', () => {
  const plan = planLab('/a', 'netns', 1, 0, 0, 3);

  it('has a name of its own, and routes to the two others over the management network', () => {
    const text = serverInCluster(plan, plan.controls[1]!, { name: 'lab', password: 'pw', accounts: '/b/accounts' });
    const [first, own, third] = plan.controls.map((c) => c.networks.management);
    expect(text).toContain('server_name: "ctl2"');
    expect(text).toContain(`listen: "${own}:6222"`);
    expect(text).toContain(`routes: ["nats-route://route:pw@${first}:6222", "nats-route://route:pw@${third}:6222"]`);
  });
});
