import { describe, expect, it } from 'vitest';
import { Subjects } from '#contracts';
import type { OperatorOrders } from '../incidents/operator-orders.service.js';
import type { OperationsService } from '../operations/operations.service.js';
import type { AuditService } from '../store/audit.service.js';
import type { InventoryStore } from '../store/inventory-store.js';
import { CommandInlet } from './command.inlet.js';

type Act = (q: unknown) => Promise<unknown>;

/** An inlet whose orders and records are written down in the order in which they come. */
function anInlet(whyNot?: Error): { ask: Act; done: string[] } {
  const done: string[] = [];
  const acts = new Map<string, Act>();
  const bus = {
    answer: (subject: string, act: Act) => {
      acts.set(subject, act);
      return { close: () => Promise.resolve() };
    },
  };
  const orders = {
    fence: ({ by, name, dryRun }: Record<string, unknown>) => {
      done.push(`${String(by)} fences ${String(name)}${dryRun === true ? ', or would' : ''}`);
      return whyNot === undefined ? Promise.resolve({ gates: [] }) : Promise.reject(whyNot);
    },
  };
  const audit = {
    of: async (by: string, action: string, subject: string, detail: string, act: () => Promise<unknown>) => {
      done.push(`on record: ${by} ${action} ${subject}: ${detail}`);
      return act();
    },
  };
  new CommandInlet(
    { bus } as unknown as InventoryStore,
    {} as OperationsService,
    orders as unknown as OperatorOrders,
    audit as unknown as AuditService,
  ).onApplicationBootstrap();
  return { ask: (q) => (acts.get(Subjects.command('fence')) as Act)(q), done };
}

describe('a program’s order to fence', () => {
  it('is on record, also where it is refused', async () => {
    const taken = anInlet();
    expect(await taken.ask({ node: 'a-1', reason: 'it burns' })).toEqual({ ok: true, nodes: ['a-1'], gates: [] });
    const refused = anInlet(new Error('the gate'));
    await expect(refused.ask({ node: 'a-1', reason: 'it burns' })).rejects.toThrow('the gate');
    for (const { done } of [taken, refused])
      expect(done).toEqual(['on record: nats fence a-1: it burns', 'nats fences a-1']);
  });

  it('that asks only what would be done is not', async () => {
    const { ask, done } = anInlet();
    await ask({ node: 'a-1', reason: 'it burns', dryRun: true });
    expect(done).toEqual(['nats fences a-1, or would']);
  });
});
