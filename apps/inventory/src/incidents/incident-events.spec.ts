import { describe, expect, it } from 'vitest';
import type { IncidentRecord, IncidentStep } from '#contracts';
import type { InventoryStore } from '../store/inventory-store.js';
import { playRun } from '../testing/play-run.js';
import { IncidentEvents } from './incident-events.js';

const step = (phase: IncidentStep['phase'], detail = ''): IncidentStep => ({ phase, at: 100_000, detail });

/** Played: a store that holds one incident, and the lines that are logged. */
function teller(steps: IncidentStep[], emit = (): Promise<void> => Promise.resolve()) {
  const now = { at: 100_000 };
  const lines: [level: string, line: string][] = [];
  const log = Object.fromEntries(
    ['debug', 'info', 'warn', 'error'].map((level) => [level, (_o: object, line: string) => lines.push([level, line])]),
  );
  const incident = { id: 'i-1', node: 'a-1', phase: 'open', steps } as unknown as IncidentRecord;
  const store = {
    incidents: { view: { entries: () => [{ value: incident }] } },
    bus: { emit, log },
    clock: { wallMs: () => now.at },
  } as unknown as InventoryStore;
  const sut = new IncidentEvents(store);
  return { lines, now, look: (token = 1) => playRun(sut, { token }) };
}

describe('the log', () => {
  it('tells each step of a fencing once, at its level, with the node first', async () => {
    const { lines, look } = teller([
      step('open', 'DOWN: 2 of 2 observers report it down'),
      step('fenced'),
      step('recovered', '1 runs'),
    ]);
    await look();
    await look();
    expect(lines).toEqual([
      ['warn', 'a-1: incident open: DOWN: 2 of 2 observers report it down'],
      ['warn', 'a-1: incident fenced'],
      ['info', 'a-1: incident recovered: 1 runs'],
    ]);
  });

  it('tells a step of which no event could be stored when it can, and then once', async () => {
    let down = true;
    const { lines, look } = teller([step('open', 'DOWN')], () =>
      down ? Promise.reject(new Error('no store')) : Promise.resolve(),
    );
    await expect(look()).rejects.toThrow('could not be published');
    down = false;
    await look();
    expect(lines).toEqual([['warn', 'a-1: incident open: DOWN']]);
  });

  it('leaves to the conductor before it what is older than a minute when its term begins', async () => {
    const steps = [step('open', 'DOWN')];
    const { lines, now, look } = teller(steps);
    now.at += 60_001;
    steps.push({ ...step('fenced'), at: now.at });
    await look();
    expect(lines).toEqual([['warn', 'a-1: incident fenced']]);
    steps.push({ ...step('recovering'), at: now.at });
    now.at += 60_001;
    await look(2);
    expect(lines).toHaveLength(1);
  });

  it('tells what it could not tell in a former term, however old that is', async () => {
    let down = true;
    const { lines, now, look } = teller([step('open', 'DOWN')], () =>
      down ? Promise.reject(new Error('no store')) : Promise.resolve(),
    );
    await expect(look()).rejects.toThrow('could not be published');
    now.at += 3_600_000;
    down = false;
    await look(2);
    expect(lines).toEqual([['warn', 'a-1: incident open: DOWN']]);
  });
});
