import { describe, expect, it } from 'vitest';
import type { IncidentRecord, NodeRecord, Report, RunningWorkload } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aNode, anIncident, aReport, aWorkload } from '../testing/records.js';
import type { ReportsView } from './reports-view.js';
import { StartFactsService } from './start-facts.js';

const follows = (node?: NodeRecord): boolean => {
  const store = {
    nodes: { view: { get: () => node && { value: node } } },
    incidents: { view: { live: true } },
  } as unknown as InventoryStore;
  return new StartFactsService(store, {} as ReportsView).mayFollow('n-1');
};

describe('what another node says that it runs', () => {
  const seen = (...reports: Report[]): string | undefined => {
    const store = { clusterSettings: { detection: { freshness: 3_000 } } } as unknown as InventoryStore;
    return new StartFactsService(store, { fresh: () => reports } as unknown as ReportsView).seenOn('db', 'n-1');
  };
  const says = (node: string, o: Partial<RunningWorkload> = {}): Report =>
    aReport(node, { workloads: [{ name: 'db', generation: 1, ...o }] });

  it('is none of the node that asks, of other work, or of a unit that is only being started', () => {
    expect(seen(aReport('n-2'), says('n-1'), says('n-2', { name: 'web' }), says('n-3', { starting: true }))).toBe(
      undefined,
    );
    expect(seen(says('n-1'), says('n-2'))).toBe('n-2');
  });
});

describe('what stands against a start by the incidents on record', () => {
  const proof = { kind: 'read-back', at: 1, doubt: { at: 2, bootId: 'b' } } as const;
  const doubted = anIncident('n-9', {
    ...{ phase: 'recovering', proof },
    recovery: [{ workload: 'db', from: 'n-9', state: 'waiting' }],
  });
  const barred = async (incidents: IncidentRecord[], isShown = true) => {
    const store = new MemoryStore();
    for (const i of incidents) store.incidents.set(i.node, i);
    store.incidents.shows = () => Promise.resolve(isShown);
    return new StartFactsService(store.asStore, store.reports).barred(aWorkload('db'));
  };

  it('is a doubt of what proved its node off, or that nobody can say now whether there is one', async () => {
    expect(await barred([])).toBeUndefined();
    expect(await barred([doubted])).toEqual({ is: 'in-doubt', node: 'n-9' });
    expect(await barred([], false)).toEqual({ is: 'unseen' });
  });
});

describe('the registry follows where a workload is seen', () => {
  it('on a node that may run it', () => {
    expect(follows(aNode('n-1'))).toBe(true);
  });

  it('but not on one that counts as off, was deleted, or whose agent was shut out', () => {
    expect(follows(aNode('n-1', { confirmedOff: { at: 1, incident: 'i' } }))).toBe(false);
    expect(follows(undefined)).toBe(false);
    // NATS may not have been told yet: it still hears what that agent says.
    const revoked = { by: 'ann', at: 1, reason: 'stolen' };
    expect(follows(aNode('n-1', { enrolled: false, revoked }))).toBe(false);
  });
});

it('a workload may run where a silent node named it last, or starts it by itself, until that is proven off', () => {
  const store = new MemoryStore();
  const sut = new StartFactsService(store.asStore, store.reports);
  store.nodes.set('n-1', aNode('n-1'));
  const dead = (o: Partial<NodeRecord> = {}): void => void store.nodes.set('n-2', aNode('n-2', o));
  store.incidents.set('n-2', anIncident('n-2', { phase: 'failed' }));
  store.reports.hear(aReport('n-1', { workloads: [] }), 0);
  const check = (): unknown => sut.check('db', 'n-1');
  dead();
  expect(check()).toEqual({ kind: 'clear' });
  dead({ ungated: ['db'] });
  expect(check()).toEqual({ kind: 'unknown', silent: [], named: [], ungated: ['n-2'] });
  store.reports.hear(aReport('n-2', { workloads: [{ name: 'db', generation: 1 }] }), -60_000);
  dead();
  expect(check()).toEqual({ kind: 'unknown', silent: [], named: ['n-2'], ungated: [] });
  dead({ confirmedOff: { at: 1, incident: 'i' } });
  expect(check()).toEqual({ kind: 'clear' });
});
