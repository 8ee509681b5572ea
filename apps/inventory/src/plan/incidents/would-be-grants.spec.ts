import { describe, expect, it } from 'vitest';
import type { IncidentStep } from '#contracts';
import { calmStorm, fleetOf, foundDead } from '../../testing/investigation.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { aNode, anIncident } from '../../testing/records.js';
import type { Investigation } from '../../snapshot/investigation.js';
import { suppressed } from './incident-changes.js';
import { incidentViews, type IncidentView } from './incident-views.js';

const MIN = 60_000;
const NOW = 100 * MIN;
const observe = { gate: 'OBSERVE' as const, pass: false, detail: 'The mode is observe: decide, but write nothing.' };

/** Nodes that died so many minutes ago, each alone, in mode observe. */
function world(diedMinutesAgo: Record<string, number>, more: (node: string) => IncidentStep[] = () => []) {
  const store = new MemoryStore();
  const found: Investigation[] = [];
  const settings = {
    ...store.clusterSettings,
    fencing: { ...store.clusterSettings.fencing, mode: 'observe' as const },
  };
  for (const [name, ago] of Object.entries(diedMinutesAgo)) {
    const node = aNode(name);
    const open = anIncident(name, { id: `i-${name}`, phase: 'investigating' });
    const stopped = suppressed({ gate: observe, gates: [observe] }, undefined)(open, NOW - ago * MIN) ?? open;
    const incident = { ...stopped, steps: [...stopped.steps, ...more(name)] };
    store.nodes.set(name, node);
    store.incidents.set(name, incident);
    found.push(foundDead(node, { settings, incident, storm: calmStorm(name, { members: 20 }) }));
  }
  const fleet = fleetOf(store, { settings, wallMs: NOW });
  const permit = () => ({ granted: true as const, permits: undefined, results: [] });
  const { open } = incidentViews(fleet, { age: () => 0, found, permit });
  const would = ({ enforced: e }: IncidentView): string =>
    e?.do === 'suppress' ? `${e.gate.gate}: ${e.gate.detail}` : (e?.do ?? 'the same');
  return Object.fromEntries(open.map((v) => [v.incident.node, would(v)]));
}

const full = 'CAP: 3 permit(s) were given in the last 10 min, at most 3 may be.';

describe('in mode observe', () => {
  it('of many that die within ten minutes no more would be powered off than CAP lets pass', () => {
    expect(world({ a: 5, b: 4, c: 3, d: 2, e: 1 })).toEqual({
      ...{ a: 'ask-permit', b: 'ask-permit', c: 'ask-permit', d: full, e: full },
    });
  });

  it('who is still dead when the ten minutes are over would be, and would be so for good', () => {
    expect(world({ a: 35, b: 34, c: 33, d: 32, e: 1 })).toEqual({
      ...{ a: 'ask-permit', b: 'ask-permit', c: 'ask-permit', d: 'ask-permit', e: 'ask-permit' },
    });
  });

  it('one that would have been powered off and came back by itself counts, too', () => {
    const back = (node: string): IncidentStep[] =>
      node === 'b' ? [{ phase: 'cancelled', at: NOW - 3.5 * MIN, detail: 'It was heard.' }] : [];
    expect(world({ a: 5, b: 4, c: 3, d: 2 }, back)['d']).toBe(full);
  });
});
