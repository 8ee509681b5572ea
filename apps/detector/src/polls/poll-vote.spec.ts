import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { DetectionProfiles, type Report } from '#contracts';
import { ReportBook, type Heard } from '../observers/report-book.js';
import type { PollWord } from './poll-book.js';
import { readPollAnswer } from './poll-answer.js';
import { pollEvidenceOf, pollVoteOf } from './poll-vote.js';

const n = DetectionProfiles.lan;
const NETWORKS = ['backend', 'management'];
const silent = { sent: 3, answered: 0 };
const heard = { sent: 3, answered: 1 };

const reporter = (over: Partial<Report> = {}, at = 0): Heard => {
  const book = new ReportBook();
  const health = { abstain: false, sendErrors: {}, loopGapMs: 1 };
  const base = { v: 1 as const, node: 'o', bootId: 'b', epoch: 7, seq: 1, listVersion: 1 };
  book.hear({ ...base, networks: NETWORKS, peers: [], health, ...over }, at, n);
  return book.of('o') as Heard;
};
const word = (networks: PollWord['networks'], over: Partial<PollWord> = {}): PollWord => ({
  at: 0,
  epoch: 7,
  abstain: false,
  networks,
  ...over,
});
const stance = (w: PollWord | undefined, h: Heard | 'nobody' = reporter(), now = 100, of = NETWORKS): string =>
  pollVoteOf('o', h === 'nobody' ? undefined : h, w, of, now, n).stance;

describe('how a polled observer counts', () => {
  const all = { backend: silent, management: silent };

  it.each<[string, PollWord | undefined, string]>([
    ['nothing came back on any network', word(all), 'accuses'],
    ['it is heard on one', word({ backend: silent, management: heard }), 'hears'],
    ['it has not answered', undefined, 'absent'],
    ['it did not try one of the networks', word({ backend: silent }), 'absent'],
    ['it could send but one datagram on one', word({ ...all, backend: { sent: 1, answered: 0 } }), 'absent'],
    ['it could send none', word({ backend: { sent: 0, answered: 0 }, management: silent }), 'absent'],
    ['it tried nothing', word({}), 'absent'],
    ['its loop stood still meanwhile', word(all, { abstain: true }), 'absent'],
    ['another process of it answered than the one that reports', word(all, { epoch: 6 }), 'absent'],
  ])('%s', (_what, w, wanted) => {
    expect(stance(w)).toBe(wanted);
  });

  it('reports it down without a network on which most, and it as well, cannot send', () => {
    const health = { abstain: false, sendErrors: { backend: 9 }, loopGapMs: 1 };
    const said = (w: PollWord['networks'], h: Heard, out: string[]): string =>
      pollVoteOf('o', h, word(w), NETWORKS, 100, n, new Set(out)).stance;
    const mute = reporter({ health });
    expect(said({ management: silent }, mute, ['backend'])).toBe('accuses');
    expect(said({ management: silent }, mute, [])).toBe('absent');
    expect(said({ management: silent }, reporter(), ['backend'])).toBe('absent');
    expect(said({ management: heard }, mute, ['backend'])).toBe('hears');
    expect(said({ backend: heard, management: silent }, reporter(), ['backend'])).toBe('hears');
    expect(said({}, mute, NETWORKS)).toBe('absent');
  });

  it('is absent once its answer, or its last report, is older than the freshness', () => {
    expect(stance(word(all, { at: 0 }), reporter(), n.freshness)).toBe('accuses');
    expect(stance(word(all, { at: 0 }), reporter({}, 1000), n.freshness + 1)).toBe('absent');
    expect(stance(word(all, { at: n.freshness }), reporter(), n.freshness + 1)).toBe('absent');
    expect(stance(word({ backend: heard }, { at: 0 }), reporter({}, 1000), n.freshness + 1)).toBe('absent');
  });

  it('is absent while it abstains, leaves, or does not report at all', () => {
    expect(stance(word(all), 'nobody')).toBe('absent');
    const abstains = { abstain: true, sendErrors: {}, loopGapMs: 900 };
    expect(stance(word(all), reporter({ health: abstains }))).toBe('absent');
    expect(stance(word(all), reporter({ leaving: { kind: 'stop', bootId: 'b' } }))).toBe('absent');
  });

  it('goes by the networks that both have', () => {
    expect(stance(word({ management: silent }), reporter(), 100, ['management', 'storage'])).toBe('accuses');
    expect(stance(word({ storage: silent }), reporter(), 100, ['storage'])).toBe('absent');
  });

  it('leaves a trace in the evidence that says that it was polled', () => {
    const w = word({ backend: silent, management: heard });
    expect(pollEvidenceOf(pollVoteOf('o', reporter(), w, NETWORKS, 100, n), w, 100)).toEqual([
      { observer: 'o', network: 'backend', misses: 3, reportAgeMs: 100, stance: 'hears', polled: true },
      { observer: 'o', network: 'management', misses: 0, reportAgeMs: 100, stance: 'hears', polled: true },
    ]);
  });
});

describe('the answer to a poll', () => {
  const good = {
    node: 'o',
    epoch: 1,
    abstain: false,
    targets: [{ name: 't', networks: { backend: { sent: 3, answered: 0 } } }],
  };

  it('is read as it is meant', () => {
    expect(readPollAnswer(good, 'o')).toEqual(good);
  });

  it.each<[string, unknown]>([
    ['another node speaks', { ...good, node: 'p' }],
    [
      'more was answered than sent',
      { ...good, targets: [{ name: 't', networks: { backend: { sent: 1, answered: 2 } } }] },
    ],
    ['a count is no count', { ...good, targets: [{ name: 't', networks: { backend: { sent: -1, answered: -1 } } }] }],
    ['a network is a list', { ...good, targets: [{ name: 't', networks: [] }] }],
    ['abstain is missing', { ...good, abstain: undefined }],
    ['the epoch is a text', { ...good, epoch: '1' }],
    ['the targets are too many', { ...good, targets: Array.from({ length: 65 }, () => good.targets[0]) }],
    ['nothing came', undefined],
    ['an error came', { ok: false, code: 'INTERNAL', message: '' }],
  ])('is nothing where %s', (_what, x) => {
    expect(readPollAnswer(x, 'o')).toBeUndefined();
  });

  it('is nothing for anything else that is JSON, and never an exception', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (x) => {
        expect(readPollAnswer(x, 'o')).toBeUndefined();
      }),
    );
  });
});
