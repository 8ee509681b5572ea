import { describe, expect, it } from 'vitest';
import {
  alarmKey,
  defaultSettings,
  defaultStorm,
  PERMITS_KEY,
  POWER_QUARANTINE_MS,
  powerRecordOf,
  RESERVATIONS_KEY,
  SETTINGS_KEY,
  type AlarmCode,
  type AlarmRecord,
  type BucketName,
  type ClaimRecord,
  type FencingSettings,
  type GateCode,
  type Hold,
  type IncidentRecord,
  type NodeRecord,
  type Permits,
  type PlanItem,
  type PowerCommand,
  type PowerDevice,
  type Reservations,
  type StormTrip,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import type { Chassis } from '../hands/chassis.js';
import { deviceOf } from '../hands/hands-programs.js';
import { presentBounds } from '../hands/hands-oracle.js';
import { FleetOracle } from './fleet-oracle.js';
import type { PlayedHost } from './played-host.js';

interface Played {
  silent?: readonly string[];
  hung?: readonly string[];
  brokers?: readonly string[];
  bootSinceMs?: number;
  /** Of the power of n-1. */
  changes?: Chassis['changes'];
  /** The power of n-1 is on. */
  isOn?: boolean;
  /** Machines whose boot starts something without asking. */
  ungated?: readonly string[];
  /** Machines that are set up otherwise than they should be. */
  drifted?: readonly string[];
  /** More machines, which speak. */
  others?: readonly string[];
  /** Node → the one whose power its device switches. */
  wires?: Readonly<Record<string, string>>;
  isBlind?: boolean;
  /** The monitor's word of a machine that does not speak. */
  verdict?: VerdictKind;
  /** Nobody has conducted yet. */
  isUnconducted?: boolean;
}

const conductor = { holder: 'inventory-1', token: 1, nonce: 'i-1.1', ttlMs: 5_000 };

/** An oracle, and two machines that speak unless said otherwise; fencing is enforced. */
function world(o: Played = {}) {
  const {
    silent = [],
    hung = [],
    brokers = [],
    others = [],
    wires = {},
    isBlind = false,
    verdict = 'DOWN',
    bootSinceMs = 0,
  } = o;
  const isSilent = (name: string): boolean => silent.includes(name) || hung.includes(name);
  // Whoever conducts has done so for long enough to have heard all that is reported.
  let nowMs = -10_000;
  const oracle = new FleetOracle({
    now: () => nowMs,
    chassis: new Map([['n-1', { changes: o.changes ?? [], on: o.isOn } as Chassis]]),
    bounds: presentBounds,
    owesOn: () => false,
    intended: () => undefined,
    hosts: new Map(
      ['n-1', 'n-2', ...others].map((name) => [
        name,
        {
          ...{ name, speaks: !isSilent(name), isHung: hung.includes(name), bootId: 'boot-1', bootSinceMs },
          ...{ startsUngated: o.ungated?.includes(name) === true, drifted: o.drifted?.includes(name) === true },
          state: 'up',
        } as PlayedHost,
      ]),
    ),
    brake: 2,
    isCalledUp: (node) => !isSilent(node),
    noQuorum: () => (isBlind ? 'the monitor has no quorum' : undefined),
    notCalledDead: () => (verdict === 'DOWN' ? undefined : `the monitor says ${verdict}`),
    brokers,
    machineOf: (node) => wires[node] ?? node,
    wallOf: () => 1_000,
    phase: () => undefined,
  });
  // That much later a pause ends.
  const pause = (): void => oracle.paused(2_000);
  let revision = 0;
  const store = (bucket: BucketName, key: string, record: object): void =>
    oracle.stored(bucket, key, JSON.stringify(record), ++revision);
  const remove = (bucket: BucketName, key: string): void => oracle.stored(bucket, key, '', ++revision);
  const loseLast = (writes: number): void => void (revision -= writes);
  const broken = (): string[] => oracle.violations.map((v) => v.rule);
  const fencing = (o: Partial<FencingSettings> = {}): void => {
    const settings = defaultSettings('c');
    store('settings', SETTINGS_KEY, { ...settings, fencing: { ...settings.fencing, mode: 'enforce', ...o } });
  };
  const waits = (ms: number): number => (nowMs += ms);
  if (o.isUnconducted !== true) store('leases', 'conductor', conductor);
  nowMs = 1_000;
  fencing();
  for (const name of ['n-1', 'n-2', ...others]) store('nodes', name, aNode(name));
  for (const name of [...silent, ...hung]) oracle.speaks(name, false);
  return { oracle, store, remove, loseLast, broken, pause, fencing, waits };
}

const anAlarm = (code: AlarmCode, subject: string): AlarmRecord => ({
  ...{ code, subject, severity: 'critical', message: `${code} of ${subject}`, since: 1, count: 1 },
});
const assigned: WorkloadRecord = aWorkload('w1', { assignment: { node: 'n-1', generation: 1 }, generation: 1 });

describe('an off to a machine that is in a storm', () => {
  const all = ['n-1', 'n-2', 'n-3'];
  const off = (
    o: Partial<IncidentRecord>,
    cordoned: string[] = [],
    trips: object[] = [],
    called: string[] = all,
    unjudged: string[] = [],
  ): string[] => {
    const { oracle, store, broken, waits } = world({ others: ['n-3'] });
    oracle.stormBegins(all);
    for (const name of called) oracle.called(name, 'SUSPECT');
    for (const name of unjudged) oracle.called(name, 'UNKNOWN');
    for (const name of cordoned)
      store('nodes', name, aNode(name, { cordon: { by: 'eve', reason: 'wanted', at: 1, drain: false } }));
    store('admission', PERMITS_KEY, { granted: [], trips });
    waits(5_000);
    store('incidents', 'n-1', anIncident('n-1', { phase: 'fencing', ...o }));
    const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };
    oracle.commandSent('n-1', {
      ...{ fencer: 'f-1', device, verb: 'off', machine: 'n-1' },
      begunMs: 6_000,
      deadlineMs: 9_000,
    });
    return broken().filter((rule) => rule === 'storm-off');
  };
  const released = { by: 'eve', reason: 'seen', at: 1, force: false };

  it.each<[string, Partial<IncidentRecord>]>([
    ['by a verdict', {}],
    ['by hand, of one that is silent', { cause: 'manual', by: 'eve', wantedAt: 'DOWN' }],
    ['past another gate', { released: { ...released, gates: ['LIFE_SIGN'] } }],
  ])('breaks a rule: %s', (_how, o) => {
    expect(off(o)).toEqual(['storm-off']);
  });

  it('is none where so many of it were cordoned that the rest is no storm, and the product knows of none', () => {
    expect(off({}, ['n-3'])).toEqual([]);
    const trip = { id: 's-1', cause: 'brake', at: 1, members: { 'n-2': {} } };
    expect(off({}, ['n-3'], [trip])).toEqual(['storm-off']);
  });

  it('is none where the monitor was away, and has called no more of it silent than may be', () => {
    expect(off({}, [], [], ['n-1', 'n-2'])).toEqual([]);
    // Between two that it called silent the monitor judged nobody.
    expect(off({}, [], [], all, ['n-3'])).toEqual([]);
  });

  it('is excused where a person wants it off who hears it', () => {
    expect(off({ cause: 'manual', by: 'eve', wantedAt: 'UP' })).toEqual([]);
  });

  it.each<GateCode>(['BRAKE', 'DOMAIN'])('is excused where a person let it go past %s', (gate) => {
    expect(off({ released: { ...released, gates: [gate] } })).toEqual([]);
  });
});

