import { beforeEach, describe, expect, it } from 'vitest';
import { POLL_TARGETS, type PollAnswer } from '#contracts';
import { seeded } from '#contracts/testing/chance.js';
import {
  POLL_GAP_MS,
  POLL_PERIOD_MS,
  PollBook,
  SETTLED_AFTER_MS,
  SETTLED_PERIOD_MS,
  type Suspect,
} from './poll-book.js';

const names = (n: number): string[] => Array.from({ length: n }, (_, i) => `n${i}`);
const MEMBERS = names(40);
const suspect = (node: string, over: Partial<Suspect> = {}): Suspect => ({
  node,
  settled: false,
  watchedBy: [],
  ...over,
});
const answer = (node: string, targets: Record<string, number>): PollAnswer => ({
  node,
  epoch: 1,
  abstain: false,
  targets: Object.entries(targets).map(([name, answered]) => ({ name, networks: { backend: { sent: 3, answered } } })),
});

describe('the book of polls', () => {
  let book: PollBook;
  beforeEach(() => {
    book = new PollBook(seeded(1));
  });
  const due = (suspects: Suspect[], now: number, members = MEMBERS): ReturnType<PollBook['due']> =>
    book.due(suspects, members, now);
  const endAll = (orders: ReturnType<PollBook['due']>, now: number): void => {
    for (const o of orders) book.ended(o, undefined, now);
  };

  it('asks at once, everybody but the suspect and those who watch it anyway', () => {
    const orders = due([suspect('n0', { watchedBy: ['n1', 'n2'] })], 0);
    expect(orders.map((o) => o.observer).sort()).toEqual(names(40).slice(3).sort());
    expect(orders.every((o) => o.targets.join() === 'n0')).toBe(true);
    expect([...book.drawnFor('n0')].sort()).toEqual(names(40).slice(1).sort());
  });

  it('asks each about all suspects in one request, and about no more than fit into one', () => {
    const orders = due([suspect('n0'), suspect('n1')], 0);
    expect(orders.find((o) => o.observer === 'n5')?.targets).toEqual(['n0', 'n1']);
    expect(orders.find((o) => o.observer === 'n0')?.targets).toEqual(['n1']);
    const many = names(POLL_TARGETS + 10).map((n) => suspect(`s-${n}`));
    expect(new PollBook(seeded(1)).due(many, ['o'], 0).map((o) => o.targets.length)).toEqual([POLL_TARGETS]);
  });

  it('never has more than four requests in work at one agent, however many become suspect one after the other', () => {
    const running: { observer: string; until: number }[] = [];
    const suspects: Suspect[] = [];
    for (let now = 0; now < 3000; now += 10) {
      if (now < 1000) suspects.push(suspect(`s-${now}`));
      for (const { observer } of due(suspects, now)) running.push({ observer, until: now + 850 });
      expect(running.filter((r) => r.observer === 'n5' && r.until > now).length).toBeLessThanOrEqual(4);
    }
    expect(running.length).toBeGreaterThan(0);
  });

  it('asks again after a period, and never before all have answered or been given up', () => {
    const orders = due([suspect('n0')], 0);
    endAll(orders.slice(1), 900);
    expect(due([suspect('n0')], POLL_PERIOD_MS)).toEqual([]);
    endAll(orders.slice(0, 1), 1001);
    expect(due([suspect('n0')], 1001)).toHaveLength(39);
    endAll(orders, 1002);
    expect(due([suspect('n0')], 1100)).toEqual([]);
  });

  it('asks less often about those whose verdict has stood for long, and as before when it stands no more', () => {
    const settled = [suspect('n0', { settled: true })];
    let now = 0;
    for (; now < SETTLED_AFTER_MS; now += POLL_PERIOD_MS) {
      const orders = due(settled, now);
      expect(orders).toHaveLength(39);
      endAll(orders, now);
    }
    expect(due(settled, now)).toEqual([]);
    expect(due(settled, now - POLL_PERIOD_MS + SETTLED_PERIOD_MS).length).toBeGreaterThan(0);
    endAll(due([suspect('n0')], now + SETTLED_PERIOD_MS), now + SETTLED_PERIOD_MS);
    expect(due([suspect('n0')], now + SETTLED_PERIOD_MS + POLL_PERIOD_MS)).toEqual([]);
  });

  it('keeps what each said; who does not answer the next time no longer reports it down, but has still heard', () => {
    const first = due([suspect('n0')], 0);
    const of = (observer: string): (typeof first)[number] => first.find((o) => o.observer === observer)!;
    book.ended(of('n1'), answer('n1', { n0: 0 }), 500);
    book.ended(of('n2'), answer('n2', { n0: 2 }), 500);
    endAll(
      first.filter((o) => !['n1', 'n2'].includes(o.observer)),
      1000,
    );
    expect(book.wordOf('n1', 'n0')).toMatchObject({ at: 500, epoch: 1, networks: { backend: { answered: 0 } } });
    endAll(due([suspect('n0')], 1000), 2000);
    expect(book.wordOf('n1', 'n0')).toBeUndefined();
    expect(book.wordOf('n2', 'n0')).toMatchObject({ at: 500 });
  });

  it('an answer about another node than was asked for says nothing', () => {
    const [order] = due([suspect('n0')], 0);
    book.ended(order!, answer(order!.observer, { n9: 0 }), 10);
    expect(book.wordOf(order!.observer, 'n0')).toBeUndefined();
    expect(book.wordOf(order!.observer, 'n9')).toBeUndefined();
  });

  it('forgets a suspicion that ended: the next one draws anew, and late answers are nothing to it', () => {
    const members = names(300);
    const orders = due([suspect('n0')], 0, members);
    const drawn = [...book.drawnFor('n0')];
    expect(due([], 100, members)).toEqual([]);
    expect(book.drawnFor('n0')).toEqual([]);
    const again = due([suspect('n0')], POLL_GAP_MS, members);
    expect([...book.drawnFor('n0')]).not.toEqual(drawn);
    for (const o of orders) book.ended(o, answer(o.observer, { n0: 0 }), 300);
    for (const o of again) expect(book.wordOf(o.observer, 'n0')).toBeUndefined();
    expect(due([suspect('n0')], 1300, members)).toEqual([]);
  });

  it('forgets everything where what came in is not to be believed', () => {
    for (const o of due([suspect('n0')], 0)) book.ended(o, answer(o.observer, { n0: 0 }), 10);
    book.forget();
    expect(book.wordOf('n1', 'n0')).toBeUndefined();
    expect(due([suspect('n0')], POLL_GAP_MS)).toHaveLength(39);
  });
});
