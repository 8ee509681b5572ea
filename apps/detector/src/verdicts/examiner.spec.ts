import { describe, expect, it } from '@jest/globals';
import { DetectionProfiles, type Report } from '#contracts';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import { ReportBook } from '../observers/report-book.js';
import { Examiner } from './examiner.js';

const detection = DetectionProfiles.lan;
const now = 1_000;

const report = (node: string, peers: Report['peers'], sendErrors: Record<string, number> = {}): Report => ({
  v: 1,
  node,
  bootId: 'boot',
  epoch: 1,
  seq: 1,
  listVersion: 1,
  networks: ['management'],
  peers,
  workloads: [],
  health: { abstain: false, sendErrors, loopGapMs: 1 },
});

describe('what a verdict rests on', () => {
  const fleet = {
    settings: { detection },
    members: ['target', 'mute', 'mum', 'never'],
    polls: false,
    observersOf: () => ['mute', 'mum', 'never'],
  } as unknown as FleetView;
  const target = { record: { name: 'target' }, networks: ['management'] } as unknown as WatchedTarget;
  const book = new ReportBook();
  book.hear(report('mute', [['target', [[7, -1]]]], { management: 3 }), now - 300, detection);
  book.hear(report('mum', []), now - 200, detection);
  const sut = new Examiner(
    fleet,
    book,
    { state: () => 'unknown', evidence: () => undefined },
    { drawnFor: () => [], wordOf: () => undefined },
  );
  const reporters = sut.reporters(now);
  const out = sut.networksOut(reporters);
  const found = sut.examine(target, { now, listeningSince: 0, reporters, out, witness: false });
  const evidence = sut.evidence(target, found, now);

  it('names each of those that had to speak, also who never did', () => {
    expect(found.tally.assigned).toBe(3);
    expect(evidence.observers.map((o) => o.observer)).toEqual(['mute']);
    expect(evidence.wordless).toEqual([
      { observer: 'mum', why: 'no-word', reportAgeMs: 200 },
      { observer: 'never', why: 'never-heard' },
    ]);
  });

  it('says who cannot send, and whether the monitor was sighted', () => {
    expect(evidence.observers[0]).toMatchObject({ misses: 7, stance: 'absent', mute: true });
    expect(evidence).toMatchObject({ sighted: false, members: 4, sightedReporters: 2 });
  });
});
