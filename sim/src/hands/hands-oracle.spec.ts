import { describe, expect, it } from 'vitest';
import { powerRecordOf, type BucketName, type IncidentRecord, type PowerCommand, type PowerVerb } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { Chassis } from './chassis.js';
import { HandsOracle, presentBounds } from './hands-oracle.js';
import { deviceOf, provenByGuid } from './hands-programs.js';
import type { ReadOutcome, SentCommand } from './played-power.js';

const TTL_MS = 5_000;
const device = deviceOf('n-1', 0);

/** An oracle and the machine n-1, which is on; its time begins at 1 s. */
function world(o: { owesOn?: boolean } = {}) {
  let nowMs = 1_000;
  const chassis = new Chassis('n-1', () => nowMs);
  const oracle = new HandsOracle({
    now: () => nowMs,
    chassis: new Map([['n-1', chassis]]),
    bounds: presentBounds,
    owesOn: () => o.owesOn === true,
    intended: () => undefined,
  });
  let revision = 0;
  const store = (bucket: BucketName, key: string, record: object): void =>
    oracle.stored(bucket, key, JSON.stringify(record), ++revision);
  /** @param holder empty: its process gives it back */
  const lease = (key: string, process: string, token: number, holder = process): void =>
    store('leases', key, { holder, token, nonce: `${process}.1`, ttlMs: TTL_MS });
  const incident = (o: Partial<IncidentRecord>): void =>
    store('incidents', 'n-1', powerRecordOf(anIncident('n-1', { phase: 'fencing', epoch: 10, ...o })));
  return {
    ...{ oracle, chassis, store, lease, incident },
    loseLast: (writes: number): void => void (revision -= writes),
    waits: (ms: number): number => (nowMs += ms),
    nowMs: (): number => nowMs,
    broken: (): string[] => oracle.violations.map((v) => v.rule),
  };
}

const command = (verb: PowerVerb, o: Partial<PowerCommand> = {}): PowerCommand => ({
  ...{ n: 1, epoch: 10, fencer: 'f-1', level: 0, device: device.id, verb, at: 1 },
  ...o,
});

describe('two holders of a lease', () => {
  const taken = (afterMs: number, between: (w: ReturnType<typeof world>) => void = () => undefined): string[] => {
    const w = world();
    w.lease('fencer', 'f-1', 10);
    between(w);
    w.waits(afterMs);
    w.lease('fencer', 'f-2', 20);
    return w.broken();
  };

  it('break a rule where one takes it while the other is valid by its last write', () => {
    expect(taken(TTL_MS * 0.85 - 1)).toEqual(['two-holders']);
    expect(taken(TTL_MS * 0.85)).toEqual([]);
  });

  it('break none where the first has given it back, or has only renewed it', () => {
    expect(taken(0, (w) => w.lease('fencer', 'f-1', 10, ''))).toEqual([]);
    const w = world();
    w.lease('fencer', 'f-1', 10);
    w.lease('fencer', 'f-1', 10);
    expect(w.broken()).toEqual([]);
  });

  it('break none by a write that the server has lost, and the rule where both are told that they hold it', () => {
    const w = world();
    w.lease('fencer', 'f-1', 10);
    w.loseLast(1);
    w.lease('fencer', 'f-2', 20);
    expect(w.broken()).toEqual([]);
    w.oracle.leaseAcquired('fencer', 'f-1', 10, []);
    expect(w.broken()).toEqual([]);
    w.oracle.leaseAcquired('fencer', 'f-2', 20, ['f-1']);
    expect(w.broken()).toEqual(['two-holders']);
  });
});

describe('a token', () => {
  const acquired = (...tokens: number[]): string[] => {
    const { oracle, broken } = world();
    for (const token of tokens) oracle.leaseAcquired('fencer', 'f-1', token, []);
    return broken();
  };
  const written = (...tokens: number[]): string[] => {
    const { lease, waits, broken } = world();
    for (const token of tokens) {
      lease('fencer', `f-${token}`, token);
      waits(TTL_MS);
    }
    return broken();
  };
  const epochs = (...records: Partial<IncidentRecord>[]): string[] => {
    const { incident, broken } = world();
    for (const record of records) incident(record);
    return broken();
  };

  it('grows with each that holds the lease, or breaks a rule', () => {
    expect(acquired(10, 11)).toEqual([]);
    expect(acquired(10, 10)).toEqual(['token-back']);
    expect(acquired(10, 9)).toEqual(['token-back']);
  });

  it('does not go back in the record of the lease, but in that of a job which was deleted', () => {
    expect(written(10, 11)).toEqual([]);
    expect(written(10, 9)).toEqual(['token-back']);
    const anew = (key: string): string[] => {
      const { oracle, lease, broken } = world();
      lease(key, 'p-1', 10);
      oracle.stored('leases', key, '', 2);
      lease(key, 'p-1', 5);
      return broken();
    };
    expect(anew('job=job-1')).toEqual([]);
    expect(anew('fencer')).toEqual(['token-back']);
  });

  it('does not go back in an incident, and another incident has its own', () => {
    expect(epochs({ epoch: 10 }, { epoch: 11 })).toEqual([]);
    expect(epochs({ epoch: 10 }, { epoch: 9 })).toEqual(['token-back']);
    expect(epochs({ epoch: 10 }, { epoch: 9, id: 'i-2' })).toEqual([]);
  });
});

