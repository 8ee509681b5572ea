import { describe, expect, it } from 'vitest';
import type { IncidentRecord, StatusView, TaskView } from '#contracts';
import type { Observing } from '#contracts/incident/fencing-report.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { story } from './incident-story.js';
import { parseAddress } from '../server/address.js';
import { eventLine } from '../events/event-line.js';
import { attentionFindings, judge } from './judge.js';
import { statusScreen } from './status-screen.js';
import { aStatus } from '../testing/a-status.js';
import { fakeIo } from '../testing/muster.js';
import { Terminal } from './terminal.js';
import { parseDuration, shortAge } from './times.js';

const pipe = new Terminal(fakeIo([]).io);

const well: StatusView = {
  ...aStatus(),
  workers: [
    { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'], incarnation: 'x', host: 'h', startedAt: 0, beat: 1 },
  ],
};
const incident = (more: Partial<IncidentRecord>): IncidentRecord & { revision: number } => ({
  ...anIncident('a-1', { phase: 'fencing', reason: 'DOWN', openedAt: 1_000, ...more }),
  revision: 1,
});
const alarm = {
  code: 'drift',
  subject: 'a-1',
  severity: 'warning',
  message: 'm',
  since: 1,
  count: 1,
  remedy: { text: 'Set it up anew.', command: 'muster node resetup a-1 --wait' },
} as const;
const task = (more: Partial<TaskView>): TaskView => ({
  name: 'recovery',
  watches: ['nodes'],
  periodMs: 1000,
  severity: 'critical',
  lastRun: 1,
  lastMs: 2,
  errors: 0,
  errorsForMs: 0,
  ...more,
});
const remedy = { text: 'Look.', command: 'muster node why a-1' };
const outOf = (node: string, planned = false): StatusView['nodes']['out'][number] => ({
  node,
  reasons: ['STATE: its state is Disappeared'],
  remedy,
  planned,
});
const dead = (workload: string): StatusView['workloads']['worst'][number] => ({
  workload,
  node: 'a-1',
  actual: { state: 'dead', why: 'a-1 is DOWN.', remedy },
});

describe('muster status', () => {
  it.each<[string, Partial<StatusView>, 0 | 1 | 2]>([
    ['all is well', {}, 0],
    ['nothing would be powered off', { fencing: { ...well.fencing, mode: 'observe' } }, 1],
    ['fencing is paused', { fencing: { ...well.fencing, paused: { until: 9, reason: 'r', by: 'b' } } }, 1],
    ['what is told may be old', { stale: 'the view of the records has a gap' }, 1],
    ['an incident is under way', { incidents: [incident({})] }, 1],
    ['a warning stands', { alarms: [alarm] }, 1],
    ['a task of the conductor fails again', { tasks: [task({ errors: 2 })] }, 1],
    ['a task of the conductor failed once', { tasks: [task({ errors: 1 })] }, 0],
    ['a driver is missing', { missingDrivers: [{ driver: 'ipmitool', nodes: ['a-1'] }] }, 1],
    ['an incident is stuck', { incidents: [incident({ phase: 'suppressed', gate: 'BRAKE' })] }, 2],
    ['an off failed', { incidents: [incident({ phase: 'failed' })] }, 2],
    ['a critical alarm stands', { alarms: [{ ...alarm, severity: 'critical' }] }, 2],
    ['nobody leads', { leases: well.leases.map((l) => ({ ...l, holder: '' })) }, 2],
    ['the detector is blind', { detector: { ...well.detector, sighted: false } }, 2],
    ['no detector is heard', { detector: { sighted: false, members: 0, reporters: 0 } }, 2],
    ['the last beacon is old', { detector: { ...well.detector, beaconAgeMs: 3_001 } }, 2],
    ['a node is out of service, and nobody wants it so', { nodes: { ...well.nodes, out: [outOf('a-1')] } }, 1],
    ['a node is out of service as planned', { nodes: { ...well.nodes, inService: 4, out: [outOf('a-1', true)] } }, 0],
    ['no node at all is in service', { nodes: { ...well.nodes, inService: 0, out: [outOf('a-1', true)] } }, 1],
    ['a workload should run and does not', { workloads: { total: 2, running: 1, wrong: 1, worst: [dead('db')] } }, 1],
    ['nobody would be fenced for want of a witness', { weaknesses: [{ text: 'no witness', remedy }] }, 1],
    ['a cleared alarm is no alarm', { alarms: [{ ...alarm, severity: 'critical', cleared: 5 }] }, 0],
    [
      'a known critical alarm only wants attention',
      { alarms: [{ ...alarm, severity: 'critical', acknowledged: { by: 'x', at: 1 } }] },
      1,
    ],
  ])('%s', (_, more, code) => {
    expect(judge({ ...well, ...more })).toBe(code);
  });

  it('says from where the clusterm surface needs no token, which somebody wants so', () => {
    const open = { ...well, compat: { allowFrom: ['10.0.0.0/8', 'fd00::/64'] } };
    expect(judge(open)).toBe(0);
    expect(statusScreen(open, pipe)).toContain(
      'compat     no token needed on the clusterm surface from 10.0.0.0/8, fd00::/64',
    );
    expect(statusScreen(well, pipe).join('\n')).not.toContain('clusterm');
  });

  it('says on its first line what wants attention, and only what is serious where something is', () => {
    const first = (more: Partial<StatusView>): string | undefined => statusScreen({ ...well, ...more }, pipe)[0];
    const observing: Partial<StatusView> = { fencing: { ...well.fencing, mode: 'observe' }, alarms: [alarm] };
    expect(first({})).toBe('prod: all is well');
    expect(first({ stale: 'the view of the records has a gap' })).toBe(
      'prod: needs attention: what is told may be old: the view of the records has a gap',
    );
    const leases = well.leases.map((l) => (l.name === 'conductor' ? { ...l, holder: '' } : l));
    expect(first({ leases })).toBe('prod: serious: no conductor leads (where that lasts, start an inventory)');
    expect(first(observing)).toBe(
      'prod: needs attention: fencing only observes (muster fencing set enforce); alarm drift a-1',
    );
    expect(first({ ...observing, incidents: [incident({ phase: 'failed' })] })).toBe('prod: serious: a-1 is failed');
    expect(first({ alarms: Array.from({ length: 500 }, () => alarm) })).toMatch(/; and 492 more$/);
  });

  it('is not all well while a node is DEGRADED, SUSPECT or DOWN, also before any alarm or incident', () => {
    const with_ = (verdict: 'DEGRADED' | 'SUSPECT' | 'DOWN', networks: string[] = []): StatusView => ({
      ...well,
      nodes: { ...well.nodes, troubled: [{ node: 'a-1', verdict, networks }] },
    });
    const seen = (s: StatusView): [number, string | undefined] => [judge(s), statusScreen(s, pipe)[0]];
    expect(seen(with_('DEGRADED', ['backend']))).toEqual([1, 'prod: needs attention: a-1 is DEGRADED on backend']);
    expect(seen(with_('SUSPECT'))).toEqual([1, 'prod: probing: a-1 is SUSPECT']);
    expect(seen(with_('DOWN'))).toEqual([1, 'prod: needs attention: a-1 is DOWN']);
    expect(statusScreen(with_('DEGRADED', ['backend']), pipe)).toContain(
      '  verdict  a-1: DEGRADED on backend (muster node why a-1)',
    );
    // Said once where an alarm or an incident tells of it already, and beside what else there is.
    const told = { ...alarm, code: 'node-degraded' as const };
    expect(seen({ ...with_('DEGRADED', ['backend']), alarms: [told] })[1]).toBe(
      'prod: needs attention: alarm node-degraded a-1',
    );
    expect(seen({ ...with_('DOWN'), incidents: [incident({})] })[1]).toMatch(/^prod: needs attention: a-1 is \w+$/);
    expect(seen({ ...with_('SUSPECT'), alarms: [alarm] })[1]).toBe(
      'prod: needs attention: alarm drift a-1; a-1 is SUSPECT',
    );
    expect(seen({ ...with_('SUSPECT'), incidents: [incident({ phase: 'failed' })] })).toEqual([
      2,
      'prod: serious: a-1 is failed',
    ]);
    const { troubled: _none, ...before } = well.nodes;
    const { workloads: _w, weaknesses: _x, ...earlier } = well;
    expect(judge({ ...earlier, nodes: before } as StatusView)).toBe(0);
  });

  it('tells for how long mode observe stands, as far as it is known, and what it has kept from being done', () => {
    const day = 86_400_000;
    const line = (o: Partial<Observing>): string | undefined => {
      const observing = { since: 0, wouldHaveFenced: 2, wouldHaveStopped: 0, ...o };
      const s: StatusView = { ...well, fencing: { ...well.fencing, mode: 'observe' } };
      return statusScreen(s, pipe, observing, 9.9 * day).find((l) => l.startsWith('  observe'));
    };
    const more = ' (muster fencing report --days 30)';
    expect(line({})).toBe(`  observe  for 9 days: would have fenced 2${more}`);
    expect(line({ since: 5 * day, atLeast: true })).toBe(`  observe  for at least 4 days: would have fenced 2${more}`);
    expect(line({ since: 9.8 * day, wouldHaveStopped: 9 })).toBe(
      `  observe  for 2 h: would have fenced 2, and CAP or FLAPPING would have blocked 9${more}`,
    );
    expect(statusScreen(well, pipe).join('\n')).not.toContain('would have');
  });

  it('tells behind each line the first thing to do, and names what should run and does not', () => {
    const screen = statusScreen(
      {
        ...well,
        nodes: { ...well.nodes, inService: 4, out: [outOf('a-1')] },
        workloads: { total: 3, running: 1, wrong: 2, worst: [dead('db'), dead('web')] },
        weaknesses: [
          { text: 'No witness is set.', remedy: { text: 'Set one.', command: 'muster settings set witness=X:1' } },
        ],
        incidents: [incident({ node: 'b-2', phase: 'suppressed', gate: 'PAUSED' })],
        alarms: [alarm],
      },
      pipe,
    );
    expect(screen).toEqual(
      expect.arrayContaining([
        '  out      a-1: STATE: its state is Disappeared (muster node why a-1)',
        'workloads  1 of 3 running, 2 not as they should be',
        '  workload db: dead: a-1 is DOWN. (muster node why a-1)',
        '  weak     No witness is set. (muster settings set witness=X:1)',
        '  incident b-2: blocked by PAUSED: DOWN (muster fencing get)',
        '  alarm    drift a-1 (warning): m (muster node resetup a-1 --wait)',
      ]),
    );
    const lines = statusScreen(
      { ...well, workloads: { total: 3, running: 1, wrong: 2, worst: [dead('db'), dead('web')] } },
      pipe,
    );
    expect(lines[0]).toBe('prod: needs attention: workload db is dead; workload web is dead');
    const fleet = Array.from({ length: 5 }, (_, i) => outOf(`n-${i}`));
    expect(statusScreen({ ...well, nodes: { ...well.nodes, out: fleet } }, pipe)[0]).toBe(
      'prod: needs attention: 5 nodes are out of service',
    );
  });

  it('names the tasks of the conductor that fail, with why, and no others', () => {
    const lastError = { at: 5, code: 'TIMEOUT', message: 'no answer', about: 'node a-1' };
    const lines = statusScreen(
      { ...well, tasks: [task({ errors: 31, errorsForMs: 30_000, lastError }), task({ name: 'stops', lastError })] },
      pipe,
    );
    expect(lines.filter((l) => /recovery|stops/.test(l))).toEqual([
      'prod: needs attention: task recovery fails',
      '  task     recovery: failed 31 times in 30 s: node a-1: no answer (TIMEOUT)',
    ]);
  });

  it('stays one screen however much there is to tell, and says what is serious first', () => {
    const many = <T>(one: T): T[] => Array.from({ length: 500 }, () => one);
    const screen = statusScreen(
      {
        ...well,
        incidents: many(incident({ phase: 'failed' })),
        alarms: many(alarm),
        nodes: {
          total: 900,
          inService: 400,
          out: many(outOf('a-1')),
          troubled: many({ node: 'a-1', verdict: 'DOWN', networks: [] }),
        },
      },
      pipe,
    );
    expect(screen.length).toBeLessThan(40);
    expect(screen[0]).toContain('a-1 is failed');
    expect(screen.join('\n')).toContain('and 492 more');
  });

  it('says of each incident what it is, also where another one is serious', () => {
    const incidents = [incident({ phase: 'failed' }), incident({ node: 'b-2', phase: 'suppressed', gate: 'CAP' })];
    expect(attentionFindings({ ...well, incidents })).toEqual(['a-1 is failed', 'b-2 is blocked by CAP']);
  });

  it('shows leaders with the age of their leases', () => {
    expect(statusScreen(well, pipe)).toContain(
      'leaders    detector: detector-1 (0.3 s), conductor: conductor-1 (0.3 s), fencer: fencer-1 (0.3 s)',
    );
  });
});

describe('what is printed', () => {
  it('tells an incident in lines that each name the node', () => {
    const lines = story(
      incident({
        phase: 'recovered',
        gates: [
          { gate: 'BLIND', pass: true, detail: '2 of 2' },
          { gate: 'BRAKE', pass: false, detail: '1 of 2' },
        ],
        commands: [
          {
            n: 1,
            epoch: 4,
            fencer: 'fencer-1',
            level: 0,
            device: 'bmc',
            verb: 'off',
            at: 1_500,
            result: { ok: true, power: 'off' },
          },
        ],
        proof: { kind: 'read-back', at: 2_000 },
        recovery: [{ workload: 'db1', from: 'a-1', to: 'b-2', state: 'running' }],
        steps: [{ phase: 'fenced', at: 2_000, detail: 'two off-reads' }],
      }),
    );
    expect(lines.every((line) => line.startsWith('a-1: '))).toBe(true);
    expect(lines).toEqual(
      expect.arrayContaining([
        'a-1: gate: BRAKE stop: 1 of 2',
        'a-1: command: +0.50 s off bmc by fencer-1 (token 4): off',
        'a-1: proof: +1.00 s read-back',
        'a-1: recovery: db1 → b-2: running',
        'a-1: step: +1.00 s fenced: two off-reads',
      ]),
    );
    // What held it comes before what was done, and what let it pass after everything.
    expect(lines.indexOf('a-1: gate: BRAKE stop: 1 of 2')).toBeLessThan(
      lines.findIndex((line) => line.includes(': command: ')),
    );
    expect(lines.at(-1)).toBe('a-1: gate: BLIND pass: 2 of 2');
  });

  it('tells of an incident that a gate stops by the name of the gate', () => {
    const steps = [{ phase: 'suppressed' as const, at: 1_000, detail: 'BRAKE: 3 of 4' }];
    expect(story(incident({ phase: 'suppressed', gate: 'CAP', steps }))).toEqual(
      expect.arrayContaining(['a-1: phase: blocked by CAP', 'a-1: step: +0.00 s blocked by BRAKE: 3 of 4']),
    );
  });

  it('puts an event on one line, whatever is in it', () => {
    const line = (kind: string, data: unknown): string =>
      eventLine({ seq: 1, kind, key: 'a-1', at: 0, source: 's', data }, pipe);
    expect(line('verdict', { verdict: 'DOWN', networks: [], reason: '4 of 4\nreport it down' })).toBe(
      '1970-01-01T00:00:00.000Z verdict a-1: DOWN: 4 of 4 report it down',
    );
    expect(line('node-status', { prev: 'Unallocated', status: 'Provisioning' })).toContain(
      'Unallocated → Provisioning',
    );
    const stopped = { node: 'a-1', incident: 'i', phase: 'suppressed', gate: 'CAP', detail: 'CAP: 2 of 2' };
    expect(line('incident', stopped)).toBe('1970-01-01T00:00:00.000Z incident a-1: blocked by CAP: 2 of 2');
    expect(line('incident', { ...stopped, gate: undefined, phase: 'fenced', detail: 'off' })).toMatch(/: fenced: off$/);
    expect(line('claim', { claim: 'c1', owner: 'nomad', nodes: ['a-1', 'b-2'], change: 'taken' })).toMatch(
      /claim a-1: taken for nomad: a-1 b-2$/,
    );
    expect(line('a-kind-of-next-year', { x: 1 })).toBe('1970-01-01T00:00:00.000Z a-kind-of-next-year a-1');
  });

  it('reads durations and shortens ages', () => {
    expect(['30s', '15m', '2h', '1d'].map(parseDuration)).toEqual([30_000, 900_000, 7_200_000, 86_400_000]);
    for (const odd of ['', '5', '-1s', '1w', 'soon']) expect(() => parseDuration(odd)).toThrow('duration');
    expect([300, 42_000, 180_000, 18_000_000, 172_800_000].map(shortAge)).toEqual([
      '0.3 s',
      '42 s',
      '3 min',
      '5 h',
      '2 d',
    ]);
  });
});

describe('--url', () => {
  it('takes a host, a whole address or a unix socket', () => {
    expect(parseAddress('host:1')).toMatchObject({ protocol: 'http:', host: 'host', port: 1 });
    expect(parseAddress('host')).toMatchObject({ host: 'host', port: 9007 });
    expect(parseAddress('https://host')).toMatchObject({ protocol: 'https:', port: 443 });
    expect(parseAddress('http://[::1]:5')).toMatchObject({ host: '::1', port: 5 });
    expect(parseAddress('unix:/run/muster.sock')).toMatchObject({ socketPath: '/run/muster.sock' });
    for (const odd of ['http://', 'host:1/path', 'unix:relative', 'a b'])
      expect(() => parseAddress(odd)).toThrow('--url');
    for (const shown of ['ada:t0ken@host:9007', 'http://ada:t0ken@host', 'http://:t0ken@host:x'])
      expect(() => parseAddress(shown)).toThrow(/^(?!.*t0ken).*MUSTER_TOKEN/);
  });
});
