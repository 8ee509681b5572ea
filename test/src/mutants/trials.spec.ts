import { describe, expect, it } from 'vitest';
import { trials } from './trials.js';

describe('trials that are synchronous calls', () => {
  it('let a signal be heard before what came of the one that it ended is taken for a result', async () => {
    let isEnded = false;
    const hear = (): void => void (isEnded = true);
    process.once('SIGUSR2', hear);
    try {
      const kept: string[] = [];
      const trial = (name: string): string => {
        if (name === 'second') process.kill(process.pid, 'SIGUSR2');
        return `${name} was tried`;
      };
      for await (const { result } of trials(['first', 'second', 'third'], trial)) {
        if (isEnded) break;
        kept.push(result);
      }
      expect(kept).toEqual(['first was tried']);
    } finally {
      process.off('SIGUSR2', hear);
    }
  });
});
