import type { Bus } from '#bus';
import { diceOf } from '../time/seeded-random.js';
import { VirtualTime } from '../time/virtual-time.js';
import { Chassis } from '../hands/chassis.js';
import { describe, expect, it } from 'vitest';
import { PlayedHost } from './played-host.js';

/** A host, and what its witness was told. */
function played() {
  const time = new VirtualTime();
  const told: string[] = [];
  const host = new PlayedHost({
    node: 'n-1',
    time,
    dice: diceOf(1, 'host'),
    chassis: new Chassis('n-1', () => time.nowMs),
    bus: {} as Bus,
    witness: {
      started: (_node, workload) => void told.push(`${workload} runs`),
      ended: (_node, workload, how) => void told.push(`${workload} is over: ${how}`),
      cleared: (_node, how) => void told.push(`cleared: ${how}`),
      speaks: (_node, is) => void told.push(is ? 'speaks' : 'is silent'),
      refusedStale: () => void told.push('refused'),
    },
    tell: () => undefined,
  });
  host.seed('w1', 1);
  return { host, told: () => told.splice(0) };
}

describe('the power of a host', () => {
  it('ends for good what ran there as it goes, and has done so once it is back', () => {
    const { host, told } = played();
    told();
    host.powered(false);
    expect(told()).toEqual(['w1 is over: off', 'is silent', 'cleared: off']);
    host.powered(true);
    expect(told()).toEqual(['cleared: off', 'is silent']);
  });
});
