import { expect, it } from 'vitest';
import type { Entry } from '#bus';
import type { NodeRecord } from '#contracts';
import type { NodeService } from '../nodes/node.service.js';
import type { ServiceView } from '../nodes/service-view.js';
import type { PowerQuarantine } from '../power/power-quarantine.js';
import type { InventoryStore } from '../store/inventory-store.js';
import type { KnownNames } from '../store/known-names.js';
import { aNode } from '../testing/fixtures.js';
import { NodesService } from './nodes.service.js';
import type { PowerSecrets } from './power-secrets.js';

const entry = (revision: number, description: string): Entry<NodeRecord> => ({
  key: 'a-1',
  value: aNode('a-1', { vars: { description } }),
  revision,
});

/** Nodes by a view that has not seen the last write, and will not in time. */
function behindItsBucket(): NodesService {
  const [seen, written] = [entry(1, 'before'), entry(2, 'after')];
  const bucket = {
    get: () => Promise.resolve(written),
    lastRevision: () => Promise.resolve(written.revision),
    clock: { monotonicMs: () => 0, sleep: () => Promise.resolve() },
  };
  const view = {
    get: () => seen,
    entries: () => [seen],
    revision: seen.revision,
    shows: () => Promise.resolve(false),
    unreadable: new Map(),
  };
  const remedied = (): object => ({ inService: true, reasons: [] });
  return new NodesService(
    { nodes: { bucket, view } } as unknown as InventoryStore,
    {} as NodeService,
    {
      snapshot: () => ({ remedied }),
      withRemedies: (e: Entry<NodeRecord>) => ({ ...e.value, revision: e.revision }),
    } as unknown as ServiceView,
    {} as PowerSecrets,
    {} as PowerQuarantine,
    {} as KnownNames,
  );
}

it('a node is read as it was last written, though the view of this inventory is behind', async () => {
  expect((await behindItsBucket().get('a-1')).revision).toBe(2);
  const { found, text } = await behindItsBucket().each(['a-1']);
  expect(found).toEqual([2]);
  expect(JSON.parse(text)).toMatchObject({ vars: { description: 'after' } });
});