describe('a command that is under way as another incident takes the place of its own', () => {
  const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };
  const sent = (verb: 'on' | 'soft', next: Partial<IncidentRecord>): string[] => {
    const { oracle, store, broken } = world();
    const intended = { ...{ n: 4, epoch: 1, fencer: 'f-1', level: 0, device: 'bmc', at: 1 }, verb };
    store('incidents', 'n-1', anIncident('n-1', { phase: 'recovered', epoch: 1, commands: [intended] }));
    store('incidents', 'n-1', anIncident('n-1', { id: 'i-2', ...next }));
    oracle.commandSent('n-1', {
      ...{ fencer: 'f-1', device, verb, machine: 'n-1' },
      begunMs: 1_000,
      deadlineMs: 9_000,
    });
    return broken().filter((rule) => rule === 'no-intent');
  };
  const { id: incident } = anIncident('n-1');

  it('has its intent in the record before, and an on is named by the one that came', () => {
    expect(sent('on', { onBefore: { incident, n: 4 } })).toEqual([]);
    expect(sent('on', { onBefore: { incident, n: 3 } })).toEqual(['no-intent']);
    expect(sent('on', {})).toEqual(['no-intent']);
    expect(sent('soft', {})).toEqual([]);
  });
});

describe('an off to another machine, by a device that does not say whose it is', () => {
  const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '192.0.2.1' };
  const off = (hears: (oracle: FleetOracle, ends: (o?: Partial<IncidentRecord>) => void) => void): string[] => {
    const { oracle, store, broken } = world();
    store('nodes', 'n-1', aNode('n-1', { powerLevels: [[device]] }));
    store('leases', 'fencer', { holder: 'f-1', token: 70, nonce: 'f-1.1', ttlMs: 5_000 });
    const incident = (o: Partial<IncidentRecord>): void =>
      store('incidents', 'n-1', powerRecordOf(anIncident('n-1', { epoch: 70, ...o })));
    incident({ phase: 'fencing' });
    hears(oracle, (o) => incident({ phase: 'failed', ...o }));
    oracle.unsaid(device, 900);
    const sent = { fencer: 'f-1', device, verb: 'off', begunMs: 950, deadlineMs: 2_000, machine: 'n-2' } as const;
    oracle.commandSent('n-1', sent);
    return broken().filter((rule) => rule === 'wrong-machine');
  };

  it('is excused where it has never said so, or in an attempt that its leader has not ended', () => {
    expect(off(() => undefined)).toEqual([]);
    expect(off((oracle) => oracle.denies('n-1', device, 'f-1'))).toEqual([]);
    const lost = off((oracle, ends) => {
      oracle.denies('n-1', device, 'f-1');
      ends({ epoch: 90 });
    });
    expect(lost).toEqual([]);
  });

  it('is not excused where it has said so in an attempt before, and no other thing since', () => {
    const denied = (oracle: FleetOracle, ends: () => void): void => {
      oracle.denies('n-1', device, 'f-1');
      ends();
    };
    expect(off(denied)).toEqual(['wrong-machine']);
    const isAgain = off((oracle, ends) => {
      denied(oracle, ends);
      oracle.identified('n-1', device, 800);
    });
    expect(isAgain).toEqual([]);
  });
});

describe('a workload that runs nowhere', () => {
  const standing = (code: AlarmCode, o: { out?: readonly string[]; silent?: readonly string[] } = {}): string[] => {
    const { oracle, store, broken } = world({ silent: o.silent ?? [] });
    const cordon = { by: 'eve', reason: 'wanted', at: 1, drain: false };
    for (const node of o.out ?? []) store('nodes', node, aNode(node, { cordon }));
    store('workloads', 'w1', assigned);
    store('alarms', alarmKey(code, 'w1'), anAlarm(code, 'w1'));
    oracle.judgeEnd();
    return broken();
  };

  it('is excused by the alarm no-room where no node serves', () => {
    expect(standing('no-room', { out: ['n-1', 'n-2'] })).toEqual([]);
    expect(standing('no-room', { out: ['n-1'] })).toEqual(['alarm-untrue']);
  });

  it('is excused by the alarm workload-held where its node does not serve, or another one does not speak', () => {
    expect(standing('workload-held', { out: ['n-1'] })).toEqual([]);
    expect(standing('workload-held', { silent: ['n-2'] })).toEqual([]);
    expect(standing('workload-held', { out: ['n-2'] })).toEqual(['alarm-untrue']);
  });

  it('is excused by it where it was taken by a proof of off that is void, until that node is fenced anew', () => {
    const taken = (workload: string, phase: 'failed' | 'fenced'): string[] => {
      const { oracle, store, broken } = world();
      store('workloads', 'w1', assigned);
      const recovery = [{ workload, from: 'n-2', state: 'waiting' as const }];
      store('incidents', 'n-2', anIncident('n-2', { phase, contradiction: { at: 1, devices: 'd', recovery } }));
      store('alarms', alarmKey('workload-held', 'w1'), anAlarm('workload-held', 'w1'));
      oracle.judgeEnd();
      return broken().filter((rule) => rule === 'alarm-untrue');
    };
    expect(taken('w1', 'failed')).toEqual([]);
    expect(taken('w1', 'fenced')).toEqual(['alarm-untrue']);
    expect(taken('w2', 'failed')).toEqual(['alarm-untrue']);
  });

  it.each(['workload-ended', 'workload-ungated'] as const)('is not excused by the alarm %s', (code) => {
    expect(standing(code)).toEqual(['not-running']);
  });

  it('is not excused by the alarm that it runs elsewhere, which is not so', () => {
    expect(standing('conflict-workload')).toEqual(['alarm-untrue', 'not-running']);
  });
});

