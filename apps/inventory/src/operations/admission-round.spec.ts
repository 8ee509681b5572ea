import { describe, expect, it } from 'vitest';
import type { JobKind, WorkloadRecord } from '#contracts';
import type { Entry } from '#bus';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aWorkload } from '../testing/records.js';
import { AdmissionRound } from './admission-round.js';
import { OperationsService } from './operations.service.js';
import type { ReservationBook } from './reservation-book.js';
import { noReservations } from './reservations.js';

const onNode = (name: string, node: string, revision: number): Entry<WorkloadRecord> => ({
  key: name,
  revision,
  value: aWorkload(name, { generation: 1, assignment: { node, generation: 1 } }),
});

/** A round whose view of the workloads ends at revision 4, while their bucket ends at 5. */
function behind(o: { catchesUp: boolean }): {
  round: AdmissionRound;
  lists: () => number;
  assign: () => void;
  stored: Entry<WorkloadRecord>[];
} {
  const stored = [onNode('web', 'a-1', 4), onNode('db', 'b-1', 5)];
  let [shown, lists] = [4, 0];
  const view = {
    unreadable: new Map(),
    get revision() {
      return shown;
    },
    shows: async (revision: number) => {
      if (o.catchesUp) shown = revision;
      return Promise.resolve(o.catchesUp);
    },
    entries: () => stored.filter((e) => e.revision <= shown),
  };
  const bucket = {
    lastRevision: async () => Promise.resolve(5),
    list: async () => Promise.resolve((lists++, stored)),
  };
  const store = { workloads: { bucket, view } } as unknown as InventoryStore;
  const assign = (): void => {
    stored.push(onNode('late', 'c-1', 6));
    shown = 6;
  };
  return { round: new AdmissionRound(store), lists: () => lists, assign, stored };
}

describe('workloads, for a request that ends what runs on its nodes', () => {
  it('are waited for where the view is behind', async () => {
    const { round, lists } = behind({ catchesUp: true });
    await round.catchUpWorkloads();
    expect(round.workloadsOn('b-1')).toEqual(['db']);
    expect(lists()).toBe(0);
  });

  it('are those that the view shows when it is decided, where it has caught up', async () => {
    const { round, assign } = behind({ catchesUp: true });
    await round.catchUpWorkloads();
    assign();
    expect(round.workloadsOn('c-1')).toEqual(['late']);
  });

  it('are named in one order, in whichever they were assigned', () => {
    const { round, stored } = behind({ catchesUp: true });
    stored.push(onNode('cache', 'b-1', 3), onNode('api', 'b-1', 4));
    expect(round.workloadsOn('b-1')).toEqual(['api', 'cache']);
  });

  it('are read, once for all requests, where the view stays behind', async () => {
    const { round, lists } = behind({ catchesUp: false });
    await Promise.all([round.catchUpWorkloads(), round.catchUpWorkloads()]);
    expect(round.workloadsOn('b-1')).toEqual(['db']);
    expect(lists()).toBe(1);
  });

  it.each<[JobKind, boolean]>([
    ['decommission', true],
    ['maintenance', true],
    ['resetup', true],
    ['commission', true],
    ['check', false],
  ])('count as of now before a %s is decided: %s', async (kind, asked) => {
    let caughtUp = false;
    const round = {
      read: async () => Promise.resolve(undefined),
      catchUp: async () => Promise.resolve(),
      catchUpWorkloads: async () => Promise.resolve(void (caughtUp = true)),
    } as unknown as AdmissionRound;
    const book = {
      change: async (c: Parameters<ReservationBook['change']>[0]) => {
        await c.read(noReservations, round);
        return { job: { id: 'j1' } };
      },
    } as unknown as ReservationBook;
    const played = { clock: systemClock, random: systemRandom, nodes: { view: { get: () => ({}) } } };
    const store = played as unknown as InventoryStore;
    const rest = [] as unknown as [never, never, never, never, never];
    const sut = new OperationsService(store, book, ...rest);
    await sut.submit({ by: 'spec', kind, nodes: ['a-1'] } as Parameters<OperationsService['submit']>[0]);
    expect(caughtUp).toBe(asked);
  });
});
