import { beforeEach, describe, expect, it } from 'vitest';
import type { NodeRecord, VerdictKind } from '#contracts';
import { fleetOf } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aNode, anIncident } from '../../testing/records.js';
import { suspects } from './incident-facts.js';

describe('nodes whose power devices are asked', () => {
  let store: MemoryStore;
  const asked = (): string[] => suspects(fleetOf(store)).map((n) => n.name);
  const node = (kind: VerdictKind, o: Partial<NodeRecord> = {}): void =>
    void store.nodes.set(
      'n-1',
      aNode('n-1', { verdict: { verdict: kind, networks: [], epoch: 1, seq: 1, at: 1 }, ...o }),
    );
  const cordon = { by: 'ann', reason: 'disk', at: 1 };

  beforeEach(() => {
    store = new MemoryStore();
  });

  it.each<[VerdictKind, string[]]>([
    ['SUSPECT', ['n-1']],
    ['DOWN', ['n-1']],
    ['UP', []],
  ])('are the members that are silent: %s', (kind, names) => {
    node(kind);
    expect(asked()).toEqual(names);
  });

  it('are once each where the node has an incident', () => {
    node('DOWN');
    store.incidents.set('n-1', anIncident('n-1', { phase: 'suppressed' }));
    expect(asked()).toEqual(['n-1']);
  });

  it('are those of a node that was cordoned in its incident, by whose gates they still stand for a witness', () => {
    node('DOWN', { cordon });
    expect(asked()).toEqual([]);
    for (const phase of ['investigating', 'suppressed', 'fencing', 'failed'] as const) {
      store.incidents.set('n-1', anIncident('n-1', { phase }));
      expect(asked()).toEqual(['n-1']);
    }
    for (const phase of ['fenced', 'recovered', 'closed', 'cancelled'] as const) {
      store.incidents.set('n-1', anIncident('n-1', { phase }));
      expect(asked()).toEqual([]);
    }
    store.incidents.set('n-1', anIncident('n-1', { phase: 'suppressed' }));
    node('UP', { cordon });
    expect(asked()).toEqual([]);
  });
});
