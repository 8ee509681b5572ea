import { describe, expect, it } from 'vitest';
import { anIncident, aWorkload } from '../testing/records.js';
import { doublesOf, isContradicted } from './contradiction.js';

describe('a proof of off', () => {
  const off = anIncident('n-1', { phase: 'recovering', bootId: 'b1' });

  it('is contradicted by the boot that it ended, whoever gave it', () => {
    expect(isContradicted(off, 5000, { bootId: 'b1', agoMs: 100 })).toBe(true);
    expect(isContradicted({ ...off, phase: 'fenced' }, 5000, { bootId: 'b1', agoMs: 100 })).toBe(true);
  });
  it('is not by another boot, by a report that was on its way, nor by silence', () => {
    expect(isContradicted(off, 5000, { bootId: 'b2', agoMs: 100 })).toBe(false);
    expect(isContradicted(off, 5000, { bootId: 'b1', agoMs: 4500 })).toBe(false);
    expect(isContradicted(off, 0, { bootId: 'b1', agoMs: 0 })).toBe(false);
    expect(isContradicted(off, 5000, undefined)).toBe(false);
  });
  it('is none before it is given', () => {
    expect(isContradicted({ ...off, phase: 'fencing' }, 5000, { bootId: 'b1', agoMs: 100 })).toBe(false);
  });
});

describe('a workload that runs where it is not assigned', () => {
  const db = aWorkload('db', { generation: 3, assignment: { node: 'b', generation: 3 } });
  const reports = [
    { node: 'a', workloads: [{ name: 'db', generation: 1 }] },
    { node: 'b', workloads: [{ name: 'db', generation: 3 }] },
    { node: 'c' },
  ];

  it('is found by the report of whoever runs it', () => {
    expect(doublesOf([db], reports)).toEqual([{ workload: 'db', on: 'a', assigned: 'b', starting: false }]);
  });
  it('is told from one whose gate has not answered yet', () => {
    const booted = [{ node: 'a', workloads: [{ name: 'db', generation: 1, starting: true as const }] }];
    expect(doublesOf([db], booted)).toEqual([{ workload: 'db', on: 'a', assigned: 'b', starting: true }]);
  });
  it('is not what runs where it belongs, nor what is looked at before its start', () => {
    expect(doublesOf([db], reports.slice(1))).toEqual([]);
    expect(doublesOf([{ ...db, start: { cause: 'x', attempt: 0 } }], reports)).toEqual([]);
  });
});
