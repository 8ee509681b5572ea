import { describe, expect, it } from 'vitest';
import type { GateAnswer, GateRequest } from '#contracts';
import type { ServiceContext } from '#service';
import type { InventoryStore } from '../store/inventory-store.js';
import { GateResponder } from './gate.responder.js';

describe('an agent that asks the start gate again and again', () => {
  it('is answered each time, and leaves few lines', async () => {
    const lines: object[] = [];
    let now = 0;
    let ask = (_q: GateRequest, _subject: string): Promise<GateAnswer> => Promise.reject(new Error('nobody listens'));
    const bus = {
      answer: (_subject: string, fn: typeof ask) => {
        ask = fn;
        return { close: () => Promise.resolve() };
      },
    };
    const log = { debug: (facts: object) => void lines.push(facts) };
    const context = { bus, log, clock: { monotonicMs: () => now } } as unknown as ServiceContext;
    const nothing = { bucket: { get: () => Promise.resolve(undefined) } };
    const store = { workloads: nothing, nodes: nothing, incidents: nothing } as unknown as InventoryStore;
    new GateResponder(context, store).onApplicationBootstrap();
    const question = (workload: string) => ask({ workload } as GateRequest, 'muster.gate.n-1');
    for (let n = 0; n < 1_000; n++) expect((await question(`w-${n}`)).allowed).toBe(false);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(50);
    now = 3_600_000;
    await question('x'.repeat(100_000));
    expect(lines.at(-1)).toMatchObject({ leftOut: expect.any(Number) as unknown });
    expect(JSON.stringify(lines.at(-1)).length).toBeLessThan(1_000);
  });
});