describe('an operation that waits for a node to be empty', () => {
  const job = {
    ...{ id: 'job-1', kind: 'maintenance', nodes: ['n-1'], moving: ['w1'], status: 'Queued', results: {} },
    ...{ desc: '', task: 'site', error: '', by: 'eve', extraVars: {}, createdAt: 1, generation: 1, settled: false },
  };
  const waiting = (o: { out?: boolean; silent?: boolean; isSaid?: boolean }): string[] => {
    const { oracle, store, broken } = world({ silent: o.silent === true ? ['n-2'] : [], others: ['n-3'] });
    const cordon = { by: 'eve', reason: 'wanted', at: 1, drain: false };
    if (o.out === true) for (const node of ['n-2', 'n-3']) store('nodes', node, aNode(node, { cordon }));
    store('workloads', 'w1', assigned);
    oracle.started('n-1', 'w1');
    store('jobs', job.id, job);
    if (o.isSaid !== false) store('alarms', alarmKey('drain-stuck', 'n-1'), anAlarm('drain-stuck', 'n-1'));
    oracle.judgeEnd();
    return broken();
  };

  it('is lost where another node serves, and every one says what it runs', () => {
    expect(waiting({})).toEqual(['job-lost']);
  });

  it('is excused where its work has no other node, or one does not say that it does not run it', () => {
    expect(waiting({ out: true })).toEqual([]);
    expect(waiting({ silent: true })).toEqual([]);
  });

  it('is excused where the start of what has left it last is held, by which the next one waits', () => {
    const { oracle, store, broken } = world({ others: ['n-3'] });
    store('nodes', 'n-2', aNode('n-2', { cordon: { by: 'eve', reason: 'wanted', at: 1, drain: false } }));
    store('workloads', 'w1', assigned);
    oracle.started('n-1', 'w1');
    const left = (job: string): void =>
      store('workloads', 'w2', {
        ...aWorkload('w2', { assignment: { node: 'n-2', generation: 2 }, generation: 2 }),
        move: { cause: `job:${job}`, from: 'n-1', to: 'n-2' },
      });
    store('alarms', alarmKey('workload-held', 'w2'), anAlarm('workload-held', 'w2'));
    store('jobs', job.id, job);
    left(job.id);
    oracle.judgeEnd();
    expect(broken()).toEqual([]);
    left('job-2');
    oracle.judgeEnd();
    expect(broken()).toEqual(['job-lost']);
  });

  it('is lost where no alarm says so', () => {
    expect(waiting({ out: true, isSaid: false })).toEqual(['job-lost']);
  });
});

describe('an order to the power of a node', () => {
  const owed = (o: Partial<IncidentRecord>): string[] => {
    const { oracle, store, broken } = world();
    store('incidents', 'n-1', anIncident('n-1', { phase: 'closed', ...o }));
    oracle.judgeEnd();
    return broken();
  };
  const order = { action: 'on', by: 'eve', reason: 'wanted', at: 1, after: 0 } as const;

  it('is dealt with', () => {
    expect(owed({ order })).toEqual(['on-stuck']);
    expect(owed({ order: { ...order, done: true } })).toEqual([]);
  });

  it('waits for the end of a pause, by the clock of who fences, and in mode observe', () => {
    const paused = (o: Partial<FencingSettings>): string[] => {
      const { oracle, store, broken, fencing } = world();
      fencing(o);
      store('leases', 'fencer', { holder: 'f-1', token: 1, nonce: 'f-1.1', ttlMs: 5_000 });
      store('incidents', 'n-1', anIncident('n-1', { phase: 'closed', order }));
      oracle.judgeEnd();
      return broken();
    };
    const pause = { by: 'eve', reason: 'a pause', at: 1 };
    expect(paused({ paused: { ...pause, until: 1_001 } })).toEqual([]);
    expect(paused({ paused: { ...pause, until: 1_000 } })).toEqual(['on-stuck']);
    expect(paused({ mode: 'observe' })).toEqual([]);
  });

  it('waits for the incident that it is behind', () => {
    const released = { ...{ by: 'eve', reason: 'wanted', at: 1, force: true }, gates: [] };
    expect(owed({ phase: 'fencing', cause: 'manual', released, order })).toEqual(['incident-stuck']);
  });

  it('is dealt with by the system, too, within a time of its own', () => {
    const powerOn = { wanted: true, requestedAt: 1 };
    const owed = (o: Partial<IncidentRecord>): string[] => {
      const { oracle, store, broken, waits } = world();
      store('incidents', 'n-1', anIncident('n-1', { phase: 'closed', ...o }));
      oracle.judgeEnd();
      expect(broken()).toEqual([]);
      waits(oracle.powerOnsDueMs);
      oracle.judgePowerOns();
      return broken();
    };
    expect(owed({ phase: 'recovered', powerOn })).toEqual(['on-stuck']);
    expect(owed({ phase: 'recovered', powerOn: { ...powerOn, done: true } })).toEqual([]);
    expect(owed({ phase: 'recovered', powerOn: { ...powerOn, wanted: false } })).toEqual([]);
  });

  it('has its own time from when the system wants it', () => {
    const { oracle, store, waits } = world();
    const wants = (wanted: boolean): void =>
      store('incidents', 'n-1', anIncident('n-1', { phase: 'recovered', powerOn: { wanted, requestedAt: 1 } }));
    wants(false);
    expect(oracle.powerOnsDueMs).toBe(0);
    waits(5_000);
    wants(true);
    waits(5_000);
    wants(true);
    expect(oracle.powerOnsDueMs).toBe(1_000 + 5_000 + POWER_QUARANTINE_MS + 15_000);
    store(
      'incidents',
      'n-1',
      anIncident('n-1', { phase: 'recovered', powerOn: { wanted: true, requestedAt: 1, done: true } }),
    );
    expect(oracle.powerOnsDueMs).toBe(0);
  });
});

describe('a node that has come back', () => {
  const back = (o: Partial<NodeRecord>, silent: readonly string[] = []): string[] => {
    const { oracle, store, broken } = world({ silent });
    store('nodes', 'n-1', aNode('n-1', { pendingReturn: { reason: 'rebooted', at: 1 }, ...o }));
    oracle.judgeEnd();
    return broken();
  };

  it('is checked, unless that is held, or it is gone again', () => {
    expect(back({})).toEqual(['return-stuck']);
    expect(back({ pendingReturn: { reason: 'rebooted', at: 1, held: 'eve decides' } })).toEqual([]);
    expect(back({}, ['n-1'])).toEqual([]);
    expect(back({ status: 'Maintenance' })).toEqual([]);
  });
});

describe('a node that is drained', () => {
  const drained = (isSaid: boolean, o: { drained?: number } = {}): string[] => {
    const { oracle, store, broken } = world();
    store('nodes', 'n-1', aNode('n-1', { cordon: { by: 'eve', reason: 'wanted', at: 1, drain: true, ...o } }));
    store('workloads', 'w1', assigned);
    oracle.started('n-1', 'w1');
    if (isSaid) store('alarms', alarmKey('drain-stuck', 'n-1'), anAlarm('drain-stuck', 'n-1'));
    oracle.judgeEnd();
    return broken();
  };

  it('is empty in the end, or an alarm says why it is not', () => {
    expect(drained(false)).toEqual(['drain-lost']);
    expect(drained(true)).toEqual([]);
    expect(drained(false, { drained: 5 })).toEqual([]);
  });
});