/** An off of n-1 with its intent, by the leader f-1. */
const sendsOff = (
  w: ReturnType<typeof world>,
  o: Partial<SentCommand> = {},
  intent: Partial<PowerCommand> = {},
): void => {
  w.incident({ commands: [command('off', intent)] });
  w.oracle.commandSent('n-1', {
    ...{ fencer: 'f-1', device, verb: 'off', machine: 'n-1', begunMs: w.nowMs(), deadlineMs: w.nowMs() + 1 },
    ...o,
  });
};

describe('a command of an earlier epoch', () => {
  const sent = (epoch: number): string[] => {
    const w = world();
    w.lease('fencer', 'f-1', 10);
    w.waits(TTL_MS);
    w.lease('fencer', 'f-2', 20);
    sendsOff(w, { fencer: 'f-2' }, { fencer: 'f-2', epoch });
    return w.broken();
  };

  it('breaks a rule once a later one has begun', () => {
    expect(sent(19)).toEqual(['two-fencers']);
    expect(sent(20)).toEqual([]);
  });
});

describe('a command that leaves', () => {
  /** @param deadlineMs after it leaves */
  const sent = (deadlineMs: number, o: { isLed?: boolean; afterMs?: number } = {}): string[] => {
    const w = world();
    if (o.isLed !== false) w.lease('fencer', 'f-1', 10);
    w.waits(o.afterMs ?? 0);
    sendsOff(w, { deadlineMs: w.nowMs() + deadlineMs });
    return w.broken();
  };
  /** By the slowest clock, and with what the write took on its way. */
  const leasedMs = Math.floor((TTL_MS * 0.85) / 0.99 + 50);

  it('breaks a rule at its deadline, and none before', () => {
    expect(sent(0)).toEqual(['after-deadline']);
    expect(sent(1)).toEqual([]);
  });

  it('breaks it under a deadline that outlives the lease of its fencer', () => {
    expect(sent(leasedMs)).toEqual([]);
    expect(sent(leasedMs + 1)).toEqual(['after-deadline']);
    expect(sent(leasedMs, { afterMs: 1_000 })).toEqual(['after-deadline']);
    expect(sent(1, { isLed: false })).toEqual(['after-deadline']);
  });
});

describe('an off to a device that was proven by what it says', () => {
  const sent = (saidMsAgo: number | undefined, isProven = true): string[] => {
    const w = world();
    const node = aNode('n-1', { powerLevels: [[device]] });
    w.store(
      'nodes',
      'n-1',
      isProven ? { ...node, powerIdentity: { [device.id]: provenByGuid(device, w.chassis.guid) } } : node,
    );
    if (saidMsAgo !== undefined) w.oracle.identified('n-1', device, w.nowMs());
    w.waits(saidMsAgo ?? 0);
    w.lease('fencer', 'f-1', 10);
    sendsOff(w);
    return w.broken();
  };
  /** By the slowest clock, and with what the answer took on its way. */
  const freshMs = Math.floor(15_000 / 0.99 + 50);

  it('breaks a rule where it has not said who it is, or too long before', () => {
    expect(sent(undefined)).toEqual(['unread-off']);
    expect(sent(freshMs + 1)).toEqual(['unread-off']);
    expect(sent(freshMs)).toEqual([]);
  });

  it('breaks none where nothing that it says was ever proven', () => {
    expect(sent(undefined, false)).toEqual([]);
  });
});

