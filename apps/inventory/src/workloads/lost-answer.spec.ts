import { expect, it } from 'vitest';
import type { Reservations, WorkloadRecord } from '#contracts';
import type { Entry } from '#bus';
import type { ReservationBook } from '../operations/reservation-book.js';
import { noReservations } from '../operations/reservations.js';
import type { ReportsView } from '../reports/reports-view.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/fixtures.js';
import type { GenerationFloor } from './generation-floor.js';
import { WorkloadService } from './workload.service.js';

/**
 * Puts a workload on a node that a job begins to clean up meanwhile. The first write is taken, and nobody is told so.
 * @param meanwhile what somebody else makes of the record before the second try
 */
async function put(meanwhile: (w: WorkloadRecord) => WorkloadRecord) {
  let entry: Entry<WorkloadRecord> | undefined;
  const write = (value: WorkloadRecord): void => {
    entry = { key: value.name, value, revision: (entry?.revision ?? 0) + 1 };
  };
  type Fn = (now: typeof entry) => Promise<WorkloadRecord | undefined>;
  const bucket = {
    get: async () => Promise.resolve(entry),
    update: async (_key: string, value: WorkloadRecord) => Promise.resolve(write(value)),
    delete: async () => Promise.resolve((entry = undefined)),
    mutate: async (_key: string, fn: Fn) => {
      write((await fn(entry)) as WorkloadRecord);
      write(meanwhile((entry as unknown as Entry<WorkloadRecord>).value));
      const now = entry as unknown as Entry<WorkloadRecord>;
      const again = await fn(now);
      const changed = JSON.stringify(again) !== JSON.stringify(now.value);
      if (changed) write(again as WorkloadRecord);
      return { ...(entry as unknown as Entry<WorkloadRecord>), changed };
    },
  };
  const none = { get: async () => Promise.resolve(undefined) };
  const node = { key: 'a-1', revision: 1, value: aNode('a-1') };
  const store = {
    workloads: { bucket },
    nodes: { bucket: { get: async () => Promise.resolve(node) } },
    ...{ incidents: { bucket: none }, reservations: { bucket: none } },
    bus: { emit: async () => Promise.resolve() },
  } as unknown as InventoryStore;
  const held: Reservations['held'] = { 'a-1': { job: 'job-1', kind: 'decommission', generation: 1, at: 1 } };
  const book = {
    change: async (c: Parameters<ReservationBook['change']>[0]) =>
      Promise.resolve(c.decide({ ...noReservations, held }, node.value).answer),
  } as unknown as ReservationBook;
  const floor = { read: async () => Promise.resolve(0), raise: async () => Promise.resolve() };
  const sut = new WorkloadService(store, floor as unknown as GenerationFloor, book, {} as ReportsView);
  const done = sut.put({ by: 'spec', name: 'db', workload: { desired: 'running', node: 'a-1' } });
  const code = await done.then(
    () => 'accepted',
    (e: unknown) => (e as { code: string }).code,
  );
  return { code, left: entry as WorkloadRecord | undefined };
}

it.each([
  ['was written once more', (w: WorkloadRecord) => ({ ...w, priority: 0 })],
  ['has its start given by now', (w: WorkloadRecord) => ({ ...w, start: { cause: 'put', attempt: 0, job: 'job-2' } })],
])(
  'a workload whose assignment was written, and told to nobody, is still refused for its node, where it %s',
  async (_what, meanwhile) => {
    expect(await put(meanwhile)).toEqual({ code: 'NODE_RESERVED', left: undefined });
  },
);