describe('an alarm at the end', () => {
  const untrue = (
    code: AlarmCode,
    subject: string,
    o: Played = {},
    trips: StormTrip[] = [],
    node: Partial<NodeRecord> = {},
  ): string[] => {
    const { oracle, store, broken } = world(o);
    store('nodes', 'n-1', aNode('n-1', node));
    store('admission', PERMITS_KEY, { granted: [], trips });
    store('alarms', alarmKey(code, subject), anAlarm(code, subject));
    oracle.judgeEnd();
    return broken();
  };
  const storm = (o: Partial<StormTrip>): StormTrip[] => [{ id: 's', cause: 'brake', at: 1, members: {}, ...o }];

  it('of a power device of another machine is so where the device is', () => {
    expect(untrue('power-identity', 'n-1')).toEqual(['alarm-untrue']);
    const wires = { 'n-1': 'n-2' };
    expect(untrue('power-identity', 'n-1', { wires }, [], { powerLevels: [[deviceOf('n-1', 0)]] })).toEqual([]);
    const why = 'by a drill: With it n-3 fell silent: its device may be theirs.';
    const drilled = { powerIdentity: { bmc: { result: 'mismatch', at: 1, why, basis: 'b' } } } as const;
    expect(untrue('power-identity', 'n-1', {}, [], drilled)).toEqual([]);
  });

  it('of the power device that a replacement inherited is so until that device reaches the new machine', () => {
    const inherited = { powerLevels: [[deviceOf('n-2', 1)]] };
    expect(untrue('power-identity', 'n-1', {}, [], inherited)).toEqual([]);
    expect(untrue('power-identity', 'n-1', { wires: { 'n-2': 'n-3' } }, [], inherited)).toEqual([]);
    expect(untrue('power-identity', 'n-1', { wires: { 'n-2': 'n-1' } }, [], inherited)).toEqual(['alarm-untrue']);
  });

  it('of work without a gate, or a failed re-setup, is so where the machine is so', () => {
    expect(untrue('workload-ungated', 'n-1')).toEqual(['alarm-untrue']);
    expect(untrue('workload-ungated', 'n-1', { ungated: ['n-1'] })).toEqual([]);
    expect(untrue('resetup-failed', 'n-1')).toEqual(['alarm-untrue']);
    expect(untrue('resetup-failed', 'n-1', { drifted: ['n-1'] })).toEqual([]);
  });

  it('of a storm is so by a storm of its own cause', () => {
    const domain = storm({ cause: 'domain', domain: 'rack-1' });
    expect(untrue('brake', 'fleet', {}, storm({}))).toEqual([]);
    expect(untrue('brake', 'fleet', {}, domain)).toEqual(['alarm-untrue']);
    expect(untrue('domain-down', 'rack-1', {}, domain)).toEqual([]);
    expect(untrue('domain-down', 'rack-2', {}, domain)).toEqual(['alarm-untrue']);
    expect(untrue('domain-down', 'rack-1', {}, storm({}))).toEqual(['alarm-untrue']);
  });
});

describe('a fencing that has failed', () => {
  const standing = (brokers: readonly string[], o: Played = {}): string[] => {
    const { oracle, store, broken } = world({ silent: ['n-1'], brokers, ...o });
    store('nodes', 'n-1', aNode('n-1', { powerLevels: [[deviceOf('n-1', 0)]] }));
    store('incidents', 'n-1', anIncident('n-1', { phase: 'failed' }));
    oracle.judgeEnd();
    return broken();
  };

  it('is stuck, unless its machine would take the majority of the bus along', () => {
    expect(standing(['n-1'])).toEqual([]);
    expect(standing(['n-1', 'n-2', 'n-1-twin'])).toEqual(['incident-stuck']);
    expect(standing(['n-2'])).toEqual(['incident-stuck']);
  });

  it('is not where its device switches another machine', () => {
    expect(standing([], { wires: { 'n-1': 'n-2' } })).toEqual([]);
  });
});

describe('a gate that holds an incident at the end', () => {
  type Prepare = (w: ReturnType<typeof world>) => void;
  const nothing: Prepare = () => undefined;
  const standing = (gate: GateCode, prepare: Prepare, o: Played = {}, i: Partial<IncidentRecord> = {}): string[] => {
    const w = world({ silent: ['n-1'], ...o });
    prepare(w);
    w.store('incidents', 'n-1', anIncident('n-1', { phase: 'suppressed', gate, ...i }));
    w.oracle.judgeEnd();
    return w.broken();
  };
  const cordon = { by: 'eve', reason: 'wanted', at: 1, drain: false };
  const node =
    (o: Partial<NodeRecord>): Prepare =>
    (w) =>
      w.store('nodes', 'n-1', aNode('n-1', { powerLevels: [[deviceOf('n-1', 0)]], ...o }));
  const permits =
    (o: Partial<Permits>): Prepare =>
    (w) =>
      w.store('admission', PERMITS_KEY, { granted: [], ...o });
  const granted = (of: string, ...incidents: string[]): Permits['granted'] =>
    incidents.map((incident) => ({ incident, node: of, at: 1 }));
  const storm = (o: Partial<StormTrip> = {}): Prepare =>
    permits({ trips: [{ id: 's-1', cause: 'brake', at: 1, members: { 'n-1': {}, 'n-2': {} }, ...o }] });
  const later =
    (prepare: Prepare, ms: number): Prepare =>
    (w) => {
      prepare(w);
      w.waits(ms);
    };
  const untilOver = 200_000;
  const released = { by: 'eve', reason: 'wanted', at: 1, force: false };
  const living: Played = { silent: [] };
  const why = 'by a drill: With it n-3 fell silent: its device may be theirs.';
  const byDrill = { result: 'mismatch', at: 1, why, basis: 'b' } as const;

  it.each<[GateCode, string, Prepare, Played?, Partial<IncidentRecord>?]>([
    ['BLIND', 'the monitor has no quorum', nothing, { isBlind: true }],
    ['BLIND', 'the monitor does not call it dead', nothing, { verdict: 'SUSPECT' }],
    [
      ...(['BLIND', 'it lives, and a person let it go past another gate with force', nothing] as const),
      { ...living, verdict: 'UP' },
      { wantedAt: 'UP', released: { ...released, gates: ['LIFE_SIGN'], force: true } },
    ],
    ['NOT_FENCEABLE', 'it is cordoned', node({ cordon })],
    ['NOT_FENCEABLE', 'it is not in service', node({ status: 'Maintenance' })],
    ['NOT_FENCEABLE', 'it has no power device', node({ powerLevels: [] })],
    ['NOT_FENCEABLE', 'its device switches another machine', node({}), { wires: { 'n-1': 'n-2' } }],
    ['NOT_FENCEABLE', 'a drill says so, which may be chance', node({ powerIdentity: { 'bmc-n-1': byDrill } })],
    ['NOT_FENCEABLE', 'a person decides', node({ fencing: 'manual' })],
    ['LIFE_SIGN', 'it speaks, and was ordered off', nothing, living, { cause: 'manual' }],
    ['LIFE_SIGN', 'it is hung, which is only told', (w) => w.fencing({ hung: 'alarm' }), { silent: [], hung: ['n-1'] }],
    ['BRAKE', 'a storm has just been tripped', storm()],
    [
      'BRAKE',
      'too many are silent',
      (w) => w.fencing({ storm: { ...defaultStorm, brakeAtLeast: 1 } }),
      { silent: ['n-1', 'n-2'] },
    ],
    ['DOMAIN', 'a storm of its domain has just been tripped', storm({ cause: 'domain', domain: 'rack' })],
    ['CAP', 'so many were permitted', permits({ granted: granted('n-2', 'i-7', 'i-8', 'i-9') })],
    ['FLAPPING', 'it was permitted so often', permits({ granted: granted('n-1', 'i-7', 'i-8', 'i-9') })],
    ['QUORUM', 'it takes the bus along', nothing, { brokers: ['n-1'] }],
    ['PAUSED', 'a person has paused', (w) => w.fencing({ paused: { by: 'eve', reason: 'wanted' } })],
    ['OBSERVE', 'a person has set it', (w) => w.fencing({ mode: 'observe' })],
  ])('breaks no rule: %s where %s', (gate, _why, prepare, o, i) => {
    expect(standing(gate, prepare, o, i)).toEqual([]);
  });

  it.each<[GateCode, string, Prepare, Played?, Partial<IncidentRecord>?]>([
    ['BLIND', 'it is called dead by who sees', nothing],
    ['NOT_FENCEABLE', 'nothing is against it', node({})],
    [
      'NOT_FENCEABLE',
      'a person let it go',
      node({ cordon }),
      {},
      { released: { ...released, gates: ['NOT_FENCEABLE'] } },
    ],
    ['ALREADY_OPEN', 'it is the one', nothing],
    ['LIFE_SIGN', 'it is dead', nothing],
    ['LIFE_SIGN', 'it is hung, which is fenced', nothing, { silent: [], hung: ['n-1'] }],
    ['LIFE_SIGN', 'it is up, and nobody ordered it off', nothing, living],
    [
      'LIFE_SIGN',
      'it is up, and was not when it was ordered off',
      nothing,
      living,
      { cause: 'manual', wantedAt: 'DOWN' },
    ],
    ['BRAKE', 'nothing stands and it is alone', nothing],
    ['BRAKE', 'the storm is long over', later(storm(), untilOver)],
    ['BRAKE', 'a person let it go', storm(), {}, { released: { ...released, gates: ['BRAKE'] } }],
    ['BRAKE', 'the storm is of its domain', storm({ cause: 'domain', domain: 'rack' })],
    ['DOMAIN', 'nothing stands and it is alone', nothing],
    ['DOMAIN', 'the storm is long over', later(storm({ cause: 'domain', domain: 'rack' }), untilOver)],
    ['CAP', 'fewer were permitted', permits({ granted: granted('n-2', 'i-8', 'i-9') })],
    ['CAP', 'it was long ago', later(permits({ granted: granted('n-2', 'i-7', 'i-8', 'i-9') }), 700_000)],
    ['FLAPPING', 'others were permitted', permits({ granted: granted('n-2', 'i-7', 'i-8', 'i-9') })],
    ['QUORUM', 'the bus stays', nothing, { brokers: ['n-2'] }],
    ['PAUSED', 'the pause is over', (w) => w.fencing({ paused: { by: 'eve', reason: 'wanted', until: 999 } })],
    ['OBSERVE', 'the mode is enforce', nothing],
  ])('breaks one: %s where %s', (gate, _why, prepare, o, i) => {
    expect(standing(gate, prepare, o, i)).toEqual(['gate-untrue']);
  });

  it('excuses what ran on its node only where it is so', () => {
    const work = (w: ReturnType<typeof world>): void => w.store('workloads', 'w1', assigned);
    expect(standing('QUORUM', work, { brokers: ['n-1'] })).toEqual([]);
    expect(standing('QUORUM', work, { brokers: ['n-2'] })).toEqual(['gate-untrue', 'not-running']);
  });
});

