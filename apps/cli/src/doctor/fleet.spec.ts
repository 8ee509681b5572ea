import { describe, expect, it } from 'vitest';
import { defaultFencing, defaultStorm, type StormLimits, type WorkerRecord } from '#contracts';
import { stormFindings } from './storm.js';
import { workerFindings } from './workers.js';

const worker = (service: WorkerRecord['service'], o: Partial<WorkerRecord> = {}): WorkerRecord => ({
  service,
  id: `${service}-1`,
  drivers: ['d'],
  incarnation: 'i',
  host: 'h',
  startedAt: 0,
  beat: 1,
  ...o,
});

describe('the doctor on workers', () => {
  const states = (workers: WorkerRecord[], missingDrivers: { driver: string; nodes: string[] }[] = []): string[] =>
    workerFindings({ value: { workers, missingDrivers } }).map((f) => `${f.check} ${f.subject} ${f.state}`);
  const both = [worker('fencer'), worker('provisioner')];

  it('is content with one of each that offers something', () =>
    expect(states(both)).toEqual(['worker.drivers fencer-1 ok', 'worker.drivers provisioner-1 ok']));
  it('misses a service', () => expect(states([worker('fencer')])[0]).toBe('worker.alive provisioner bad'));
  it('finds one without a driver, and one whose driver fails', () => {
    expect(states([worker('fencer', { drivers: [] }), both[1]!])[0]).toBe('worker.drivers fencer-1 bad');
    expect(states([worker('fencer', { failing: ['d'] }), both[1]!])[0]).toBe('worker.drivers fencer-1 warn');
  });
  it('finds a driver that nobody offers', () =>
    expect(states(both, [{ driver: 'x', nodes: ['a'] }])).toContain('worker.missing x bad'));
  it('says unknown where nobody could be asked', () =>
    expect(workerFindings({ failed: 'no' }).map((f) => f.state)).toEqual(['unknown']));
});

describe('the doctor on storms', () => {
  const sut = (members: number, domains: Record<string, number>, storm: Partial<StormLimits> = {}) =>
    Object.fromEntries(
      stormFindings(
        { value: { fencing: { ...defaultFencing, storm: { ...defaultStorm, ...storm } } } },
        { value: { members, domains } },
      ).map((f) => [f.check.slice('storm.'.length), f.state]),
    );

  it('is content with the defaults of a fleet in small racks', () =>
    expect(sut(20, { a: 4, b: 4, c: 4, d: 4, e: 4 })).toEqual({ brake: 'ok', cap: 'ok', domain: 'ok' }));
  it('warns of a brake that a majority is lost before', () => expect(sut(4, { a: 2, b: 2 })['brake']).toBe('warn'));
  it('finds a cap that lets all go, and warns of it in a small fleet', () => {
    expect(sut(20, { a: 10, b: 10 }, { capShare: 1 })['cap']).toBe('bad');
    expect(sut(3, { a: 1, b: 2 })['cap']).toBe('warn');
  });
  it('warns of a rack larger than the brake, and of racks that nobody named', () => {
    expect(sut(20, { a: 5, b: 15 })['domain']).toBe('warn');
    expect(sut(20, { default: 20 })['domain']).toBe('warn');
  });
  it('skips an empty fleet, and says unknown where nobody could be asked', () => {
    expect(sut(0, {})).toEqual({ brake: 'skipped' });
    const states = stormFindings({ failed: 'no' }, { failed: 'no' }).map((f) => f.state);
    expect(states).toEqual(['unknown', 'unknown', 'unknown']);
  });
});
