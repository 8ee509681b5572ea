import { expect, it } from 'vitest';
import type { JobRecord } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import { playRun } from '../testing/play-run.js';
import type { OperationsService } from './operations.service.js';
import { RollForwardReconciler } from './roll-forward.reconciler.js';

it('of two jobs that were left half done, one that cannot be helped does not keep the other waiting', async () => {
  let now = 0;
  const helped: string[] = [];
  const failed: object[] = [];
  const pending = { a: { id: 'a' }, b: { id: 'b' } };
  const reconciler = new RollForwardReconciler(
    {
      clock: { monotonicMs: () => now },
      reservations: { view: { get: () => ({ value: { pending } }) } },
    } as unknown as InventoryStore,
    {
      carryOut: async ({ id }: JobRecord) => {
        if (id === 'a') throw new Error('odd');
        helped.push(id);
        return Promise.resolve();
      },
    } as unknown as OperationsService,
  );
  const round = () => playRun(reconciler, { failed: (facts) => failed.push(facts) });
  await round();
  expect([helped, failed]).toEqual([[], []]);
  now = 500;
  await round();
  expect(helped).toEqual(['b']);
  expect(failed).toMatchObject([{ job: 'a' }]);
});