describe('a monitor without a quorum at the end', () => {
  const blind = (o: Played, n1: Partial<NodeRecord> = {}): string[] => {
    const { oracle, store, broken } = world({ isBlind: true, ...o });
    store('nodes', 'n-1', aNode('n-1', n1));
    oracle.judgeEnd();
    return broken();
  };
  const silent = ['n-1'];
  const cordon = { by: 'eve', reason: 'wanted', at: 1, drain: false };
  const confirmedOff = { at: 1, incident: 'i-n-1' };

  it('breaks a rule where more than half of the machines that are on speak', () => {
    expect(blind({})).toEqual(['blind-for-ever']);
    expect(blind({ silent })).toEqual([]);
    expect(blind({ silent, others: ['n-3'] })).toEqual(['blind-for-ever']);
    expect(blind({ isBlind: false })).toEqual([]);
  });

  it('does not count who is cordoned, not enrolled, or proven off until it is on again', () => {
    expect(blind({ silent }, { cordon })).toEqual(['blind-for-ever']);
    expect(blind({ silent }, { enrolled: false })).toEqual(['blind-for-ever']);
    expect(blind({ silent }, { confirmedOff })).toEqual(['blind-for-ever']);
    expect(blind({ silent, isOn: true }, { confirmedOff })).toEqual([]);
  });
});

describe('an off that may have hit another node', () => {
  const held = anIncident('n-1', { phase: 'fenced', collateral: { at: 1, nodes: [{ node: 'n-2' }] } });
  const over = (...records: IncidentRecord[]): string[] => {
    const { oracle, store } = world();
    for (const record of records) store('incidents', 'n-1', record);
    return [...oracle.probes.keys()].filter((name) => name.startsWith('a collateral hold'));
  };

  it('is counted when its hold is over, with what came of it', () => {
    const { collateral: _over, ...cleared } = held;
    expect(over(held, { ...held, updatedAt: 2 })).toEqual([]);
    expect(over(held, cleared)).toEqual(['a collateral hold is over: fenced']);
    expect(over(held, { ...held, phase: 'recovering' })).toEqual(['a collateral hold is over: recovering']);
    expect(over(held, { ...cleared, phase: 'failed' })).toEqual(['a collateral hold is over: failed']);
    expect(over(cleared, { ...cleared, phase: 'recovering' })).toEqual([]);
    expect(over(held, { ...cleared, id: 'i-2' })).toEqual([]);
  });
});

describe('a plan of what stands still', () => {
  const judged = (items: readonly PlanItem[]): string[] => {
    const { oracle, store, broken, fencing } = world({ silent: ['n-1'] });
    fencing({ paused: { by: 'eve', reason: 'wanted' } });
    store('workloads', 'w1', assigned);
    store('incidents', 'n-1', anIncident('n-1', { phase: 'suppressed', gate: 'PAUSED' }));
    oracle.judgePlan(items);
    return broken();
  };
  const item: PlanItem = {
    ...{ about: 'incident', name: 'n-1', nodes: ['n-1'], does: 'waits', next: 'holds it at gate PAUSED' },
    ...{ reason: 'Fencing is paused.', gate: 'PAUSED', again: {} },
  };

  it('breaks no rule where it names the gate, of the incident and so of what ran there', () => {
    expect(judged([item])).toEqual([]);
  });

  it('breaks one for each where it names another, or only the node', () => {
    const silent = ['plan-silent', 'plan-silent'];
    expect(judged([{ ...item, gate: 'CAP' }])).toEqual(silent);
    expect(judged([{ ...item, about: 'return' }])).toEqual(silent);
    expect(judged([])).toEqual(silent);
  });
});

const intent = (verb: PowerCommand['verb'], n = 1): PowerCommand => ({
  ...{ n, epoch: 1, fencer: 'fencer-1', level: 0, device: 'bmc', verb, at: n },
});

