import type { History } from './history.js';
import { SimulatedFleet } from './simulated-fleet.js';
import { MONITOR, type Fault } from './world.js';

const ms = (t: number): string => (t === Infinity ? 'for good' : `${(t / 1000).toFixed(2)} s`);
const nameOf = (node: number): string => (node === MONITOR ? 'monitor' : `n${node}`);

const ends = (f: Fault): string => {
  if ('node' in f) return nameOf(f.node);
  if (f.kind !== 'cut') return '';
  return `${f.a.map(nameOf).join()} ${f.oneWay ? '→' : '↔'} ${f.b.map(nameOf).join()}`;
};

function told(f: Fault): string {
  const known = ['kind', 'from', 'until', 'node', 'a', 'b', 'oneWay'];
  const rest = Object.entries(f).filter(([key]) => !known.includes(key));
  return `${f.kind} ${ends(f)} ${rest.map(([key, value]) => `${key}=${String(value)}`).join(' ')} until ${ms(f.until)}`;
}

/** A history as people read it: what it is, what went wrong when, what was said, and what the oracle holds against it. */
export function storyOf(h: History): { lines: string[]; violations: number } {
  const fleet = new SimulatedFleet(h).run();
  const events = [
    ...h.faults.map((f) => ({ at: f.from, line: `fault    ${told(f)}` })),
    ...fleet.verdicts.map((v) => ({ at: v.at, line: `verdict  ${v.node} ${v.verdict}: ${v.reason}` })),
    ...fleet.violations.map((v) => ({ at: v.time, line: `VIOLATED ${v.node}: ${v.what}` })),
  ].sort((a, b) => a.at - b.at);
  const lines = [
    `${h.roles.length} nodes (${h.roles.join(' ')}) on ${h.networks.join(', ')}, profile ${h.profile}, witness ${h.witness}`,
    `wire ${JSON.stringify(h.wire)}, grace ${ms(h.leaveGrace)}, ends at ${ms(h.until)}`,
    ...events.map(({ at, line }) => `${ms(at).padStart(8)} ${line}`),
  ];
  return { lines, violations: fleet.violations.length };
}
