import { describe, expect, it } from 'vitest';
import { defaultHostGroups, type JobRecord, type Reservations } from '#contracts';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/fixtures.js';
import type { AdmissionRound } from './admission-round.js';
import { OperationsService } from './operations.service.js';
import type { ReservationBook } from './reservation-book.js';
import { carriedOut, noReservations, release } from './reservations.js';

type Change = Parameters<ReservationBook['change']>[0];

/**
 * What comes of the second try of one request, whose first one was written, though nobody was told so.
 * @param meanwhile what has become of its reservation, and of its job's record
 */
async function secondTry(
  meanwhile: (written: Reservations, job: JobRecord) => { now: Reservations; record?: JobRecord },
): Promise<{ first: JobRecord; second: JobRecord; next: Reservations | undefined }> {
  const node = { key: 'a-1', revision: 1, value: aNode('a-1', { status: 'Unallocated' }) };
  let record: JobRecord | undefined;
  const round = {
    nodes: { get: () => node.value, values: () => [node.value] },
    read: async () => Promise.resolve(node),
    seen: () => node,
    catchUp: async () => Promise.resolve(),
    catchUpWorkloads: async () => Promise.resolve(),
    workloadsOn: () => [],
    strays: () => [],
    queuedJobs: () => 0,
  } as unknown as AdmissionRound;
  const store = {
    ...{ clock: systemClock, random: systemRandom },
    // What it would begin is no matter here.
    bus: { log: { warn: () => undefined } },
    ...{ clusterSettings: { hostGroups: defaultHostGroups }, sealed: (vars: object) => vars },
    nodes: { view: { get: () => node, entries: () => [node] } },
    jobs: {
      view: { get: () => undefined },
      bucket: { get: async () => Promise.resolve(record && { key: record.id, revision: 2, value: record }) },
    },
  } as unknown as InventoryStore;
  let [first, second, next]: [JobRecord?, JobRecord?, Reservations?] = [];
  const book = {
    change: async (c: Change) => {
      const written = c.decide(noReservations, await c.read(noReservations, round));
      first = (written.answer as { job: JobRecord }).job;
      const { now, ...found } = meanwhile(written.next as Reservations, first);
      record = found.record;
      const again = c.decide(now, await c.read(now, round));
      second = (again.answer as { job: JobRecord }).job;
      next = again.next;
      return again.answer;
    },
  } as unknown as ReservationBook;
  const none = { reason: () => undefined, of: () => undefined, offered: () => ['ansible'] } as never;
  const sut = new OperationsService(store, book, none, none, none, none, none);
  await sut.submit({ by: 'spec', kind: 'commission', nodes: ['a-1'], hostGroup: 'service-master' });
  return { first: first as unknown as JobRecord, second: second as unknown as JobRecord, next };
}

describe('an operation that was accepted, and whose answer was lost', () => {
  it('is the same one while it waits to be carried out, and is not refused for the nodes that it holds itself', async () => {
    const { first, second, next } = await secondTry((now) => ({ now }));
    expect([second.id, next]).toEqual([first.id, undefined]);
  });

  it('is not accepted again once it is carried out, nor when it has ended and holds nothing any more', async () => {
    for (const isOver of [false, true]) {
      const { first, second, next } = await secondTry((written, job) => {
        const now = isOver ? release(written, job.id) : carriedOut(written, job.id);
        return {
          now: now as Reservations,
          record: { ...job, status: isOver ? 'Complete' : 'Running', settled: isOver },
        };
      });
      expect([second.id, next]).toEqual([first.id, undefined]);
    }
  });
});
