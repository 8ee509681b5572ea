import { expect, it } from 'vitest';
import type { Hold, OutReason } from '#contracts';
import type { ServiceView } from '../nodes/service-view.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/records.js';
import { HostsView } from './hosts.js';
import type { StartFactsService } from '../reports/start-facts.js';

const hosts = (hold: Hold, ...more: OutReason[]): HostsView =>
  new HostsView(
    {
      nodes: { view: { get: () => ({ value: aNode('n-1') }) } },
      held: { 'n-1': hold },
    } as unknown as InventoryStore,
    { reasons: () => [{ code: 'RESERVED', detail: 'held' }, ...more] } as unknown as ServiceView,
    {} as StartFactsService,
  );
const at = { generation: 1, at: 1 };

it('a claim keeps a node from being given more, and lets what is assigned there start', () => {
  const claimed = hosts({ ...at, claim: 'c' });
  expect(claimed.whyOut('n-1')).toBe('held');
  expect(claimed.whyNotStart('n-1')).toBeUndefined();
  const cordoned = hosts({ ...at, claim: 'c' }, { code: 'CORDONED', detail: 'cordoned' });
  expect(cordoned.whyNotStart('n-1')).toBe('cordoned');
});

it('a job or an edit keeps both away, on a claimed node too', () => {
  for (const hold of [{ job: 'j' }, { edit: 'e' }, { claim: 'c', job: 'j' }, { claim: 'c', edit: 'e' }])
    expect(hosts({ ...at, ...hold }).whyNotStart('n-1')).toBe('held');
});
