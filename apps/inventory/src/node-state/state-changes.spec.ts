import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { VerdictKinds, type NodeRecord, type NodeState } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { NodeStates, stateAfter, stateBeginnings, type StateCause } from '#domain/node/state.js';
import { revokedNode } from '../agents/revocation.js';
import { newNode } from '../nodes/new-node.js';
import { switchedOff } from '../plan/recovery/switched-off.js';
import { notOff } from '../power/void-proof.js';
import { aNode } from '../testing/fixtures.js';
import { applyMonitorEvent } from './monitor-event.js';
import { applyVerdict } from './verdict-application.js';

const incident = anIncident('a-1');
const monitored = { label: 'a', serial: '1', addr: '10.0.0.1' };
const verdicts = fc.constantFrom(...VerdictKinds);
const boots = fc.constantFrom('b1', 'b2');

const nodes: fc.Arbitrary<NodeRecord> = fc
  .record({
    state: fc.constantFrom(...NodeStates),
    enrolled: fc.boolean(),
    bootId: boots,
    judged: fc.option(verdicts, { nil: undefined }),
    offBy: fc.constantFrom(undefined, incident.id, 'another'),
  })
  .map(({ state, enrolled, bootId, judged, offBy }) =>
    aNode('a-1', {
      ...{ state, enrolled, bootId },
      ...(judged && { verdict: { verdict: judged, networks: [], epoch: 1, seq: 1, at: 1, bootId, reason: '' } }),
      ...(offBy !== undefined && { confirmedOff: { at: 1, incident: offBy, bootId: 'b1' } }),
    }),
  );

const evidence = { observers: [], assigned: 0, accusers: 0, members: 1, sightedReporters: 1 };
/** All that writes the state of a node whose record is there, by what is decided on. */
const deciders: fc.Arbitrary<[StateCause, (n: NodeRecord) => NodeRecord | undefined]> = fc.oneof(
  fc.tuple(verdicts, boots).map(([verdict, bootId]): [StateCause, (n: NodeRecord) => NodeRecord | undefined] => {
    const v = { node: 'a-1', verdict, networks: [], epoch: 1, seq: 2, at: 1, bootId, reason: '', evidence };
    return [verdict, (n) => applyVerdict(n, v, { degradedForMs: undefined, holdDown: 5_000, at: 9 })];
  }),
  fc.constantFrom<[StateCause, (n: NodeRecord) => NodeRecord | undefined]>(
    ['monitor-discovered', (n) => applyMonitorEvent(n, 'discovered', monitored, 9)],
    ['monitor-disappeared', (n) => applyMonitorEvent(n, 'disappeared', monitored, 9)],
    ['proven-off', (n) => switchedOff(n, incident, { ended: 'b1', since: undefined }, 9)],
    ['proof-void', (n) => notOff(n, incident, 9)],
    ['revoked', (n) => revokedNode(n, 'ann', 'stolen', 9)],
  ),
);

const arrow = (from: NodeState, cause: StateCause, to: NodeState): string => `${from} → ${to}: ${cause}`;

describe('the table of the states of a node', () => {
  it('has each change that is decided, and no other', () => {
    const table = Object.entries(stateAfter).flatMap(([cause, to]) =>
      to === undefined
        ? []
        : NodeStates.filter((from) => from !== to).map((from) => arrow(from, cause as StateCause, to)),
    );
    const seen = new Set<string>();
    fc.assert(
      fc.property(nodes, deciders, (n, [cause, decide]) => {
        const next = decide(n);
        if (next === undefined || next.state === n.state) return;
        seen.add(arrow(n.state, cause, next.state));
        expect(table).toContain(arrow(n.state, cause, next.state));
      }),
      { numRuns: 5_000, seed: 20_261_129 },
    );
    expect([...seen].sort()).toEqual([...table].sort());
  });

  it('has what a new record begins as', () => {
    const registered = newNode({ label: 'a', serial: '1', networks: {} }, 1);
    expect(registered.state).toBe(stateBeginnings.registered);
    const fresh = applyMonitorEvent(undefined, 'discovered', monitored, 1);
    expect(fresh?.state).toBe(stateBeginnings['monitor-discovered']);
  });
});
