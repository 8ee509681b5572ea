import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { AuditOutbox, MOST_WAITING, type AuditEntry } from './audit-outbox.js';

const entry = (n: number): AuditEntry => ({
  id: `e${n}`,
  key: 'a-1',
  data: { by: 'ann', action: 'edit', subject: 'a-1', detail: `${n}`, outcome: 'accepted' },
});

describe('the outbox of the audit', () => {
  let stored: string[];
  let lost: string[];
  /** How the store answers; a rejection is what it says without a quorum. */
  let answer: () => Promise<void>;
  let sut: AuditOutbox;
  /** Ends waits of the outbox at once. */
  const clock = {
    after: (_ms: number, fn: () => void) => systemClock.after(1, fn),
    sleep: () => new Promise<void>(setImmediate),
  };

  beforeEach(() => {
    stored = [];
    lost = [];
    answer = () => Promise.resolve();
    sut = new AuditOutbox({
      clock,
      store: async (e) => {
        await answer();
        stored.push(e.id);
      },
      lost: (e) => lost.push(e.id),
    });
  });

  it('keeps what the store does not take, in order, until it does, and lets the caller go on', async () => {
    let away = true;
    answer = () => (away ? Promise.reject(new Error('no quorum')) : Promise.resolve());
    for (const n of [1, 2, 3]) await sut.add(entry(n));
    expect([stored, lost]).toEqual([[], []]);
    away = false;
    await sut.add(entry(4));
    while (stored.length < 4) await new Promise(setImmediate);
    expect([stored, lost]).toEqual([['e1', 'e2', 'e3', 'e4'], []]);
  });

  it('tells of what it cannot keep: of more than it holds the newest, at its end all that wait', async () => {
    answer = () => Promise.reject(new Error('no quorum'));
    const adding = Array.from({ length: MOST_WAITING + 2 }, (_, n) => sut.add(entry(n)));
    expect(lost).toEqual([`e${MOST_WAITING}`, `e${MOST_WAITING + 1}`]);
    await Promise.all(adding);
    await sut.close();
    expect(stored).toEqual([]);
    expect(new Set(lost).size).toBe(MOST_WAITING + 2);
  });

  it('waits at its end for the store that takes what waits', async () => {
    void sut.add(entry(1));
    await sut.close();
    expect([stored, lost]).toEqual([['e1'], []]);
  });
});
