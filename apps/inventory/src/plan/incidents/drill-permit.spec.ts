import { expect, it } from 'vitest';
import type { StormFacts } from '#domain/incident/storm-counts.js';
import { drillPermit } from './drill-permit.js';

it('lets a drill go on only while no other node is unhealthy', () => {
  const storm = (o: Partial<StormFacts>): StormFacts => ({ silent: [], unrecovered: ['n-1'], ...o }) as StormFacts;
  const may = (s: StormFacts | undefined): boolean => drillPermit(s, { node: 'n-1' }).granted;
  expect(may(storm({}))).toBe(true);
  expect(may(storm({ silent: [{ node: 'n-2', domain: 'd', forMs: 0 }] }))).toBe(false);
  expect(may(storm({ unrecovered: ['n-1', 'n-2'] }))).toBe(false);
  expect(may(undefined)).toBe(false);
});
