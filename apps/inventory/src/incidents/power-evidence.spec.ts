import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError } from '#contracts';
import type { ServiceContext } from '#service';
import { aNode } from '../testing/records.js';
import { PowerEvidence } from './power-evidence.js';

type Read = { devices: { id: string; power: string; code?: string }[] };

describe('the power of suspects', () => {
  let now: number;
  let answers: (() => Promise<Read>)[];
  let sut: PowerEvidence;
  const node = aNode('n-1');
  const device = (power: string, code?: string) => (): Promise<Read> =>
    Promise.resolve({ devices: [{ id: 'bmc', power, ...(code !== undefined && { code }) }] });
  const look = async (): Promise<void> => {
    sut.gather(node);
    await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(() => {
    now = 1_000;
    answers = [];
    const call = (): Promise<Read> => (answers.shift() ?? device('unknown'))();
    const context = { bus: { call }, clock: { monotonicMs: () => now }, log: { debug: () => undefined } };
    sut = new PowerEvidence(context as unknown as ServiceContext);
  });

  it('is what the last read said, while it is fresh', async () => {
    answers = [device('on'), device('off')];
    await look();
    expect(sut.of('n-1')).toBe('on');
    now += 15_000;
    await look();
    expect(sut.of('n-1')).toBe('off');
  });
  it('is still known while it is read anew, but not for ever', async () => {
    answers = [device('on'), () => new Promise<Read>(() => undefined)];
    await look();
    now += 15_000;
    await look();
    expect(sut.of('n-1')).toBe('on');
    now += 7_000;
    expect(sut.of('n-1')).toBeUndefined();
  });
  it('is not forgotten because a read gave way to the fencing, nor made younger by it', async () => {
    answers = [device('on'), device('unknown', 'NODE_BUSY')];
    await look();
    now += 15_000;
    await look();
    expect(sut.of('n-1')).toBe('on');
    now += 7_000;
    expect(sut.of('n-1')).toBeUndefined();
  });
  it('is unknown where the devices did not say', async () => {
    answers = [device('on'), device('unknown'), () => Promise.reject(new MusterError('NO_RESPONDER', 'nobody'))];
    await look();
    now += 15_000;
    await look();
    expect(sut.of('n-1')).toBe('unknown');
    now += 15_000;
    await look();
    expect(sut.of('n-1')).toBe('unknown');
  });
});
