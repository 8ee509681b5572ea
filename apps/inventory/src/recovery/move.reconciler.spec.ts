import { expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import type { IncidentRecord, JobRecord, PowerOrder } from '#contracts';
import { playRun } from '../testing/play-run.js';
import { aNode, anIncident } from '../testing/records.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { MoveReconciler } from './move.reconciler.js';

/** A job that waits until its node is empty, which it is; the view shows no incident of it. @returns what it waits for then */
async function waitsFor(stored: IncidentRecord | undefined): Promise<string[] | undefined> {
  let job: Partial<JobRecord> = { id: 'j1', status: 'Queued', nodes: ['n-1'], moving: ['db'] };
  const table = (value?: unknown): object => ({
    view: { entries: () => [], get: () => undefined, onChange: () => () => undefined },
    bucket: { get: async () => Promise.resolve(value && { value }), list: async () => Promise.resolve([]) },
  });
  const jobs = {
    view: { entries: () => [{ key: 'j1', value: job }] },
    bucket: {
      mutate: async (_id: string, fn: (c: { value: unknown }) => Partial<JobRecord> | undefined) =>
        Promise.resolve(void (job = fn({ value: job }) ?? job)),
    },
  };
  const nodes = table(aNode('n-1', { enrolled: false }));
  const clock = systemClock;
  const store = { clock, live: true, nodes, incidents: table(stored), workloads: table(), alarms: table(), jobs };
  const parts = [
    { clock, log: { debug: () => undefined, error: (facts: object) => expect(facts).toBeUndefined() } },
    store,
    {},
    { list: () => [], raise: async () => Promise.resolve() },
    {},
    { of: () => undefined, unansweredFor: () => [] },
    { hosts: () => [] },
    new PowerQuarantine(store as unknown as InventoryStore),
    { steps: () => new Map() },
  ];
  // What is played here is less than the real parts, and all that is asked of them.
  const sut = new MoveReconciler(...(parts as unknown as ConstructorParameters<typeof MoveReconciler>));
  await playRun(sut, { now: 1 });
  return job.moving;
}

it('a job that waits for an empty node does not begin while its incident, as read, is under way', async () => {
  expect(await waitsFor(undefined)).toEqual([]);
  expect(await waitsFor(anIncident('n-1', { phase: 'closed' }))).toEqual([]);
  expect(await waitsFor(anIncident('n-1', { phase: 'fencing' }))).toEqual(['db']);
});

it('nor while a power command of it may still take effect', async () => {
  const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 0 };
  expect(await waitsFor(anIncident('n-1', { phase: 'survived', commands: [off] }))).toEqual(['db']);
  const order: PowerOrder = { action: 'on', by: 'eve', reason: 'r', at: 0, after: 0 };
  expect(await waitsFor(anIncident('n-1', { phase: 'closed', order }))).toEqual(['db']);
});