describe('a proof of off', () => {
  const off: ReadOutcome = { told: 'off', wasOff: true, atMs: 900 };
  type Proof = NonNullable<IncidentRecord['proof']>;
  const byReads: Proof = { kind: 'read-back', at: 1, level: 0 };
  interface Proven {
    proof?: Proof;
    isOn?: boolean;
    owesOn?: boolean;
    /** Who has the reads. */
    reader?: string;
    between?: (w: ReturnType<typeof world>) => void;
  }
  const proven = (reads: readonly ReadOutcome[], o: Proven = {}): string[] => {
    const w = world(o);
    if (o.isOn !== true) w.chassis.switch(false, 'f-1');
    w.incident({});
    for (const read of reads) w.oracle.readEnded('n-1', o.reader ?? 'f-1', read);
    o.between?.(w);
    const commands = [command('status', { endedAt: 2 })];
    w.incident({ phase: 'fenced', proof: o.proof ?? byReads, commands });
    return w.broken();
  };

  it('breaks no rule where its fencer has read it as off twice, and it was', () => {
    expect(proven([off, off])).toEqual([]);
    expect(proven([{ ...off, told: 'on', wasOff: false }, off, off])).toEqual([]);
  });

  it.each<[string, readonly ReadOutcome[], Proven?]>([
    ['there is one read', [off]],
    ['the first read is not of off', [{ ...off, told: 'unknown' }, off]],
    ['the second read is not of off', [off, { ...off, told: 'on' }]],
    ['the machine was on at the first read', [{ ...off, wasOff: false }, off]],
    ['the machine was on at the second read', [off, { ...off, wasOff: false }]],
    ['another fencer has the reads', [off, off], { reader: 'f-2' }],
    ['its fencer has begun anew since', [off, off], { between: (w) => w.oracle.born('f-1') }],
    ['the machine is on', [off, off], { isOn: true }],
    ['its BMC has yet to carry out an on', [off, off], { owesOn: true }],
  ])('breaks one where %s', (_why, reads, o) => {
    expect(proven(reads, o)).toEqual(['false-proof']);
  });

  it('is excused where a person has switched the machine on after the second read, and not before', () => {
    const byHand = (atMs: number): string[] => {
      const read = { ...off, atMs };
      return proven([read, read], { between: ({ chassis }) => chassis.switch(true, 'by hand') });
    };
    expect(byHand(1_000)).toEqual([]);
    expect(byHand(1_001)).toEqual(['false-proof']);
  });

  it('by the word of a person rests on no read', () => {
    expect(proven([], { isOn: true, proof: { kind: 'manual', at: 1, by: 'eve', reason: 'seen' } })).toEqual([]);
  });

  it('is undone by what switches the machine on and was ordered before it, which breaks a rule', () => {
    const switched = (on: boolean, sentMs: number, isProven = true): string[] => {
      const w = world();
      w.chassis.switch(false, 'f-1');
      w.incident({});
      for (const read of [off, off]) w.oracle.readEnded('n-1', 'f-1', read);
      const commands = [command('status', { endedAt: 2 })];
      if (isProven) w.incident({ phase: 'fenced', proof: byReads, commands });
      w.oracle.switched('n-1', on, sentMs, 'f-1');
      return w.broken();
    };
    expect(switched(true, 999)).toEqual(['proof-undone']);
    expect(switched(true, 1_000)).toEqual([]);
    expect(switched(false, 999)).toEqual([]);
    expect(switched(true, 999, false)).toEqual([]);
  });
});

describe('a job that is run', () => {
  it('breaks a rule where it runs twice at once, and none one after the other', () => {
    const runs = (isFirstOver: boolean, job = 'job-1'): string[] => {
      const { oracle, broken } = world();
      const ends = oracle.runBegins('job-1', 'p-1', 'site');
      if (isFirstOver) ends('exit');
      oracle.runBegins(job, 'p-2', 'site');
      return broken();
    };
    expect(runs(false)).toEqual(['job-twice']);
    expect(runs(true)).toEqual([]);
    expect(runs(false, 'job-2')).toEqual([]);
  });

  it('breaks it where its generation goes back, or it goes on after its end', () => {
    const written = (...jobs: { generation: number; status: string }[]): string[] => {
      const { store, broken } = world();
      for (const job of jobs) store('jobs', 'job-1', { id: 'job-1', kind: 'check', nodes: ['n-1'], ...job });
      return broken();
    };
    const running = { generation: 2, status: 'Running' };
    expect(written(running, { ...running, generation: 3 })).toEqual([]);
    expect(written(running, { ...running, generation: 1 })).toEqual(['job-twice']);
    expect(written(running, { ...running, status: 'Complete' })).toEqual([]);
    expect(written({ ...running, status: 'Complete' }, running)).toEqual(['job-twice']);
  });
});
