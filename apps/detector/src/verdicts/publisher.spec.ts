import { describe, expect, it } from 'vitest';
import type { Verdict, VerdictEvidence } from '#contracts';
import { VerdictPublisher } from './publisher.js';
import { VerdictLog } from './verdict-log.js';
import type { Judgement } from './verdict.js';

const none: VerdictEvidence = { observers: [], assigned: 0, accusers: 0, members: 0, sightedReporters: 0 };
const judgement = (verdict: Judgement['verdict']): Judgement => ({ verdict, networks: [], reason: '' });
const silent = { warn: () => undefined } as unknown as ConstructorParameters<typeof VerdictPublisher>[3];

describe('verdicts that wait to be published', () => {
  const log = new VerdictLog();
  const published: Verdict[] = [];
  let may = false;
  let refuses = false;
  const publisher = new VerdictPublisher(
    log,
    (v) => {
      if (refuses) return Promise.reject(new Error('no answer'));
      published.push(v);
      return Promise.resolve();
    },
    () => may,
    silent,
  );
  const run = async (): Promise<string[]> => {
    publisher.run();
    // The publisher has nothing to wait for but promises that are settled already.
    await new Promise((resolve) => setImmediate(resolve));
    return published.splice(0).map((v) => v.verdict);
  };

  it('stay while this process may not speak, and only the last word of each node leaves once it may', async () => {
    log.begin(1);
    log.say('n0', judgement('SUSPECT'), {}, 0, () => none);
    expect(await run()).toEqual([]);
    log.say('n0', judgement('DOWN'), {}, 0, () => none);
    expect(await run()).toEqual([]);
    may = true;
    expect(await run()).toEqual(['DOWN']);
    expect(await run()).toEqual([]);
  });

  it('are tried again when they were not taken', async () => {
    log.say('n0', judgement('UP'), {}, 0, () => none);
    refuses = true;
    expect(await run()).toEqual([]);
    refuses = false;
    expect(await run()).toEqual(['UP']);
  });

  it('are worth nothing once everybody is to be examined anew: what they rest on may be long over', async () => {
    may = false;
    log.say('n1', judgement('DOWN'), {}, 0, () => none);
    expect(await run()).toEqual([]);
    log.sayAgain();
    may = true;
    expect(await run()).toEqual([]);
    log.say('n1', judgement('DOWN'), {}, 0, () => none);
    expect(await run()).toEqual(['DOWN']);
  });

  it('are worth nothing in a new term', async () => {
    may = false;
    log.say('n0', judgement('DOWN'), {}, 0, () => none);
    expect(await run()).toEqual([]);
    log.begin(2);
    may = true;
    expect(await run()).toEqual([]);
  });
});
