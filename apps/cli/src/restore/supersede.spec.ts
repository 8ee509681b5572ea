import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBus, readCredentials, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  defaultSettings,
  RESERVATIONS_KEY,
  SETTINGS_KEY,
  type ClusterSettings,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { supersede } from './supersede.js';

let nats: TestNats;
let bus: Bus;

beforeAll(async () => {
  nats = await startTestNats({ users: true });
  // As `muster store` does it: with inventory's user, under a name of its own.
  const credentials = readCredentials(join(nats.dir, 'creds', 'inventory.json'));
  bus = await connectBus({ name: 'store-copy', servers: [nats.url], credentials });
  await bus.createBuckets({ replicas: 1 });
});
afterAll(async () => {
  await bus?.close();
  await nats?.stop();
});

const by = { why: 'The store was put back', at: 9 };

it('a store without records is left as it is', async () => {
  expect(await supersede(bus, by)).toEqual({ incidents: [], jobs: [], claims: [] });
  expect(await bus.bucket('settings').get(SETTINGS_KEY)).toBeUndefined();
});

it('what was under way in a store is ended with the rights of inventory, whatever cannot be read in it', async () => {
  const proof = { kind: 'read-back' as const, at: 1 };
  await bus.bucket<ClusterSettings>('settings').create(SETTINGS_KEY, defaultSettings('spec'));
  const nodes = bus.bucket<NodeRecord>('nodes');
  await nodes.create('a-1', aNode('a-1', { confirmedOff: { at: 1, incident: 'i-a-1' } }));
  const incidents = bus.bucket<IncidentRecord>('incidents');
  await incidents.create('a-1', anIncident('a-1', { phase: 'recovered', proof }));
  await incidents.create('b-1', anIncident('b-1', { phase: 'closed' }));
  await bus.bucket<object>('incidents').create('c-1', { strange: true });
  const job = { id: 'j-1', kind: 'check', nodes: ['a-1'], status: 'Running', settled: false, results: {} };
  const rest = { desc: '', extraVars: {}, task: '', error: '', createdAt: 1, by: 'x', generation: 1 };
  await bus.bucket<object>('jobs').create('j-1', { ...job, ...rest });
  const pending = { 'j-2': { ...job, ...rest, id: 'j-2', status: 'Queued' } as unknown as JobRecord };
  const claim = { id: 'c', owner: 'o', nodes: ['d-1'], by: 'x', at: 1 };
  const held = { 'd-1': { claim: 'c', generation: 1, at: 1 } };
  await bus
    .bucket<Reservations>('admission')
    .create(RESERVATIONS_KEY, { held, pending, claims: { c: claim }, generation: 1 });

  expect(await supersede(bus, by)).toEqual({ incidents: ['a-1'], jobs: ['j-1', 'j-2'], claims: ['c'] });
  expect((await incidents.get('a-1'))?.value).toMatchObject({ phase: 'failed' });
  expect((await nodes.get('a-1'))?.value).not.toHaveProperty('confirmedOff');
  for (const id of ['j-1', 'j-2'])
    expect((await bus.bucket<JobRecord>('jobs').get(id))?.value).toMatchObject({ status: 'Errored', settled: false });
  expect((await bus.bucket<Reservations>('admission').get(RESERVATIONS_KEY))?.value.held).toEqual({});
  const settings = await bus.bucket<ClusterSettings>('settings').get(SETTINGS_KEY);
  expect(settings?.value.fencing.paused).toEqual({ reason: by.why, by: 'muster store' });
});

it('settings and reservations that nobody can read are left, and keep nothing from being ended', async () => {
  await bus.bucket<object>('settings').mutate(SETTINGS_KEY, () => ({ strange: true }), { overUnreadable: true });
  await bus.bucket<object>('admission').mutate(RESERVATIONS_KEY, () => ({ strange: true }), { overUnreadable: true });
  const incidents = bus.bucket<IncidentRecord>('incidents');
  await incidents.create('e-1', anIncident('e-1', { phase: 'investigating' }));
  expect((await supersede(bus, by)).incidents).toEqual(['a-1', 'e-1']);
  expect((await incidents.get('e-1'))?.value.phase).toBe('cancelled');
});