describe('a machine that starts work by itself at a boot, which runs elsewhere', () => {
  const boots = (o: Parameters<typeof anIncident>[1], byItself: boolean, bootSinceMs = 0): string[] => {
    const w = world({ bootSinceMs });
    w.oracle.started('n-2', 'w1');
    w.store('incidents', 'n-1', anIncident('n-1', { phase: 'closed', ...o }));
    w.oracle.started('n-1', 'w1', byItself);
    return w.broken();
  };
  const order = { action: 'on', by: 'eve', reason: 'repaired', at: 1, after: 0 } as const;

  it('breaks the rule, but where a person has ordered that boot', () => {
    expect(boots({}, true)).toEqual(['two-machines']);
    expect(boots({ order }, false, 1_001)).toEqual(['two-machines']);
    expect(boots({ order }, true)).toEqual(['two-machines']);
    expect(boots({ order }, true, 1_001)).toEqual([]);
  });

  it('breaks none where it was reset since then, and the rule where it booted before', () => {
    expect(boots({}, true, 1_001)).toEqual([]);
    expect(boots({}, false, 1_001)).toEqual(['two-machines']);
    expect(boots({}, true, 1_000)).toEqual(['two-machines']);
  });

  it('breaks none where it was switched on by hand since then, and the rule where it was before', () => {
    const switchedOn = (byHandMs: number): string[] => {
      const changes = [{ atMs: byHandMs, on: true, by: 'by hand' }];
      const w = world({ changes, bootSinceMs: byHandMs });
      w.oracle.started('n-2', 'w1');
      w.oracle.started('n-1', 'w1', true);
      return w.broken();
    };
    expect([switchedOn(1_001), switchedOn(1_000)]).toEqual([[], ['two-machines']]);
  });

  it('breaks none where it was reset before the work was only started again on its own node', () => {
    const w = world({ bootSinceMs: 2_000 });
    w.oracle.started('n-2', 'w1');
    w.waits(2_000);
    w.oracle.ended('n-2', 'w1', 'ended');
    w.oracle.started('n-2', 'w1');
    w.oracle.started('n-1', 'w1', true);
    expect(w.broken()).toEqual([]);
  });

  it('breaks the rule where it was reset before the work was sent back, which it had had by then', () => {
    const w = world({ bootSinceMs: 2_000 });
    w.oracle.started('n-2', 'w1');
    w.store('workloads', 'w1', assigned);
    w.waits(2_000);
    w.oracle.ended('n-2', 'w1', 'ended');
    w.oracle.started('n-2', 'w1');
    w.oracle.started('n-1', 'w1', true);
    expect(w.broken()).toEqual(['two-machines']);
  });

  it('breaks none where it was reset after its proof of off, and before the start that rests on that', () => {
    const late = (meanwhile: (w: ReturnType<typeof world>) => void): string[] => {
      const w = world({ bootSinceMs: 2_000 });
      w.oracle.started('n-1', 'w1');
      w.oracle.ended('n-1', 'w1', 'off');
      const proof = { kind: 'manual', at: 1, by: 'eve', reason: 'seen' } as const;
      w.store('incidents', 'n-1', anIncident('n-1', { phase: 'fenced', proof }));
      w.oracle.cleared('n-1', 'reset');
      w.waits(2_000);
      meanwhile(w);
      w.oracle.started('n-2', 'w1');
      w.waits(1_000);
      w.oracle.started('n-1', 'w1', true);
      return w.broken();
    };
    expect(late(() => undefined)).toEqual([]);
    // Muster knew then that it lives.
    expect(late((w) => w.oracle.speaks('n-1', true))).toEqual(['two-machines']);
  });

  it('breaks none where it came up after the work was taken from it, and the rule where it was taken later', () => {
    const taken = (isFirst: boolean): string[] => {
      const w = world({ bootSinceMs: 2_000 });
      const assignedTo = (node: string, generation: number): void =>
        w.store('workloads', 'w1', aWorkload('w1', { generation, assignment: { node, generation } }));
      assignedTo('n-1', 1);
      w.oracle.started('n-1', 'w1');
      w.oracle.ended('n-1', 'w1', 'off');
      const proof = { kind: 'manual', at: 1, by: 'eve', reason: 'seen' } as const;
      w.store('incidents', 'n-1', anIncident('n-1', { phase: 'fenced', proof }));
      w.oracle.cleared('n-1', 'reset');
      if (isFirst) assignedTo('n-3', 2);
      w.waits(2_000);
      w.oracle.speaks('n-1', true);
      assignedTo('n-2', 3);
      w.oracle.started('n-2', 'w1');
      w.oracle.started('n-1', 'w1', true);
      return w.broken();
    };
    expect(taken(true)).toEqual([]);
    expect(taken(false)).toEqual(['two-machines']);
  });

  it('breaks none where a person ordered that boot in an incident that is over, and the rule in the boot after it', () => {
    const boots = (again: Chassis['changes'] = [], isOrderedAgain = false): string[] => {
      const changes = [{ atMs: 1_500, on: true, by: 'fencer-1' }, ...again];
      const w = world({ changes, bootSinceMs: changes.at(-1)?.atMs ?? 0 });
      w.store('incidents', 'n-1', anIncident('n-1', { phase: 'recovered', order }));
      w.waits(2_000);
      w.oracle.started('n-2', 'w1');
      w.store('incidents', 'n-1', anIncident('n-1', { id: 'i-2' }));
      // It finds the node on.
      if (isOrderedAgain) w.store('incidents', 'n-1', anIncident('n-1', { id: 'i-2', order }));
      w.oracle.started('n-1', 'w1', true);
      return w.broken();
    };
    expect(boots()).toEqual([]);
    expect(boots([], true)).toEqual([]);
    expect(boots([{ atMs: 2_000, on: true, by: 'fencer-1' }])).toEqual(['two-machines']);
  });

  it('breaks none with what had ended before anybody who conducts can have heard that it ran there', () => {
    const unheard = (conductedForMs: number): string[] => {
      const w = world({ isUnconducted: true });
      w.oracle.started('n-1', 'w1');
      if (conductedForMs >= 0) w.store('leases', 'conductor', conductor);
      w.waits(Math.max(0, conductedForMs));
      w.oracle.ended('n-1', 'w1', 'ended');
      w.store('leases', 'conductor', { ...conductor, token: 2, nonce: 'i-1.2' });
      w.oracle.started('n-2', 'w1');
      w.oracle.started('n-1', 'w1', true);
      w.oracle.ended('n-1', 'w1', 'ended');
      return w.broken();
    };
    expect(unheard(-1)).toEqual([]);
    expect(unheard(1_999)).toEqual([]);
    expect(unheard(2_000)).toEqual(['two-machines']);
  });

  /** n-1 has booted after w1 ended on n-2, where it is assigned, and starts it. */
  const booted = (o: Parameters<typeof world>[0] = {}, byItself = true): ReturnType<typeof world> => {
    const w = world({ bootSinceMs: 2_000, ...o });
    w.oracle.started('n-2', 'w1');
    w.oracle.ended('n-2', 'w1', 'ended');
    w.waits(2_000);
    w.oracle.started('n-1', 'w1', byItself);
    return w;
  };

  it('is beside a start by Muster for as long as nobody can have heard of it', () => {
    const beside = (ms: number): string[] => {
      const w = booted();
      w.waits(ms);
      w.oracle.started('n-2', 'w1');
      return w.broken();
    };
    expect(beside(1_999)).toEqual([]);
    expect(beside(2_000)).toEqual(['two-machines']);
  });

  it('is no reason to wait for an off where its machine dies before anybody can have heard of it', () => {
    const after = (ms: number, byItself = true): string[] => {
      const w = booted({}, byItself);
      w.waits(ms);
      w.oracle.ended('n-1', 'w1', 'died');
      w.waits(10_000);
      w.oracle.started('n-2', 'w1');
      return w.broken();
    };
    expect(after(1_999)).toEqual([]);
    expect(after(2_000)).toEqual(['unproven-start']);
    expect(after(1_999, false)).toEqual(['unproven-start']);
  });

  it('is beside a start by Muster while its machine is not heard, and only until then', () => {
    const beside = (...spokeForMs: number[]): string[] => {
      const w = booted({ silent: ['n-1'] });
      w.waits(60_000);
      for (const ms of spokeForMs) {
        w.oracle.speaks('n-1', true);
        w.waits(ms);
        w.oracle.speaks('n-1', false);
        w.waits(60_000);
      }
      w.oracle.started('n-2', 'w1');
      return w.broken();
    };
    expect(beside()).toEqual([]);
    expect(beside(1_999, 1_999)).toEqual([]);
    expect(beside(2_000)).toEqual(['two-machines']);
  });
});

