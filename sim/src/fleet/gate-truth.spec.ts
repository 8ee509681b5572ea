import { describe, expect, it } from 'vitest';
import { defaultSettings, type IncidentRecord, type JobRecord, type StormTrip } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { deviceOf } from '../hands/hands-programs.js';
import { isGateTrue, type GateWorld } from './gate-truth.js';

const NOW_MS = 1_000_000;
const MINUTE_MS = 60_000;
const names = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'];

/** Six nodes of one rack that serve. @param silentMs node → since when it is silent */
function world(silentMs: Readonly<Record<string, number>>, o: Partial<GateWorld> = {}): GateWorld {
  const nodes = names.map((name, i) => aNode(name, { failureDomain: 'rack', powerLevels: [[deviceOf(name, i)]] }));
  return {
    nowMs: () => NOW_MS,
    speaks: (node) => silentMs[node] === undefined,
    isHung: () => false,
    isCalledUp: (node) => silentMs[node] === undefined,
    isCalledDead: (node) => silentMs[node] !== undefined,
    lacksQuorum: () => false,
    silentSinceMs: (node) => silentMs[node],
    node: (node) => nodes.find((n) => n.name === node),
    nodes: () => nodes,
    isMiswired: () => false,
    jobOf: () => undefined,
    openIncidents: () => [],
    settings: () => defaultSettings('c'),
    wallMs: () => NOW_MS,
    permits: () => [],
    storms: () => [],
    takesTheBus: () => false,
    ...o,
  };
}

const incident = anIncident('n-1', { phase: 'suppressed' });
const ago = (...minutes: number[]): Record<string, number> =>
  Object.fromEntries(minutes.map((m, k) => [names[k] ?? '', NOW_MS - m * MINUTE_MS]));

describe('the gate DOMAIN', () => {
  it('is so where most of a failure domain fell silent together, however long ago', () => {
    expect(isGateTrue('DOMAIN', incident, world(ago(9, 9, 9, 9)))).toBe(true);
    expect(isGateTrue('DOMAIN', incident, world(ago(9, 9, 9)))).toBe(false);
    expect(isGateTrue('DOMAIN', incident, world(ago(9, 9, 4, 4)))).toBe(false);
  });

  it('counts those that were permitted then', () => {
    const permits = [{ incident: 'i-7', node: 'n-4', sinceMs: NOW_MS - 9 * MINUTE_MS }];
    expect(isGateTrue('DOMAIN', incident, world(ago(9, 9, 9), { permits: () => permits }))).toBe(true);
  });
});

describe('the gate BRAKE', () => {
  const trip: StormTrip = { id: 's-1', cause: 'brake', at: 1, members: { 'n-1': {}, 'n-2': {}, 'n-3': {} } };
  const storm = (trip: StormTrip): Partial<GateWorld> => ({
    storms: () => [{ trip, calmSinceMs: NOW_MS - 9 * MINUTE_MS }],
  });
  const letGo: StormTrip = {
    ...trip,
    members: { ...trip.members, 'n-3': { released: { by: 'eve', reason: 'wanted', at: 1 } } },
  };

  it('is so for as long as the rest of a storm is more than may be', () => {
    expect(isGateTrue('BRAKE', incident, world(ago(9, 9, 9), storm(trip)))).toBe(true);
    expect(isGateTrue('BRAKE', incident, world(ago(9, 9), storm(trip)))).toBe(false);
  });

  it('is so for as long as nobody sees whether a storm is over', () => {
    expect(isGateTrue('BRAKE', incident, world(ago(9), { ...storm(trip), lacksQuorum: () => true }))).toBe(true);
  });

  it('is not so by a storm for who was let go, nor does it count there', () => {
    const only: Partial<GateWorld> = { ...storm(letGo), nodes: () => [] };
    expect(isGateTrue('BRAKE', { ...incident, node: 'n-3' }, world(ago(9, 9, 9), storm(trip)))).toBe(true);
    expect(isGateTrue('BRAKE', { ...incident, node: 'n-3' }, world({ 'n-3': 1 }, only))).toBe(false);
    expect(isGateTrue('BRAKE', incident, world({ 'n-1': 1, 'n-3': 1 }, only))).toBe(false);
  });

  it('counts incidents that are not over, and permits of the last minute', () => {
    const open = ['n-2', 'n-3'].map((node) => anIncident(node, { phase: 'recovering' }));
    expect(isGateTrue('BRAKE', incident, world(ago(9), { openIncidents: () => open }))).toBe(true);
    const permits = ['n-2', 'n-3'].map((node) => ({ incident: `i-${node}`, node, sinceMs: NOW_MS - 50_000 }));
    expect(isGateTrue('BRAKE', incident, world(ago(9), { permits: () => permits }))).toBe(true);
    const older = permits.map((p) => ({ ...p, sinceMs: NOW_MS - 5 * MINUTE_MS }));
    expect(isGateTrue('BRAKE', incident, world(ago(9), { permits: () => older }))).toBe(false);
  });

  it('is so while the power-off of another node is in doubt, and the device here is not proven', () => {
    const doubt: IncidentRecord = anIncident('n-2', {
      ...{ phase: 'fenced', collateral: { at: 1, nodes: [{ node: 'n-3' }] } },
    });
    expect(isGateTrue('BRAKE', incident, world(ago(9), { openIncidents: () => [doubt] }))).toBe(true);
  });
});

describe('the gate NOT_FENCEABLE', () => {
  const held = (o: Partial<JobRecord>): boolean =>
    isGateTrue('NOT_FENCEABLE', incident, world(ago(9), { jobOf: () => ({ kind: 'maintenance', ...o }) as JobRecord }));

  it('is so where a job holds the node that changes it', () => {
    expect(held({ status: 'Running' })).toBe(true);
    expect(held({ status: 'Running', kind: 'check' })).toBe(false);
    expect(held({ status: 'Complete' })).toBe(false);
    expect(held({ status: 'Queued', moving: ['w1'] })).toBe(false);
  });
});
