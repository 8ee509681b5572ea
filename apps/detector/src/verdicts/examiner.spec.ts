import { describe, expect, it } from 'vitest';
import { DetectionProfiles, type LinkObservation, type Report } from '#contracts';
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
    targets: new Map(),
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
  const found = sut.examine(target, { now, listeningSince: 0, reporters, out, witness: false, witnessAt: '' });
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

describe('a network on which most members cannot send', () => {
  const NETWORKS = ['backend', 'management'];
  const two = (node: string, mute: boolean, backend: LinkObservation): Report => ({
    ...report(node, [['x', [backend, [9, -1]]]], { backend: mute ? 9 : 0, management: 0 }),
    networks: NETWORKS,
  });
  /** Nobody hears x by management; the last of those that speak can send on the backend. */
  const examined = (members: string[], speak: string[], last: LinkObservation, polled?: string) => {
    const target = (name: string) => ({ record: { name }, networks: NETWORKS }) as unknown as WatchedTarget;
    const fleet = {
      settings: { detection },
      members,
      targets: new Map(members.map((m) => [m, target(m)])),
      polls: polled !== undefined,
      observersOf: () => members.filter((m) => m !== 'x' && m !== polled),
    } as unknown as FleetView;
    const book = new ReportBook();
    speak.forEach((node, i) => {
      const isLast = i === speak.length - 1;
      book.hear(two(node, !isLast, isLast ? last : [0, -1]), now, detection);
    });
    const sut = new Examiner(
      fleet,
      book,
      { state: () => 'silent', evidence: () => undefined },
      {
        drawnFor: () => [polled ?? ''],
        wordOf: () => ({ at: now, epoch: 1, abstain: false, networks: { backend: { sent: 3, answered: 1 } } }),
      },
    );
    const reporters = sut.reporters(now);
    const out = sut.networksOut(reporters);
    return sut.examine(target('x'), { now, listeningSince: -9000, reporters, out, witness: false, witnessAt: '' });
  };

  it('is out by the word of most members, not of most that report', () => {
    const { facts, tally } = examined(['x', 'a', 'b', 'c'], ['a', 'b', 'c'], [9, -1]);
    expect([facts.out, facts.votes.map((v) => v.stance), tally.down]).toEqual([
      [],
      ['absent', 'absent', 'accuses'],
      false,
    ]);
  });

  it('is not out for one that somebody hears there, and is for one that nobody does', () => {
    const members = ['x', 'a', 'b', 'c', 'd'];
    const heard = examined(members, ['a', 'b', 'c', 'd'], [0, 300]);
    expect([heard.facts.out, heard.facts.votes.map((v) => v.stance), heard.tally.down]).toEqual([
      [],
      ['absent', 'absent', 'absent', 'hears'],
      false,
    ]);
    const asked = examined(members, ['a', 'b', 'c', 'd'], [9, -1], 'd');
    expect([asked.facts.out, asked.facts.votes.map((v) => v.stance), asked.facts.polled?.map((v) => v.stance)]).toEqual(
      [[], ['absent', 'absent', 'absent'], ['hears']],
    );
    const dead = examined(members, ['a', 'b', 'c', 'd'], [9, -1]);
    expect([dead.facts.out, dead.tally.accusers, dead.tally.down]).toEqual([['backend'], 4, true]);
  });
});
