import { describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import type { OutNode, StatusView } from '#contracts';
import { MOST_NODES, NodeMetrics } from './node-metrics.js';

type Seen = Parameters<NodeMetrics['see']>[0];

const seen = (o: Partial<StatusView['nodes']> = {}, incidents: unknown[] = []): Seen => ({
  nodes: { total: 3, inService: 2, out: [], troubled: [], ...o },
  incidents: incidents as StatusView['incidents'],
});
const out = (node: string, reason: string): OutNode => ({
  node,
  reasons: [reason],
  remedy: { text: 'Look at it.', command: `muster node get ${node}` },
  planned: false,
});
const made = async (...views: Seen[]): Promise<string> => {
  const registry = new Registry();
  const sut = new NodeMetrics(registry);
  for (const view of views) sut.see(view);
  return registry.metrics();
};

describe('the series of a node', () => {
  it('are those of what is the matter with it, and gone when that is over', async () => {
    const bad = seen(
      {
        out: [out('a-1', 'incident')],
        troubled: [{ node: 'a-1', verdict: 'DOWN', networks: [] }],
        accepted: [{ node: 'a-1', services: ['web'], by: 'ann', reason: 'a trial' }],
      },
      [
        { node: 'a-1', phase: 'fencing' },
        { node: 'b-2', phase: 'closed' },
      ],
    );
    const text = await made(bad);
    expect(text).toContain('muster_node_out_of_service{node="a-1"} 1\n');
    expect(text).toContain('muster_node_troubled{node="a-1",verdict="DOWN"} 1\n');
    expect(text).toContain('muster_node_incident_open{node="a-1",phase="fencing"} 1\n');
    expect(text).toContain('muster_node_drift_accepted{node="a-1"} 1\n');
    expect(text).not.toContain('b-2');
    expect(await made(bad, seen())).not.toContain('a-1');
  });

  it('are no more than a scraper can bear, and those that are left out are counted', async () => {
    const all = Array.from({ length: MOST_NODES + 7 }, (_, i) => out(`n-${i}`, 'state'));
    const text = await made(seen({ out: all }));
    expect(text.match(/^muster_node_out_of_service\{/gm)).toHaveLength(MOST_NODES);
    expect(text).toContain('muster_node_series_left_out{series="out_of_service"} 7\n');
  });
});
