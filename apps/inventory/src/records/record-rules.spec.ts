import { describe, expect, it } from 'vitest';
import { defaultFencing, type UnreadableRecord } from '#contracts';
import { recordAlarms, refusedDeletion, type DeletionFacts } from './record-rules.js';

const record = (o: Partial<UnreadableRecord>): UnreadableRecord => ({
  bucket: 'nodes',
  key: 'n-1',
  revision: 5,
  why: 'it is not JSON',
  ...o,
});
const enforce = { ...defaultFencing, mode: 'enforce' as const };
const facts: DeletionFacts = {
  jobs: [],
  fencing: enforce,
  now: 1_000,
  knownMs: 60_000,
  speaks: () => true,
  force: false,
};
const silent = { speaks: () => false };

describe('deleting what cannot be read', () => {
  it.each([
    [
      'reservations while a job has not ended',
      { bucket: 'admission', key: 'reservations' },
      {
        jobs: [{ id: 'job-1', status: 'Complete', settled: false }],
      },
    ],
    ['permits while fencing may go on', { bucket: 'admission', key: 'permits' }, {}],
    ['a lease that somebody may still hold', { bucket: 'leases', key: 'fencer' }, { knownMs: 29_000 }],
    ['the incident of a node that is silent', { bucket: 'incidents' }, silent],
    ['permits that are not known to be idle, with force too', { bucket: 'admission', key: 'permits' }, { force: true }],
  ] as [string, Partial<UnreadableRecord>, Partial<DeletionFacts>][])('is refused: %s', (_what, r, f) => {
    expect(refusedDeletion(record(r), { ...facts, ...f })?.code).toBe('ILLEGAL_TRANSITION');
  });

  it.each([
    ['a node', {}, silent],
    ['the incident of a node that speaks', { bucket: 'incidents' }, { speaks: (node: string) => node === 'n-1' }],
    ['the incident of a node that is silent, with force', { bucket: 'incidents' }, { ...silent, force: true }],
    [
      'reservations when every job is settled',
      { bucket: 'admission', key: 'reservations' },
      {
        jobs: [{ id: 'job-1', status: 'Complete', settled: true }],
      },
    ],
    [
      'permits during a pause',
      { bucket: 'admission', key: 'permits' },
      {
        fencing: { ...enforce, paused: { until: 2_000, reason: 'r', by: 'b' } },
      },
    ],
    ['a lease that nobody has overwritten', { bucket: 'leases', key: 'x' }, { knownMs: 31_000 }],
    ['a key of no program', { bucket: 'leases', key: 'a.b', foreign: true }, { knownMs: 0 }],
  ] as [string, Partial<UnreadableRecord>, Partial<DeletionFacts>][])('is taken: %s', (_what, r, f) => {
    expect(refusedDeletion(record(r), { ...facts, ...f })).toBeUndefined();
  });
});

it('names what to verify before the incident of a silent node is deleted, and the way to do it', () => {
  const r = record({ bucket: 'incidents' });
  expect(refusedDeletion(r, { ...facts, ...silent })).toMatchObject({
    message:
      'n-1 is silent, and what its incident has in doubt is gone with the record: see that it is off, or what it runs, then repeat it with force',
    facts: { bucket: 'incidents', key: 'n-1' },
  });
});

describe('alarms of records that cannot be read', () => {
  it('say what is wrong, what follows, and the command', () => {
    expect(recordAlarms([record({ bucket: 'incidents' })])).toEqual([
      {
        code: 'record-unreadable',
        subject: 'incidents=n-1',
        severity: 'critical',
        message:
          "The record incidents/n-1 cannot be read: it is not JSON. Its node counts as having an open incident: nothing is started there, and it is not powered off. While it is silent, what it may have run is started nowhere. Before you delete it, see what the node runs, or that it is off: what proved it off, and what was in doubt of that, is gone with it. While the node is silent that takes --force. Look at it, then: muster record delete incidents 'n-1' --reason …",
      },
    ]);
  });

  it('are bounded, and of a key that could not be part of an alarm’s own', () => {
    const many = Array.from({ length: 500 }, (_, i) => record({ key: `zzz $${i}`, foreign: true }));
    const alarms = recordAlarms(many);
    expect(alarms).toHaveLength(21);
    expect(alarms.every((a) => /^[-_=~.a-zA-Z0-9]+$/.test(a.subject))).toBe(true);
  });
});
