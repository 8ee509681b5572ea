import { describe, expect, it } from 'vitest';
import { defaultStorm } from '#contracts';
import type { FencingReport } from '#contracts/incident/fencing-report.js';
import { fencingReport, type FencingFacts, type IncidentEvent } from './fencing-report.js';
import { operatorCancelText } from './operator-cancel-text.js';

type Event = FencingFacts['events'][number];
let at = 0;
const told = (
  incident: string,
  phase: IncidentEvent['phase'],
  gate?: IncidentEvent['gate'],
  detail = 'Its node is UP.',
): Event => ({
  at: (at += 1),
  data: { node: `n-${incident}`, incident, phase, detail, ...(gate && { gate }) },
});
const base: FencingFacts = {
  ...{ since: 0, mode: 'observe', events: [], settings: [], members: 20, limits: defaultStorm, now: 1_000_000_000 },
};
const report = (...events: Event[]): FencingReport => fencingReport({ ...base, events });
const shape = ({ fenced, wouldHaveFenced, wouldHaveStopped, stopped, failed, over, underWay }: FencingReport): string =>
  Object.entries({ fenced, wouldHaveFenced, wouldHaveStopped, stopped, failed, over, underWay })
    .flatMap(([what, lines]) => lines.map((l) => `${l.incident} ${what}${'gate' in l ? ` ${String(l.gate)}` : ''}`))
    .join(', ');

describe('what was decided about dead nodes', () => {
  it('is told of each incident once, by how far it came', () => {
    const events = [
      ...[told('a', 'open'), told('a', 'suppressed', 'LIFE_SIGN'), told('a', 'suppressed', 'OBSERVE')],
      ...[told('b', 'open'), told('b', 'fencing'), told('b', 'failed'), told('b', 'fenced'), told('b', 'closed')],
      ...[told('c', 'suppressed', 'CAP'), told('c', 'suppressed', 'BRAKE')],
      ...[told('d', 'fencing'), told('d', 'failed')],
      ...[told('e', 'open'), told('e', 'cancelled')],
      ...[told('f', 'open'), told('f', 'investigating')],
    ];
    expect(shape(report(...events))).toBe('b fenced, a wouldHaveFenced, c stopped BRAKE, d failed, e over, f underWay');
    const [line] = report(...events).wouldHaveFenced;
    expect(line).toEqual({ node: 'n-a', incident: 'a', at: 1 });
  });

  it('is told of one that has ended by its end, whatever gate had stopped it before', () => {
    const { over, stopped } = report(
      ...[told('a', 'suppressed', 'BRAKE'), told('a', 'fencing'), told('a', 'failed'), told('a', 'survived')],
      ...[told('b', 'suppressed', 'CAP'), told('b', 'cancelled', undefined, 'eve took it back: it is mine')],
      ...[told('c', 'suppressed', 'BRAKE'), told('c', 'cancelled')],
      ...[told('d', 'open'), told('d', 'cancelled')],
    );
    expect(stopped).toEqual([]);
    // Stored like this: what an earlier version has written is read, and an earlier version reads this one's.
    expect(operatorCancelText('eve', 'it is mine')).toBe('eve took it back: it is mine');
    expect(over).toMatchObject([
      { incident: 'a', gate: 'BRAKE', end: 'survived' },
      { incident: 'b', gate: 'CAP', end: 'taken-back', by: 'eve' },
      { incident: 'c', gate: 'BRAKE', end: 'by-verdict' },
      { incident: 'd', end: 'by-verdict' },
    ]);
  });

  it('is told of one that lived on after its off as that, though observing had stopped it before', () => {
    const events = [told('a', 'suppressed', 'OBSERVE'), told('a', 'fencing'), told('a', 'survived')];
    expect(shape(report(...events))).toBe('a over OBSERVE');
  });

  it('counts one that was fenced in spite of observing before as fenced', () => {
    expect(shape(report(told('a', 'suppressed', 'OBSERVE'), told('a', 'fenced')))).toBe('a fenced');
  });

  it('says since when it knows, where that is not the whole period', () => {
    const facts = { ...base, since: 10, mode: 'enforce' as const };
    expect(fencingReport({ ...facts, keptSince: 20 }).keptSince).toBe(20);
    expect(fencingReport({ ...facts, keptSince: 5 })).not.toHaveProperty('keptSince');
    expect(fencingReport(facts)).not.toHaveProperty('keptSince');
  });
});

