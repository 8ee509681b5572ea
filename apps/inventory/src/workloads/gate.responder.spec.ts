import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { Subjects, type GateAnswer } from '#contracts';
import { RunningInventory } from '../testing/running-inventory.js';

const NODE = 'n-1';

/** A running inventory on a real server; the spec speaks as the agent, by the agent's own NATS user. */
describe('an agent that asks the start gate again and again', () => {
  let sut: RunningInventory;
  const lines: string[] = [];

  beforeAll(async () => {
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
    sut = await RunningInventory.start({ agents: [NODE], log });
  });
  afterAll(() => sut.stop());

  const ask = (workload: string): Promise<GateAnswer> =>
    sut.as(`agent=${NODE}`).ask<GateAnswer>(Subjects.gate(NODE), { workload });
  const refusals = (): string[] => lines.filter((line) => line.includes('a start was refused at the gate'));

  it('is answered each time, and leaves few lines, however long what it names', async () => {
    expect(await ask('x'.repeat(10_000))).toMatchObject({ allowed: false });
    const [first = ''] = refusals();
    expect(first).toContain('xxx');
    expect(first.length).toBeLessThan(1_000);
    for (let asked = 0; asked < 1_000; asked += 100) {
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(`w-${asked + n}`)));
      expect(answers.filter((a) => a.allowed)).toEqual([]);
    }
    expect(refusals().length).toBeLessThan(50);
    expect(lines.length).toBeLessThan(200);
  });
});
