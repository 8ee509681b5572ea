import { describe, expect, it } from 'vitest';
import { planLab } from '../plan.js';
import { leadsOf } from './leaders.js';

describe('who leads what', () => {
  const { controls } = planLab('/a', 'netns', 1, 0, 0, 3);
  const page = (leader: string, ...streams: [string, string][]) => ({
    meta_cluster: { leader },
    account_details: [{ stream_detail: streams.map(([name, l]) => ({ name, cluster: { leader: l } })) }],
  });

  it('is told by the holders of leases and by what each server says, each stream once', () => {
    const leases = [
      { name: 'fencer', holder: 'fencer-2' },
      { name: 'conductor', holder: 'inventory-2' },
      { name: 'detector', holder: 'detector-1' },
    ];
    const pages = [page('ctl3', ['KV_leases', 'ctl2'], ['MUSTER', 'ctl1']), page('ctl3', ['KV_leases', 'ctl2'])];
    expect(leadsOf(controls, leases, pages)).toEqual({
      ctl1: { leases: ['detector'], streams: ['MUSTER'], meta: false },
      ctl2: { leases: ['fencer', 'conductor'], streams: ['KV_leases'], meta: false },
      ctl3: { leases: [], streams: [], meta: true },
    });
  });

  it('is nobody where nobody tells', () => {
    expect(leadsOf(controls, [{ name: 'fencer' }], [{}])['ctl1']).toEqual({ leases: [], streams: [], meta: false });
  });
});