describe('a cleanup of a machine on which something runs', () => {
  const cleaned = (byItself: boolean, afterMs: number): string[] => {
    const { oracle, broken, waits } = world();
    oracle.started('n-1', 'w1', byItself);
    waits(afterMs);
    oracle.cleaning({ name: 'n-1', runs: ['w1'] } as unknown as PlayedHost);
    return broken();
  };

  it('breaks a rule, but where its boot has started that so shortly before that nobody can have heard of it', () => {
    expect(cleaned(false, 1_999)).toEqual(['cleaned-under-work']);
    expect(cleaned(true, 1_999)).toEqual([]);
    expect(cleaned(true, 2_000)).toEqual(['cleaned-under-work']);
  });
});

describe('the word of a person that a machine is down', () => {
  const byWord = { kind: 'manual', at: 1, by: 'eve', reason: 'seen' } as const;
  const confirmed = anIncident('n-1', { phase: 'fenced', proof: byWord });
  /** w1 runs on n-1, where a person confirms it down, and starts on n-2 after all that. */
  const started = (meanwhile: (w: ReturnType<typeof world>) => void): string[] => {
    const w = world();
    w.oracle.started('n-1', 'w1');
    w.store('incidents', 'n-1', confirmed);
    meanwhile(w);
    w.oracle.started('n-2', 'w1');
    return w.broken();
  };
  const anew = (w: ReturnType<typeof world>): void => {
    w.oracle.ended('n-1', 'w1', 'reset');
    w.oracle.cleared('n-1', 'reset');
    w.oracle.started('n-1', 'w1');
  };
  const dies = (w: ReturnType<typeof world>): void => w.oracle.ended('n-1', 'w1', 'died');
  const again = (w: ReturnType<typeof world>): void => w.store('incidents', 'n-1', { ...confirmed, updatedAt: 2 });

  it('excuses a start elsewhere, and that it runs on both', () => {
    expect(started(dies)).toEqual([]);
    expect(started(() => undefined)).toEqual([]);
  });

  it('excuses neither once it has booted anew', () => {
    expect(started((w) => (anew(w), dies(w)))).toEqual(['unproven-start']);
    expect(started(anew)).toEqual(['two-machines']);
  });

  it('excuses neither where its record is only written once more', () => {
    expect(started((w) => (anew(w), again(w), dies(w)))).toEqual(['unproven-start']);
    expect(started((w) => (anew(w), again(w)))).toEqual(['two-machines']);
  });

  it('excuses both where it was given anew', () => {
    const given = (w: ReturnType<typeof world>): void =>
      w.store('incidents', 'n-1', { ...confirmed, proof: { ...byWord, at: 2 } });
    expect(started((w) => (anew(w), given(w), dies(w)))).toEqual([]);
  });
});

describe('an off to a machine that lives', () => {
  const device = deviceOf('n-1', 0);
  const off = (n: number): PowerCommand => ({ ...intent('off', n), device: device.id });
  const ordered: Partial<IncidentRecord> = { phase: 'fencing', cause: 'manual', wantedAt: 'UP', epoch: 1 };
  const forced = { by: 'eve', reason: 'wanted', at: 1, gates: ['LIFE_SIGN' as const], force: true };
  /** @param boots when it has come up, as to the order; the last off is given long after */
  const given = (o: Partial<IncidentRecord>, boots: 'before' | 'after' | 'after an off'): string[] => {
    const w = world();
    const i = anIncident('n-1', o);
    const send = (n: number): void => {
      const begunMs = w.waits(10_000);
      w.store('incidents', 'n-1', { ...i, commands: [off(n)] });
      w.oracle.commandSent('n-1', {
        ...{ fencer: 'fencer-1', device, verb: 'off', machine: 'n-1' },
        ...{ begunMs, deadlineMs: Infinity },
      });
    };
    const boot = (): void => {
      w.oracle.speaks('n-1', false);
      w.oracle.speaks('n-1', true);
    };
    if (boots === 'before') boot();
    w.store('incidents', 'n-1', i);
    if (boots === 'after an off') send(1);
    w.waits(1);
    if (boots !== 'before') boot();
    send(boots === 'after an off' ? 2 : 1);
    return w.broken().filter((rule) => rule === 'living-off');
  };
  const living = ['living-off'];

  it('breaks no rule where a person has ordered it off while it lived', () => {
    expect(given(ordered, 'before')).toEqual([]);
    expect(given({ ...ordered, wantedAt: 'UNKNOWN' }, 'before')).toEqual([]);
    expect(given({ ...ordered, cause: 'auto', released: forced }, 'before')).toEqual([]);
  });

  it('breaks none where it was heard then and has booted before the first off', () => {
    expect(given(ordered, 'after')).toEqual([]);
  });

  it('breaks one where it has come back since from a silence in which it was ordered', () => {
    expect(given({ ...ordered, wantedAt: 'DOWN' }, 'after')).toEqual(living);
    expect(given({ ...ordered, cause: 'auto', wantedAt: 'DOWN', released: forced }, 'after')).toEqual(living);
  });

  it('breaks one where the order was carried out, and it has booted since', () => {
    expect(given(ordered, 'after an off')).toEqual(living);
  });

  it('breaks one where nobody ordered it', () => {
    expect(given({ phase: 'fencing', epoch: 1 }, 'before')).toEqual(living);
  });
});

