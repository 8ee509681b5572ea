import { describe, expect, it } from 'vitest';
import { pino } from 'pino';
import { MusterError, type Verdict } from '#contracts';
import type { ServiceContext } from '#service';
import { aVerdict } from '../testing/records.js';
import { VerdictNow } from './verdict-now.js';

describe('the verdict as of now', () => {
  it('is none while no detector answers, which is one line in the log for as long as that lasts, and one that it is over', async () => {
    const lines: [level: number, msg: string][] = [];
    const log = pino(
      { level: 'info' },
      {
        write: (text: string) => {
          const { level, msg } = JSON.parse(text) as { level: number; msg: string };
          lines.push([level, msg]);
        },
      },
    );
    let answer: Verdict | MusterError = new MusterError('NO_RESPONDER', 'nobody answers');
    const ask = (): Promise<Verdict> =>
      answer instanceof MusterError ? Promise.reject(answer) : Promise.resolve(answer);
    const sut = new VerdictNow({ bus: { ask }, log } as unknown as ServiceContext);
    const silent = [40, 'the detector did not say what it thinks of the node: nobody answers'];

    for (const node of ['a-1', 'a-1', 'b-1']) expect(await sut.of(node)).toBeUndefined();
    expect(lines).toEqual([silent]);
    answer = new MusterError('TIMEOUT', 'too late');
    expect(await sut.of('a-1')).toBeUndefined();
    answer = aVerdict('a-1');
    for (const node of ['a-1', 'b-1']) expect(await sut.of(node)).toBe(answer);
    answer = new MusterError('NO_RESPONDER', 'nobody answers');
    expect(await sut.of('a-1')).toBeUndefined();
    expect(lines).toEqual([
      silent,
      [40, 'the detector did not say what it thinks of the node: too late'],
      [30, 'the detector says again what it thinks of nodes'],
      silent,
    ]);
  });
});
