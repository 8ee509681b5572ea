import { expect, it } from 'vitest';
import type { NodeRecord, PendingReturn } from '#contracts';
import type { NodeService } from '../nodes/node.service.js';
import type { OperationsService, SystemCause } from '../operations/operations.service.js';
import type { StartFactsService } from '../reports/start-facts.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { aNode } from '../testing/fixtures.js';
import { playRun } from '../testing/play-run.js';
import type { FlapWatch } from './flap-watch.js';
import type { PowerQuarantine } from '../power/power-quarantine.js';
import { ReturnReconciler } from './return.reconciler.js';

const returned = (pendingReturn?: PendingReturn): NodeRecord =>
  aNode('a-1', { status: 'Allocated', state: 'Discovered', enrolled: false, ...(pendingReturn && { pendingReturn }) });
const waits: PendingReturn = { reason: 'rebooted', at: 1 };

/** What is submitted for a node that the view shows so in each of these rounds, 10 s apart, with the system's say in it. */
async function submitted(...rounds: NodeRecord[]): Promise<{ kind: string; system: SystemCause }[]> {
  let seen = rounds[0];
  const asked: { kind: string; system: SystemCause }[] = [];
  const reconciler = new ReturnReconciler(
    {
      nodes: { view: { entries: () => (seen ? [{ key: seen.name, value: seen, revision: 1 }] : []) } },
      jobs: { view: { entries: () => [] } },
      workloads: { view: { entries: () => [] } },
      clock: { monotonicMs: () => 1 },
      incidents: { view: { get: () => undefined } },
      held: {},
      clusterSettings: { fencing: { storm: { flaps: 3 } }, detection: { freshness: 2500 } },
    } as unknown as InventoryStore,
    {} as NodeService,
    {
      submit: async ({ kind }: { kind: string }, system: SystemCause) => Promise.resolve(asked.push({ kind, system })),
    } as unknown as OperationsService,
    { reason: () => undefined } as unknown as PowerQuarantine,
    { count: () => 1 } as unknown as FlapWatch,
    { of: () => undefined } as unknown as StartFactsService,
  );
  for (const [i, node] of rounds.entries()) {
    seen = node;
    await playRun(reconciler, { now: 1 + 10_000 * i });
  }
  return asked;
}

it('asks for a check, and needs it only while the node as decided upon waits for one', async () => {
  const [check] = await submitted(returned(waits));
  expect(check?.kind).toBe('check');
  const needs = (n: NodeRecord) => check?.system.needs(n);
  expect(needs(returned(waits))).toBe(true);
  expect(needs(returned({ ...waits, next: 'resetup' }))).toBe(false);
  expect(needs(returned())).toBe(false);
});

it('asks for a re-setup, and needs it no more once the node is in service or has returned anew', async () => {
  const [resetup] = await submitted(returned({ ...waits, next: 'resetup' }));
  expect(resetup?.kind).toBe('resetup');
  const needs = (n: NodeRecord) => resetup?.system.needs(n);
  expect(needs(returned({ ...waits, next: 'resetup' }))).toBe(true);
  expect(needs(returned())).toBe(false);
  expect(needs(returned(waits))).toBe(false);
  expect(needs({ ...returned({ ...waits, next: 'resetup' }), state: 'Disappeared' })).toBe(false);
});

it('asks for a re-setup of some services only, while these are what the last check has found', async () => {
  const due = (...only: string[]) => returned({ ...waits, next: 'resetup', ...(only.length > 0 && { only }) });
  const [resetup] = await submitted(due('web'));
  expect(resetup?.system.services).toEqual(['web']);
  expect(resetup?.system.needs(due('web'))).toBe(true);
  expect(resetup?.system.needs(due('web', 'log'))).toBe(false);
  expect(resetup?.system.needs(due())).toBe(false);
  expect((await submitted(due()))[0]?.system).not.toHaveProperty('services');
});

it('waits after each check that has failed, whatever has failed before it, and not for one of an earlier return', async () => {
  const failed = (failedTries: number) => returned({ ...waits, failedTries, failedWhy: 'no such module' });
  const unreached = returned({ ...waits, unreached: { tries: 2, why: 'no route' } });
  expect(await submitted(unreached, failed(1))).toEqual([]);
  expect(await submitted(failed(4), returned({ ...waits, at: 2 }))).toMatchObject([{ kind: 'check' }]);
});
