import { beforeEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { DetectionProfiles, type PeerObservation, type Report } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { networksOut, type MemberWord } from '#domain/verdict/networks-out.js';
import { ReportBook } from './report-book.js';
import { isHealthyReporter, outFor, voteOf } from './stance.js';

const n = DetectionProfiles.lan;
const NETWORKS = ['backend', 'management'];

const report = (
  seq: number,
  over: Partial<Report> = {},
  peers: PeerObservation[] = [
    [
      'b',
      [
        [0, 200],
        [0, 200],
      ],
    ],
  ],
): Report => ({
  v: 1,
  node: 'a',
  bootId: 'boot-1',
  epoch: 1,
  seq,
  listVersion: 1,
  networks: NETWORKS,
  peers,
  health: { abstain: false, sendErrors: {}, loopGapMs: 20 },
  ...over,
});
const seen = (backend: number, management: number): PeerObservation[] => [
  [
    'b',
    [
      [backend, backend < 6 ? 100 : -1],
      [management, management < 6 ? 100 : -1],
    ],
  ],
];

describe('the book of reports', () => {
  let book: ReportBook;
  beforeEach(() => {
    book = new ReportBook();
  });

  it('takes the first of the copies that come over several networks', () => {
    expect(book.hear(report(1), 0, n)).toEqual(['a', 'b']);
    expect(book.hear(report(1), 5, n)).toBeUndefined();
    expect(book.of('a')?.at).toBe(0);
  });

  it('never lets an older report replace a newer one, nor an older process a newer', () => {
    book.hear(report(5, { epoch: 2 }), 0, n);
    expect(book.hear(report(4, { epoch: 2 }), 10, n)).toBeUndefined();
    expect(book.hear(report(900), 20, n)).toBeUndefined();
    expect(book.of('a')?.report.seq).toBe(5);
  });

  it('believes a lower number after a long silence: the system was installed anew', () => {
    book.hear(report(5, { epoch: 9 }), 0, n);
    expect(book.hear(report(1, { epoch: 1, bootId: 'boot-2' }), 11_000, n)).toEqual(['a', 'b']);
  });

  it('believes an earlier start in the same boot only once its reports grow in time: a connection may have held them', () => {
    book.hear(report(5, { epoch: 9 }), 0, n);
    for (const seq of [1, 2, 3, 4, 5, 6]) expect(book.hear(report(seq, { epoch: 8 }), 11_000, n)).toBe(undefined);
    expect(book.of('a')?.report.epoch).toBe(9);
    expect(book.hear(report(7, { epoch: 8 }), 11_000 + 2 * n.reportPeriod, n)).toEqual(['a', 'b']);
  });

  it('names as news only whose link changed its class', () => {
    book.hear(report(1), 0, n);
    expect(book.hear(report(2), 1000, n)).toEqual([]);
    expect(book.hear(report(3, {}, seen(2, 0)), 1100, n)).toEqual([]);
    expect(book.hear(report(4, {}, seen(3, 0)), 1200, n)).toEqual(['b']);
    expect(book.hear(report(5, {}, seen(5, 0)), 1300, n)).toEqual([]);
    expect(book.hear(report(6, {}, seen(6, 0)), 1400, n)).toEqual(['b']);
  });

  it('names everyone as news with another process, and when its voice changes', () => {
    book.hear(report(1), 0, n);
    expect(book.hear(report(1, { epoch: 2, bootId: 'boot-2' }), 100, n)).toEqual(['a', 'b']);
    const abstains = { health: { abstain: true, sendErrors: {}, loopGapMs: 900 } };
    expect(book.hear(report(2, { epoch: 2, bootId: 'boot-2', ...abstains }), 200, n)).toEqual(['a', 'b']);
  });

  it('sees two machines under one name by the older one going on, and forgets it when it stops', () => {
    book.hear(report(1, { epoch: 1 }), 0, n);
    book.hear(report(1, { epoch: 2, bootId: 'other' }), 100, n);
    for (let i = 0; i < 6; i++) {
      book.hear(report(2 + i, { epoch: 1 }), 1000 + i * 1000, n);
      book.hear(report(2 + i, { epoch: 2, bootId: 'other' }), 1100 + i * 1000, n);
    }
    expect(isHealthyReporter(book.of('a'), 6200, n)).toBe(false);
    for (let i = 8; i < 25; i++) book.hear(report(i, { epoch: 2, bootId: 'other' }), i * 1000, n);
    expect(isHealthyReporter(book.of('a'), 24_100, n)).toBe(true);
  });

  it('does not take for two machines what a connection still held of a process that has ended', () => {
    book.hear(report(1, { epoch: 1 }), 0, n);
    book.hear(report(1, { epoch: 2 }), 900, n);
    for (let i = 2; i < 8; i++) book.hear(report(i, { epoch: 1 }), 1000 + i, n);
    expect(isHealthyReporter(book.of('a'), 1100, n)).toBe(true);
  });

  it('counts a report that waited on its way as old as it is, and its sender as heard when it came', () => {
    for (let i = 1; i < 5; i++) book.hear(report(i, { sentMs: 70_000 + i * 1000 }), i * 1000 + 3, n);
    book.hear(report(5, { sentMs: 75_000 }), 8003, n);
    expect([book.of('a')?.at, book.of('a')?.spokenAt]).toEqual([8003, 5003]);
    expect(isHealthyReporter(book.of('a'), 8003, n)).toBe(false);
    book.hear(report(6, { sentMs: 78_010 }), 8013, n);
    expect(isHealthyReporter(book.of('a'), 8013 + n.freshness, n)).toBe(true);
  });

  it('learns nothing of the way from what was read after a standstill', () => {
    book.hear(report(1, { sentMs: 50_000 }), 1000, n);
    book.hear(report(2, { sentMs: 53_000 }), 1200, n, 4000);
    book.hear(report(3, { sentMs: 54_000 }), 5000, n);
    expect(book.of('a')?.spokenAt).toBe(5000);
  });

  it('does not take a restart with late copies for two machines', () => {
    book.hear(report(7), 0, n);
    book.hear(report(1, { epoch: 2 }), 900, n);
    expect(book.hear(report(8), 910, n)).toBeUndefined();
    expect(isHealthyReporter(book.of('a'), 1000, n)).toBe(true);
  });
});

describe('two machines that report one start under one name', () => {
  let book: ReportBook;
  beforeEach(() => {
    book = new ReportBook();
  });
  const clone = { bootId: 'boot-2' };
  const isTwo = (now: number): boolean => now < (book.of('a')?.conflictUntil ?? -Infinity);

  it.each([
    ['a greater', 9],
    ['the same', 5],
    ['a lower', 1],
  ])('are seen at the first word of the second, with %s number, and neither counts any more', (_what, seq) => {
    book.hear(report(5), 0, n);
    expect(book.hear(report(seq, clone), 300, n)).toEqual(['a', 'b']);
    expect([isTwo(300), isHealthyReporter(book.of('a'), 300, n)]).toEqual([true, false]);
    // What is told of it is what the first says; its own next word ends nothing.
    expect(book.of('a')?.report.bootId).toBe('boot-1');
    expect(book.hear(report(10), 1000, n)).toEqual([]);
    expect(isHealthyReporter(book.of('a'), 1000, n)).toBe(false);
  });

  it('tell the fleet once, and are two until the second has been silent for 10 s', () => {
    book.hear(report(5), 0, n);
    book.hear(report(6, clone), 300, n);
    expect(book.hear(report(7, clone), 700, n)).toEqual([]);
    for (let seq = 8; seq < 20; seq++) book.hear(report(seq), 1000 * (seq - 7), n);
    expect([isTwo(10_699), isTwo(10_700)]).toEqual([true, false]);
    expect(isHealthyReporter(book.of('a'), 10_700, n)).toBe(true);
  });

  it('leave each other’s life and farewell alone: the last word of the first is as old as it is', () => {
    book.hear(report(5), 0, n);
    book.hear(report(6, { ...clone, leaving: { kind: 'stop', bootId: 'boot-2' } }), 4000, n);
    expect(book.of('a')).toMatchObject({ at: 0, spokenAt: 0 });
    expect(book.of('a')?.leftAt).toBeUndefined();
  });

  it('are one again once the first has been silent for 10 s: then the second is believed, by a clock of its own', () => {
    for (let seq = 1; seq < 5; seq++) book.hear(report(seq, { sentMs: 900_000 + seq * 1000 }), seq * 1000, n);
    for (let seq = 1; seq < 11; seq++) book.hear(report(seq, { ...clone, sentMs: seq * 1000 }), 3900 + seq * 1000, n);
    expect([book.of('a')?.report.bootId, isTwo(13_900)]).toEqual(['boot-1', true]);
    expect(book.hear(report(11, { ...clone, sentMs: 11_000 }), 14_900, n)).toEqual(['a', 'b']);
    expect(book.of('a')).toMatchObject({ report: clone, at: 14_900, spokenAt: 14_900 });
    expect([isTwo(23_899), isTwo(23_900)]).toEqual([true, false]);
  });

  it('do not say goodbye for each other, where the second is believed after 10 s', () => {
    const leaving = { kind: 'stop', bootId: 'boot-1' } as const;
    book.hear(report(5, { leaving }), 0, n);
    book.hear(report(6, { ...clone, leaving }), 12_000, n);
    expect(book.of('a')?.leftAt).toBe(12_000);
  });

  /** Reports of one process, each period and at once on change, over several networks: late, doubled, in any order. */
  const heardOf = (process: Partial<Report>, firstSeq: number, from: number, until: number) =>
    fc
      .array(fc.record({ late: fc.nat(500), copies: fc.integer({ min: 1, max: 3 }), early: fc.nat(400) }), {
        minLength: Math.floor((until - from) / 1000),
        maxLength: Math.floor((until - from) / 1000),
      })
      .map((sent) =>
        sent.flatMap(({ late, copies, early }, i) =>
          Array.from({ length: copies }, (_, c) => ({
            at: from + i * 1000 - early + late * (c + 1),
            report: report(firstSeq + i, process),
          })),
        ),
      );
  const inTurn = <T extends { at: number }>(...streams: T[][]): T[] => streams.flat().sort((a, b) => a.at - b.at);

  it('are two from the first word of the second to the last of either, however late, doubled and reordered they come', () => {
    const epoch = 7;
    fc.assert(
      fc.property(
        heardOf({ epoch }, 1, 1000, 30_000),
        fc.nat(50).chain((seq) => heardOf({ epoch, ...clone }, seq, 6000, 30_000)),
        (first, second) => {
          book = new ReportBook();
          let met = false;
          for (const { at, report: r } of inTurn(first, second)) {
            book.hear(r, at, n);
            // By the order in which they come: one of the first may come in the same millisecond, before it.
            met ||= r.bootId === clone.bootId;
            if (met) expect([at, isHealthyReporter(book.of('a'), at, n)]).toEqual([at, false]);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it('stay two when the first is restarted, though the other one’s reports bear lower numbers than its last', () => {
    const at = (i: number): number => 1000 * i;
    for (let i = 0; i < 20; i++) {
      book.hear(report(2000 + i, { epoch: 7 }), at(i), n);
      book.hear(report(100 + i, { epoch: 7, ...clone }), at(i) + 300, n);
    }
    for (let i = 20; i < 60; i++) {
      book.hear(report(i, { epoch: 8 }), at(i), n);
      if (i < 50) book.hear(report(100 + i, { epoch: 7, ...clone }), at(i) + 300, n);
      if (i < 50) expect([i, isTwo(at(i) + 999)]).toEqual([i, true]);
    }
    expect(isTwo(at(60))).toBe(false);
  });

  it('are never seen in one that restarts and reboots, whatever comes late: each start has a greater epoch', () => {
    fc.assert(
      fc.property(
        heardOf({ epoch: 1 }, 1, 1000, 8000),
        heardOf({ epoch: 2 }, 1, 8000, 14_000),
        heardOf({ epoch: 3, ...clone }, 1, 18_000, 30_000),
        (...lives) => {
          book = new ReportBook();
          for (const { at, report: r } of inTurn(...lives)) {
            book.hear(r, at, n);
            expect([at, isTwo(at)]).toEqual([at, false]);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

describe('how an observer counts', () => {
  const vote = (r: Report, now = 100, networks = NETWORKS, out: string[] = []): ReturnType<typeof voteOf> => {
    const book = new ReportBook();
    book.hear(r, 0, n);
    return voteOf('a', book.of('a'), 'b', networks, now, n, new Set(out));
  };
  /** It cannot send to these on these networks. */
  const unsent = (peers: string[], ...on: string[]): Pick<Report, 'health'> => ({
    health: {
      abstain: false,
      sendErrors: {},
      loopGapMs: 1,
      unsent: Object.fromEntries(on.map((o) => [o, { peers, probes: 9, forMs: 4500, error: 'ENETUNREACH' }])),
    },
  });
  const nothingLeavesOn = (backend: number): Pick<Report, 'health'> => ({
    health: { abstain: false, sendErrors: { backend, management: 0 }, loopGapMs: 1 },
  });

  it.each<[string, Report, string, boolean]>([
    ['silent on every shared network', report(1, {}, seen(6, 6)), 'accuses', true],
    ['silent on one', report(1, {}, seen(6, 0)), 'hears', false],
    ['missing on both', report(1, {}, seen(3, 6)), 'absent', true],
    [
      'nothing known yet',
      report(1, {}, [
        [
          'b',
          [
            [0, -1],
            [0, -1],
          ],
        ],
      ]),
      'absent',
      false,
    ],
    ['does not watch it', report(1, {}, []), 'absent', false],
    ['abstains', report(1, { health: { abstain: true, sendErrors: {}, loopGapMs: 1 } }, seen(6, 6)), 'absent', false],
    [
      'cannot send on one network',
      report(1, { health: { abstain: false, sendErrors: { backend: 3 }, loopGapMs: 1 } }, seen(6, 6)),
      'absent',
      false,
    ],
    ['is leaving', report(1, { leaving: { kind: 'stop', bootId: 'boot-1' } }, seen(6, 6)), 'absent', false],
  ])('%s', (_what, r, stance, suspects) => {
    expect(vote(r)).toMatchObject({ stance, suspects });
  });

  it.each<[string, Report, string, string[]]>([
    [
      'heard on one network, where it cannot send on the other',
      report(1, unsent(['b'], 'backend'), seen(6, 0)),
      'hears',
      ['management'],
    ],
    ['heard before it could no longer send, on both', report(1, unsent(['b'], ...NETWORKS), seen(0, 0)), 'absent', []],
    ['heard before it could no longer send, on one', report(1, unsent(['b'], 'backend'), seen(0, 6)), 'absent', []],
    [
      'silent on both, of which on one it cannot send to it',
      report(1, unsent(['b'], 'backend'), seen(6, 6)),
      'absent',
      [],
    ],
    [
      'silent on both, and it cannot send there to another',
      report(1, unsent(['c'], 'backend'), seen(6, 6)),
      'accuses',
      [],
    ],
  ])('says nothing where it cannot send: %s', (_what, r, stance, heardOn) => {
    expect(vote(r)).toMatchObject({ stance, heardOn, suspects: stance === 'accuses' });
  });

  it('where a network is out for most, reports it down by the others if it cannot send there itself, and only then', () => {
    const both = report(1, nothingLeavesOn(9), seen(0, 6));
    expect(vote(both)).toMatchObject({ stance: 'absent', suspects: false, muteOn: ['backend'] });
    expect(vote(both, 100, NETWORKS, ['backend'])).toMatchObject({ stance: 'accuses', suspects: true });
    expect(vote(report(1, nothingLeavesOn(9), seen(0, 0)), 100, NETWORKS, ['backend']).stance).toBe('hears');
    expect(vote(report(1, nothingLeavesOn(9), seen(0, 3)), 100, NETWORKS, ['backend']).stance).toBe('absent');
    // It can send there, and hears it, or does not know yet.
    expect(vote(report(1, {}, seen(0, 6)), 100, NETWORKS, ['backend'])).toMatchObject({
      stance: 'hears',
      suspects: false,
    });
    const unknown = report(1, {}, [
      [
        'b',
        [
          [0, -1],
          [6, -1],
        ],
      ],
    ]);
    expect(vote(unknown, 100, NETWORKS, ['backend'])).toMatchObject({ stance: 'absent', suspects: false });
    // Nothing is left to judge by.
    expect(vote(both, 100, ['backend'], ['backend'])).toMatchObject({ stance: 'absent', suspects: false });
  });

  it('a network is out by the word of more than half, and of two at least', () => {
    const words = (said: Report[], quiet = 0): MemberWord[] => [
      ...said.map((r) => ({ networks: NETWORKS, report: r })),
      ...Array.from({ length: quiet }, () => ({ networks: NETWORKS })),
    ];
    const said = (mute: number, of: number): Report[] =>
      Array.from({ length: of }, (_, i) => report(1, nothingLeavesOn(i < mute ? 3 : 0)));
    const fleet = (mute: number, of: number, quiet = 0): string[] =>
      [...networksOut(words(said(mute, of), quiet))].sort();
    expect([fleet(1, 1), fleet(1, 2), fleet(2, 4), fleet(2, 5)]).toEqual([[], [], [], []]);
    expect([fleet(2, 2), fleet(2, 3), fleet(3, 5), fleet(5, 5)]).toEqual(Array(4).fill(['backend']));
    const toOne = Array.from({ length: 5 }, () => report(1, unsent(['b'], 'backend')));
    expect([...networksOut(words(toOne))]).toEqual([]);
    // Who says nothing counts, and those who have not got the network do not; who speaks of one it has not is not asked.
    expect([fleet(2, 3, 1), fleet(3, 5, 4), fleet(2, 2, 1), fleet(5, 5, 4)]).toEqual([
      [],
      [],
      ['backend'],
      ['backend'],
    ]);
    const elsewhere = { networks: ['management'], report: report(1) };
    expect([...networksOut([...words(said(2, 3)), elsewhere, elsewhere])]).toEqual(['backend']);
    expect([...networksOut(words(said(3, 5)).map((w) => ({ ...w, networks: ['management'] })))]).toEqual([]);
  });

  it('a network is not out for one that somebody hears there', () => {
    const hears = vote(report(1, {}, seen(0, 6)));
    const out = new Set(['backend', 'management']);
    expect([...outFor(out, [vote(report(1, {}, seen(6, 6))), hears])]).toEqual(['management']);
    expect(outFor(out, [vote(report(1, nothingLeavesOn(3), seen(0, 6)))])).toEqual(out);
  });

  it('is news of whom it can no longer send to, and can again', () => {
    const book = new ReportBook();
    book.hear(report(1, {}, seen(0, 0)), 0, n);
    expect(book.hear(report(2, unsent(['b'], 'backend'), seen(0, 0)), 100, n)).toEqual(['b']);
    expect(book.hear(report(3, unsent(['b'], 'backend'), seen(0, 0)), 200, n)).toEqual([]);
    expect(book.hear(report(4, {}, seen(0, 0)), 300, n)).toEqual(['b']);
  });

  it('is absent with a stale report, and judges by the shared networks only', () => {
    expect(vote(report(1, {}, seen(6, 6)), n.freshness + 1).stance).toBe('absent');
    expect(vote(report(1, {}, seen(0, 6)), 100, ['management']).stance).toBe('accuses');
    expect(vote(report(1, {}, seen(6, 6)), 100, ['storage']).stance).toBe('absent');
  });
});