describe('what mode observe has kept from being done', () => {
  const DAY = 86_400_000;
  const MIN = 60_000;
  const now = 100 * DAY;
  const month = { ...base, since: 70 * DAY, now };
  const step = (name: string, ms: number, phase: IncidentEvent['phase'], gate?: IncidentEvent['gate']): Event => ({
    at: ms,
    data: { node: name.replace(/-.*/, ''), incident: `i-${name}`, phase, detail: '', ...(gate && { gate }) },
  });
  const dead = (name: string, ms: number, lastsMs = MIN): Event[] => [
    step(name, ms, 'suppressed', 'OBSERVE'),
    step(name, ms + lastsMs, 'cancelled'),
  ];
  const sorted = (events: Event[]): Event[] => events.sort((a, b) => a.at - b.at);
  const changed = (ms: number, ...paths: string[]) => ({ at: ms, data: { changed: paths } });

  it('are of twelve deaths within ten minutes as many as CAP would have let through', () => {
    const events = sorted(Array.from({ length: 12 }, (_, n) => dead(`n${n}`, 90 * DAY + n * 30_000)).flat());
    const r = fencingReport({ ...month, events });
    expect(r.wouldHaveFenced.map((l) => l.node)).toEqual(['n0', 'n1', 'n2']);
    expect(r.wouldHaveStopped).toHaveLength(9);
    expect(new Set(r.wouldHaveStopped.map((l) => l.gate))).toEqual(new Set(['CAP']));
    expect(r.observing).toEqual({ since: 70 * DAY, atLeast: true, wouldHaveFenced: 3, wouldHaveStopped: 9 });
  });

  it('are all of them where they were still dead when CAP let the next ones pass', () => {
    const events = sorted(Array.from({ length: 12 }, (_, n) => dead(`n${n}`, 90 * DAY + n * 30_000, DAY)).flat());
    expect(fencingReport({ ...month, events }).wouldHaveFenced).toHaveLength(12);
    const soon = fencingReport({ ...month, now: 90 * DAY + 12 * MIN, events: events.filter((e) => e.data.gate) });
    expect(soon.wouldHaveFenced).toHaveLength(6);
  });

  it('are of one node that dies again and again as many as FLAPPING would have let through', () => {
    const events = [0, 1, 2, 3].flatMap((n) => dead(`a-${n}`, 90 * DAY + n * 2 * MIN));
    const limits = { ...defaultStorm, capAtLeast: 9 };
    expect(shape(fencingReport({ ...month, limits, events }))).toBe(
      'i-a-0 wouldHaveFenced, i-a-1 wouldHaveFenced, i-a-2 wouldHaveFenced, i-a-3 wouldHaveStopped FLAPPING',
    );
  });

  it('are counted with the permits that were given in enforce shortly before', () => {
    const real = ['x', 'y', 'z'].flatMap((n) => [step(n, 90 * DAY, 'fencing'), step(n, 90 * DAY + 10_000, 'fenced')]);
    const events = sorted([...real, ...dead('a', 90 * DAY + 5 * MIN)]);
    expect(shape(fencingReport({ ...month, events }))).toContain('i-a wouldHaveStopped CAP');
  });

  it('are those since the mode was set, where its change is kept', () => {
    const events = sorted([...dead('a', 75 * DAY), ...dead('b', 95 * DAY)]);
    const settings = [
      changed(80 * DAY, 'fencing.mode'),
      changed(91 * DAY, 'fencing.mode', 'fencing.paused'),
      changed(97 * DAY, 'detection.interval', 'fencing.storm.flaps'),
    ];
    const observing = { since: 91 * DAY, wouldHaveFenced: 1, wouldHaveStopped: 0 };
    expect(fencingReport({ ...month, settings, events }).observing).toEqual(observing);
    expect(fencingReport({ ...month, settings, events, keptSince: 60 * DAY }).observing).toEqual(observing);
  });

  it('are those since a power-off was ordered, where the event of a change of the mode was lost', () => {
    const real = [step('x', 92 * DAY, 'fencing'), step('x', 92 * DAY + 10_000, 'fenced')];
    const events = sorted([...dead('a', 75 * DAY), ...real, ...dead('b', 95 * DAY)]);
    const settings = [changed(80 * DAY, 'fencing.mode')];
    expect(fencingReport({ ...month, settings, events }).observing).toMatchObject({
      ...{ since: 92 * DAY, wouldHaveFenced: 1 },
    });
  });

  it('are at least so old as what is kept, where no change of the mode is', () => {
    const facts = { ...month, events: dead('b', 97 * DAY), keptSince: 95 * DAY };
    const observing = { since: 95 * DAY, atLeast: true, wouldHaveFenced: 1, wouldHaveStopped: 0 };
    expect(fencingReport(facts).observing).toEqual(observing);
    // Read from another end: settings were kept for longer than the incidents that were read.
    expect(fencingReport({ ...facts, settings: [changed(90 * DAY, 'fencing.mode')] }).observing).toEqual(observing);
  });

  it('are not told of mode enforce', () => {
    expect(fencingReport({ ...month, mode: 'enforce' })).not.toHaveProperty('observing');
  });
});
