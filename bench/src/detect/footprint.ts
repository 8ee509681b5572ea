import { setTimeout as pause } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { cpuMsOf, rssOf, trafficOf } from '../proc.js';
import { NETWORKS } from './wires.js';

/** What the average agent takes. */
export interface Footprint {
  /** Share of a core. */
  cpu: number;
  /** Of the largest one, MB. */
  rssMb: number;
  /** Over both networks, both ways, with what it says to NATS. */
  packets: number;
  bytes: number;
}

const MB = 1024 * 1024;

/** Over so many seconds in which nothing happens; the rates are per second and agent. */
export async function footprint(pids: readonly number[], seconds: number): Promise<Footprint> {
  const look = (): { at: number; cpuMs: number; packets: number; bytes: number } => {
    const all = pids.map((pid) => ({ cpuMs: cpuMsOf(pid), ...trafficOf(pid, NETWORKS) }));
    const sum = (of: (x: (typeof all)[number]) => number): number => all.reduce((n, x) => n + of(x), 0);
    return {
      at: performance.now(),
      cpuMs: sum((x) => x.cpuMs),
      packets: sum((x) => x.packets),
      bytes: sum((x) => x.bytes),
    };
  };
  const before = look();
  await pause(seconds * 1000);
  const after = look();
  const ms = (after.at - before.at) * pids.length;
  return {
    cpu: (after.cpuMs - before.cpuMs) / ms,
    rssMb: Math.max(...pids.map(rssOf)) / MB,
    packets: ((after.packets - before.packets) / ms) * 1000,
    bytes: ((after.bytes - before.bytes) / ms) * 1000,
  };
}
