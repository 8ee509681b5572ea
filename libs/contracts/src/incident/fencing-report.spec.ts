import { describe, expect, it } from 'vitest';
import { fencingReport, type FencingFacts, type FencingReport, type ToldStep } from './fencing-report.js';

type Told = FencingFacts['events'][number];
let at = 0;
const told = (incident: string, phase: ToldStep['phase'], gate?: ToldStep['gate']): Told => ({
  at: (at += 1),
  data: { node: `n-${incident}`, incident, phase, ...(gate && { gate }) },
});
const report = (...events: Told[]): FencingReport => fencingReport({ since: 0, mode: 'observe', events });
const shape = ({ fenced, wouldHaveFenced, stopped, failed, over, underWay }: FencingReport): string =>
  Object.entries({ fenced, wouldHaveFenced, stopped, failed, over, underWay })
    .flatMap(([what, lines]) => lines.map((l) => `${l.incident} ${what}${'gate' in l ? ` ${String(l.gate)}` : ''}`))
    .join(', ');

describe('what was decided about dead nodes', () => {
  it('is told of each incident once, by how far it came', () => {
    const events = [
      ...[told('a', 'open'), told('a', 'suppressed', 'LIFE_SIGN'), told('a', 'suppressed', 'OBSERVE')],
      ...[told('b', 'open'), told('b', 'fencing'), told('b', 'failed'), told('b', 'fenced'), told('b', 'closed')],
      ...[told('c', 'suppressed', 'CAP'), told('c', 'suppressed', 'BRAKE'), told('c', 'cancelled')],
      ...[told('d', 'fencing'), told('d', 'failed')],
      ...[told('e', 'open'), told('e', 'cancelled')],
      ...[told('f', 'open'), told('f', 'investigating')],
    ];
    expect(shape(report(...events))).toBe('b fenced, a wouldHaveFenced, c stopped BRAKE, d failed, e over, f underWay');
    const [line] = report(...events).wouldHaveFenced;
    expect(line).toEqual({ node: 'n-a', incident: 'a', at: 1 });
  });

  it('counts one that was fenced in spite of observing before as fenced', () => {
    expect(shape(report(told('a', 'suppressed', 'OBSERVE'), told('a', 'fenced')))).toBe('a fenced');
  });

  it('says since when it knows, where that is not the whole period', () => {
    const facts = { since: 10, mode: 'enforce' as const, events: [] };
    expect(fencingReport({ ...facts, keptSince: 20 }).keptSince).toBe(20);
    expect(fencingReport({ ...facts, keptSince: 5 })).not.toHaveProperty('keptSince');
    expect(fencingReport(facts)).not.toHaveProperty('keptSince');
  });
});
