import { beforeEach, describe, expect, it } from 'vitest';
import { POWER_QUARANTINE_MS, type IncidentRecord, type PowerCommand } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import type { ServiceContext } from '#service';
import { BmcQueue } from './bmc-queue.js';
import type { IdentifyingPower } from './power-control.js';
import { PowerReader } from './power-reader.js';

const node = aNode('n-1', { powerLevels: [[{ id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' }]] });
const order = { action: 'soft', by: 'eve', reason: 'memory', at: 1, after: 0 } as const;
const on: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'on', at: 1 };
const recovered = anIncident('n-1', {
  ...{ phase: 'recovered', powerOn: { wanted: true, requestedAt: 1 } },
  proof: { kind: 'read-back', at: 1, level: 0 },
});

describe('who reads power beside the fencing', () => {
  let now = 0;
  let stored: IncidentRecord | undefined;
  let change: (incident: IncidentRecord) => void;
  let answer: Promise<void>;
  let asked: () => void;
  let sut: PowerReader;

  beforeEach(async () => {
    now = 100_000;
    stored = undefined;
    answer = Promise.resolve();
    asked = () => undefined;
    const listeners: ((node: string, i: IncidentRecord) => void)[] = [];
    change = (incident) => {
      stored = incident;
      for (const listener of listeners) listener('n-1', incident);
    };
    const view = {
      get: () => stored && { value: stored },
      entries: () => (stored === undefined ? [] : [{ key: 'n-1', value: stored }]),
      onChange: (fn: (node: string, i: IncidentRecord) => void) => listeners.push(fn),
    };
    const bucket = { view: async () => Promise.resolve(view), get: async () => Promise.resolve({ value: node }) };
    const clock = { monotonicMs: () => now, monotonicNs: () => BigInt(now) * 1_000_000n };
    const context = { clock, bus: { bucket: () => bucket } } as unknown as ServiceContext;
    const run = async (): Promise<object> => {
      asked();
      return answer.then(() => ({ ok: true, power: 'on', tookMs: 1 }));
    };
    sut = new PowerReader(context, { run } as unknown as IdentifyingPower, new BmcQueue());
    await sut.onApplicationBootstrap();
  });

  const read = async (): Promise<string | undefined> => {
    const [device] = await sut.read('n-1');
    return device?.code ?? device?.power;
  };

  it('reads where nothing is wanted of the power', async () => {
    expect(await read()).toBe('on');
    change(anIncident('n-1', { phase: 'suppressed' }));
    expect(await read()).toBe('on');
  });

  it.each([
    ['a fencing', anIncident('n-1', { phase: 'fencing' })],
    ['the power-on after a recovery', recovered],
    ['an order by an operator', anIncident('n-1', { phase: 'closed', order })],
  ])('does not begin beside %s', async (_name, incident) => {
    change(incident);
    expect(await read()).toBe('NODE_BUSY');
  });

  it('ends a read when a power-on is wanted', async () => {
    let reply = (): void => undefined;
    answer = new Promise((resolve) => (reply = resolve));
    const begun = new Promise<void>((resolve) => (asked = resolve));
    const reading = read();
    await begun;
    change(recovered);
    reply();
    expect(await reading).toBe('NODE_BUSY');
  });

  it('reads again where a power-on waits for long, and gives way again to its next command', async () => {
    change(recovered);
    now += POWER_QUARANTINE_MS;
    expect(await read()).toBe('on');
    // What is told of it is no command.
    change({ ...recovered, reason: 'another' });
    expect(await read()).toBe('on');
    change({ ...recovered, commands: [on] });
    expect(await read()).toBe('NODE_BUSY');
    now += POWER_QUARANTINE_MS;
    expect(await read()).toBe('on');
  });

  it('never begins beside a fencing, however long that takes', async () => {
    change(anIncident('n-1', { phase: 'fencing' }));
    now += 10 * POWER_QUARANTINE_MS;
    expect(await read()).toBe('NODE_BUSY');
  });
});