describe('a power-on after an off', () => {
  /** @param afterMs after the last write of the node's record @param offs as they stand in its writes, 5 s apart */
  const on = (afterMs: number, ...offs: Partial<PowerCommand>[]): string[] => {
    const w = world();
    for (const [i, off] of offs.entries()) {
      if (i > 0) w.waits(5_000);
      const commands = [{ ...intent('off'), ...off }];
      w.store('incidents', 'n-1', anIncident('n-1', { phase: 'recovered', epoch: 1, commands }));
    }
    const begunMs = w.waits(afterMs);
    w.oracle.commandSent('n-1', {
      ...{ fencer: 'fencer-1', device: deviceOf('n-1', 0), verb: 'on', machine: 'n-1' },
      ...{ begunMs, deadlineMs: Infinity },
    });
    return w.broken().filter((rule) => rule === 'on-in-quarantine');
  };
  const early = POWER_QUARANTINE_MS * 0.98;

  it('breaks a rule within the quarantine, which counts from when the off was given, and again from its end', () => {
    expect(on(early, {})).toEqual(['on-in-quarantine']);
    expect(on(POWER_QUARANTINE_MS, {})).toEqual([]);
    expect(on(early, {}, { endedAt: 2 })).toEqual(['on-in-quarantine']);
    expect(on(POWER_QUARANTINE_MS, {}, { endedAt: 2 })).toEqual([]);
  });

  it('does not count anew where the record is only written once more', () => {
    expect(on(early, {}, {})).toEqual([]);
  });

  it('counts anew where the number is given again, after a server has lost the write of the first', () => {
    expect(on(early, {}, { at: 2 })).toEqual(['on-in-quarantine']);
  });

  it('breaks none where none was given', () => {
    expect(on(0)).toEqual([]);
  });
});

describe('an intent after a pause was acknowledged', () => {
  const written = (was: PowerCommand[], is: PowerCommand[]): string[] => {
    const { store, broken, pause } = world();
    const i = anIncident('n-1', { phase: 'recovered', epoch: 1 });
    store('incidents', 'n-1', { ...i, commands: was });
    pause();
    store('incidents', 'n-1', { ...i, commands: is });
    return broken();
  };

  it.each(['off', 'on', 'soft'] as const)('breaks a rule where it is one of %s', (verb) => {
    expect(written([], [intent(verb)])).toEqual(['intent-after-pause']);
  });

  it.each([
    ['an earlier', 500, []],
    ['a later', 5_000, ['intent-after-pause']],
  ] as const)('goes by %s end that is asked for, and not acknowledged', (_, untilMs, rules) => {
    const { oracle, store, broken, pause } = world();
    const i = anIncident('n-1', { phase: 'recovered', epoch: 1 });
    store('incidents', 'n-1', i);
    pause();
    oracle.pauseMayEnd(untilMs);
    store('incidents', 'n-1', { ...i, commands: [intent('on')] });
    expect(broken()).toEqual(rules);
  });

  it('breaks none where it was written before, or is a read', () => {
    expect(written([intent('on')], [intent('on'), { ...intent('status', 2), endedAt: 3 }])).toEqual([]);
  });

  it('breaks none where only another incident takes over what the log says of before', () => {
    const { store, broken, pause } = world();
    store('incidents', 'n-1', anIncident('n-1', { commands: [intent('on')] }));
    pause();
    store('incidents', 'n-1', anIncident('n-1', { id: 'i-2', commands: [intent('on')] }));
    expect(broken()).toEqual([]);
  });
});

describe('an intent after an order was acknowledged', () => {
  const written = (order: string, verb: PowerCommand['verb'], o: Partial<IncidentRecord> = {}): string[] => {
    const { oracle, store, broken } = world();
    const i = anIncident('n-1', { phase: 'recovered', epoch: 1 });
    store('incidents', 'n-1', i);
    oracle.acknowledged(i.id, order);
    store('incidents', 'n-1', { ...i, ...o, commands: [intent(verb)] });
    return broken();
  };

  it.each([
    ['cancel', 'off'],
    ['cancel', 'on'],
    ['cancel', 'soft'],
    ['delete', 'on'],
    ['confirm', 'off'],
    ['confirm', 'soft'],
  ] as const)('breaks a rule: after %s, %s', (order, verb) => {
    expect(written(order, verb)).toEqual(['intent-after-order']);
  });

  it('breaks none where the recovery of what was confirmed powers it on', () => {
    expect(written('confirm', 'on')).toEqual([]);
  });

  it('breaks none where a person has ordered it since, and only as ordered', () => {
    const order = { action: 'on', by: 'eve', reason: 'wanted', at: 1, after: 0 } as const;
    expect(written('cancel', 'on', { order })).toEqual([]);
    expect(written('cancel', 'off', { order })).toEqual(['intent-after-order']);
    expect(written('cancel', 'on', { order: { ...order, after: 1 } })).toEqual(['intent-after-order']);
  });
});

describe('a node that is held at the end', () => {
  const held = (hold: Partial<Hold>, o: Partial<Reservations> = {}): string[] => {
    const { oracle, store, broken } = world();
    const holds = { 'n-1': { generation: 1, at: 1, ...hold } };
    store('admission', RESERVATIONS_KEY, { held: holds, pending: {}, generation: 1, ...o });
    oracle.judgeEnd();
    return broken();
  };
  const claims = (o: Partial<ClaimRecord>): Partial<Reservations> => ({
    claims: { 'claim-1': { id: 'claim-1', owner: 'scheduler', nodes: ['n-1'], by: 'eve', at: 1, ...o } },
  });

  it('breaks no rule where a claim holds it that lasts', () => {
    expect(held({ claim: 'claim-1' }, claims({}))).toEqual([]);
    expect(held({ claim: 'claim-1' }, claims({ expiresAt: 1_001 }))).toEqual([]);
  });

  it.each([
    ['a claim of which there is no record', { claim: 'claim-1' }, {}],
    ['a claim whose time is over', { claim: 'claim-1' }, claims({ expiresAt: 1_000 })],
    ['a claim that nobody was told of', { claim: 'claim-1' }, claims({ pending: true })],
    ['an edit of which there is no record', { edit: 'edit-1' }, {}],
    ['an edit that is half written', { edit: 'edit-1' }, { edits: { 'edit-1': { nodes: ['n-1'] } } }],
    ['a job of which there is no record', { job: 'job-1' }, {}],
    ['nobody', {}, {}],
  ])('breaks a rule where it is %s', (_what, hold, o) => {
    expect(held(hold, o)).toEqual(['held-for-ever']);
  });
});

describe('the generation of a workload', () => {
  const of = (generation: number, assigned = generation): WorkloadRecord => ({
    ...aWorkload('w1', { assignment: { node: 'n-1', generation: assigned }, generation }),
  });

  it('may stay, and grow', () => {
    const { store, broken } = world();
    for (const w of [of(3), of(3), of(4, 3), of(5)]) store('workloads', 'w1', w);
    expect(broken()).toEqual([]);
  });

  it('breaks a rule where it goes back, also over its deletion', () => {
    const { store, remove, broken } = world();
    store('workloads', 'w1', of(3, 2));
    store('workloads', 'w1', of(2));
    expect(broken()).toEqual(['generation-back']);
    store('workloads', 'w1', of(5, 2));
    remove('workloads', 'w1');
    store('workloads', 'w1', of(4, 2));
    expect(broken()).toEqual(['generation-back', 'generation-back']);
  });

  it('breaks a rule where that of its assignment does, also while it has none', () => {
    const { store, broken } = world();
    store('workloads', 'w1', of(3));
    store('workloads', 'w1', aWorkload('w1', { generation: 4 }));
    store('workloads', 'w1', of(4, 2));
    expect(broken()).toEqual(['generation-back']);
  });

  it('is known to nobody where the server has lost it', () => {
    const { store, loseLast, broken } = world();
    store('workloads', 'w1', of(1));
    store('workloads', 'w1', of(3));
    loseLast(1);
    store('workloads', 'w1', of(2));
    expect(broken()).toEqual([]);
  });
});
