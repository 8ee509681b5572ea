import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { DUE_SHARE } from './link-observation.js';
import { ProbeSchedule } from './probe-schedule.js';

const peers = (n: number): Map<string, string[]> =>
  new Map(Array.from({ length: n }, (_, i) => [`peer-${i}`, ['management', 'backend']]));

describe('the schedule of probes', () => {
  it('probes every link once per interval, spread over it, for any number of peers and any phase', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, phase) => {
        const schedule = new ProbeSchedule();
        schedule.set(peers(n), 500, 0, phase);
        const counts = new Map<string, number>();
        let burst = 0;
        for (let now = 0; now < 5000; now += 20) {
          const due = schedule.due(now, () => true);
          burst = Math.max(burst, due.length);
          for (const d of due) counts.set(d.peer + d.network, (counts.get(d.peer + d.network) ?? 0) + 1);
        }
        expect(counts.size).toBe(2 * n);
        for (const count of counts.values()) expect(Math.abs(count - 10)).toBeLessThanOrEqual(1);
        expect(burst).toBeLessThanOrEqual(2 * (Math.ceil((n * 20) / 500) + 1));
      }),
    );
  });

  it('probes the networks of a peer together', () => {
    const schedule = new ProbeSchedule();
    schedule.set(peers(7), 500, 0, 0.37);
    for (let now = 0; now < 1000; now++) {
      const due = schedule.due(now, () => true);
      for (const { peer } of due) expect(due.filter((d) => d.peer === peer)).toHaveLength(2);
    }
  });

  it('never makes up for what it missed: no burst after a pause', () => {
    const schedule = new ProbeSchedule();
    schedule.set(peers(30), 500, 0, 0.3);
    for (let now = 0; now < 1000; now += 20) schedule.due(now, () => true);
    schedule.skipTo(21_000);
    expect(schedule.due(21_000, () => true).length).toBeLessThanOrEqual(4);
    let sent = 0;
    for (let now = 21_020; now <= 21_500; now += 20) sent += schedule.due(now, () => true).length;
    expect(sent).toBeGreaterThanOrEqual(56);
    expect(sent).toBeLessThanOrEqual(60);
  });

  it('waits for an outstanding probe and then takes the turn', () => {
    const schedule = new ProbeSchedule();
    schedule.set(new Map([['a', ['management']]]), 500, 0, 0);
    expect(schedule.due(0, () => false)).toEqual([]);
    expect(schedule.due(100, () => true)).toEqual([{ peer: 'a', network: 'management' }]);
    expect(schedule.due(480, () => true)).toEqual([]);
    expect(schedule.due(500, () => true)).toHaveLength(1);
  });

  it('probes at another interval no sooner than an interval after the last probe, by the longest since, and soon after', () => {
    const intervals = [250, 500, 1000];
    const change = fc.record({ after: fc.integer({ min: 100, max: 4000 }), to: fc.constantFrom(...intervals) });
    const phases = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 5 }), phases, (changes, phase) => {
        const schedule = new ProbeSchedule();
        const links = new Map([['a', ['management']]]);
        let interval = 500;
        let longest = interval;
        let sentAt: number | undefined;
        let dueAt = 0;
        schedule.set(links, interval, 0, phase);
        let now = 0;
        for (const { after, to } of [...changes, { after: 3000, to: 250 }]) {
          for (const until = now + after; now < until; now++) {
            if (schedule.due(now, () => now >= dueAt).length === 0) continue;
            // But for the step of 1 ms.
            if (sentAt !== undefined) expect(now - sentAt).toBeGreaterThanOrEqual(longest - 1);
            if (sentAt !== undefined) expect(now - sentAt).toBeLessThanOrEqual(2 * longest + 1);
            sentAt = now;
            longest = interval;
            dueAt = now + interval * DUE_SHARE;
          }
          interval = to;
          longest = Math.max(longest, interval);
          // As the agent gives a probe that is under way the longer of both times.
          if (sentAt !== undefined) dueAt = Math.max(dueAt, sentAt + interval * DUE_SHARE);
          schedule.set(links, interval, now, phase);
        }
      }),
    );
  });

  it('keeps a turn that has come when the interval changes', () => {
    const schedule = new ProbeSchedule();
    const links = new Map([['a', ['management']]]);
    const sent: number[] = [];
    const changes = new Map([
      [0, 250],
      [300, 1000],
      [2001, 500],
    ]);
    for (let now = 0; now <= 3500; now++) {
      const interval = changes.get(now);
      if (interval !== undefined) schedule.set(links, interval, now, 0.0004);
      if (schedule.due(now, () => true).length > 0) sent.push(now);
    }
    expect(sent).toEqual([1, 251, 2001, 3001]);
  });

  it('probes a network that a peer gains together with those that it has', () => {
    const schedule = new ProbeSchedule();
    const names = ['a', 'b', 'c'];
    schedule.set(new Map(names.map((n) => [n, ['management']])), 500, 0, 0.3);
    for (let now = 0; now < 1013; now++) schedule.due(now, () => true);
    schedule.set(new Map(names.map((n) => [n, ['backend', 'management']])), 500, 1013, 0.3);
    const turns: string[] = [];
    for (let now = 1013; now < 2013; now++) {
      const due = schedule.due(now, () => true);
      turns.push(...due.map((d) => d.network));
      for (const { peer } of due) expect(due.filter((d) => d.peer === peer)).toHaveLength(2);
    }
    expect(turns).toHaveLength(12);
  });

  it('leaves the phases of who stays when the list changes', () => {
    const schedule = new ProbeSchedule();
    schedule.set(peers(2), 500, 0, 0);
    schedule.due(10, () => true);
    schedule.set(peers(3), 500, 10, 0);
    expect(schedule.due(490, () => true).map((t) => t.peer)).not.toContain('peer-0');
    expect(schedule.due(505, () => true).map((t) => t.peer)).toContain('peer-0');
  });
});
