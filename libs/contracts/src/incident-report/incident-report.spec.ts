import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../job/job.js';
import type { PublicEvent } from '../rpc/public-event.js';
import type { Verdict } from '../verdict/verdict.js';
import type { IncidentRecord, PowerCommand } from '../incident/incident.js';
import { incidentReport } from './incident-report.js';

const T0 = 1_700_000_000_000;
const NODE = 'host1-SN1';

const verdict: Verdict = {
  node: NODE,
  verdict: 'DOWN',
  networks: [],
  epoch: 3,
  seq: 17,
  at: T0 - 100,
  reason: '2 of 2 observers hear nothing of it',
  evidence: {
    observers: [
      { observer: 'host2-SN2', network: 'management', misses: 6, reportAgeMs: 300, stance: 'accuses' },
      { observer: 'host2-SN2', network: 'backend', misses: 6, reportAgeMs: 300, stance: 'accuses' },
      { observer: 'host3-SN3', network: 'management', misses: 0, reportAgeMs: 300, stance: 'hears' },
    ],
    assigned: 2,
    accusers: 1,
    members: 3,
    sightedReporters: 2,
    ownReportAgeMs: 3_400,
  },
};

const off: PowerCommand = {
  ...{ n: 1, epoch: 31, fencer: 'fencer-1', level: 0, device: 'bmc', verb: 'off', at: T0 + 700 },
  ...{ endedAt: T0 + 1_900, tookMs: 1_200, result: { ok: true, power: 'off' } },
};

const incident = (o: Partial<IncidentRecord> = {}): IncidentRecord => ({
  ...{ id: 'i-1', node: NODE, phase: 'closed', cause: 'auto', reason: verdict.reason, openedAt: T0 },
  ...{ updatedAt: T0 + 60_000, verdict, conductor: 12, level: 0, attempt: 1 },
  gates: [
    { gate: 'BLIND', pass: true, detail: '2 of 3 members report' },
    { gate: 'BRAKE', pass: false, detail: '3 of 4 nodes fell silent at once' },
  ],
  commands: [off],
  proof: { kind: 'read-back', at: T0 + 2_000 },
  recovery: [{ workload: 'db', from: NODE, to: 'host2-SN2', job: 'j-1', state: 'running' }],
  steps: [
    { phase: 'open', at: T0, detail: 'verdict DOWN' },
    { phase: 'fenced', at: T0 + 2_000, detail: '' },
    { phase: 'closed', at: T0 + 60_000, detail: 'it is back' },
  ],
  ...o,
});

const job = (o: Partial<JobRecord> = {}): JobRecord => ({
  ...{ id: 'j-1', kind: 'recover', nodes: ['host2-SN2'], status: 'Complete', desc: '', extraVars: {}, task: '' },
  ...{ error: '', createdAt: T0 + 2_100, endedAt: T0 + 3_600, by: 'muster', cause: 'incident:i-1', generation: 1 },
  results: { 'host2-SN2': { ok: true, step: 'recover', workloads: { db: { started: true, reason: '' } } } },
  settled: true,
  ...o,
});

let seq = 0;
const event = (kind: PublicEvent['kind'], at: number, data: object, key = NODE): PublicEvent => {
  seq++;
  return { seq, id: String(seq), kind, key, at, source: 'inventory', data };
};
const opened = event('incident', T0 + 1, { node: NODE, incident: 'i-1', phase: 'open', detail: '' });
const audit = (at: number, action: string, outcome = 'accepted'): PublicEvent =>
  event('audit', at, { by: 'ann', action, subject: NODE, detail: 'seen it dark', outcome });
const alarm = (at: number, o: object = {}): PublicEvent =>
  event('alarm', at, {
    code: 'node-down',
    subject: NODE,
    severity: 'critical',
    message: 'it is down',
    since: at,
    ...o,
  });

describe('the report on an incident', () => {
  it('tells what runs elsewhere apart from what its node had when it came back', () => {
    const line = (workload: string, to: string) => ({ workload, from: NODE, to, state: 'running' as const });
    const summary = (...recovery: IncidentRecord['recovery']): string | undefined =>
      incidentReport({ incident: incident({ recovery }), jobs: [], cut: false, events: [] }).summary[2];
    const held = { workload: 'mq', from: NODE, state: 'waiting' as const };
    expect(summary(line('db', 'host2-SN2'), line('web', NODE), held)).toBe(
      '1 of 3 workload(s) run elsewhere, and 1 on host1-SN1, which has come back.',
    );
    expect(summary(line('web', NODE))).toBe(
      '0 of 1 workload(s) run elsewhere, and 1 on host1-SN1, which has come back.',
    );
  });

  it('tells of one that went well, and that nothing is open', () => {
    const report = incidentReport({
      incident: incident(),
      jobs: [job()],
      cut: false,
      events: [
        event('verdict', T0 - 2_000, { ...verdict, verdict: 'SUSPECT', reason: 'silent' }),
        opened,
        audit(T0 + 30_000, 'cordon'),
        event('out-of-service', T0 + 5, { node: NODE, reasons: ['incident'] }),
        alarm(T0 + 10),
        alarm(T0 + 10, { cleared: T0 + 59_000 }),
        event('in-service', T0 + 60_000, { node: NODE }),
      ],
    });
    expect(report.summary).toEqual([
      'The incident was opened by a verdict: 2 of 2 observers hear nothing of it',
      'host1-SN1 was proven off 2.0 s after that (read-back), with 1 power-off command(s).',
      '1 of 1 workload(s) run elsewhere.',
      'It has ended: closed: it is back',
    ]);
    expect(report.open).toEqual([]);
    expect(report.gaps).toEqual([]);
    expect(report.gates.map((g) => g.gate)).toEqual(['BRAKE', 'BLIND']);
    expect(report.evidence).toEqual([
      'Verdict DOWN (epoch 3, sequence 17): 2 of 2 observers hear nothing of it',
      '1 of 2 observers reported it down; 2 of 3 members reported to the detector.',
      'Reported down by host2-SN2.',
      'Heard by host3-SN3.',
      'Its own last report was 3.4 s old.',
    ]);
    expect(report.moved).toEqual([
      { workload: 'db', from: NODE, to: 'host2-SN2', state: 'running', startedAt: T0 + 3_600 },
    ]);
    expect(report.people).toEqual([{ at: T0 + 30_000, kind: 'audit', what: 'ann: cordon: seen it dark' }]);
    expect(report.jobs).toEqual([expect.objectContaining({ id: 'j-1', by: 'muster (incident:i-1)' })]);
    const at = report.timeline.map((m) => m.at);
    expect(at).toEqual([...at].sort((a, b) => a - b));
    expect(report.timeline.map((m) => m.what)).toEqual(
      expect.arrayContaining([
        'SUSPECT: silent',
        'off bmc by fencer-1 (token 31): off in 1.2 s',
        'recover on host2-SN2 ordered (j-1)',
        'in service',
      ]),
    );
  });

  it('names what is open, each thing once', () => {
    const { open } = incidentReport({
      incident: incident({
        phase: 'recovering',
        commands: [{ ...off, n: 2, verb: 'on', result: undefined } as unknown as PowerCommand],
        recovery: [{ workload: 'db', from: NODE, state: 'no-room', detail: 'no node of its host group has room' }],
        steps: [{ phase: 'recovering', at: T0, detail: '1 waits' }],
        powerOn: { wanted: true, requestedAt: T0 },
        contradiction: { at: T0, devices: 'x', recovery: [] },
      }),
      jobs: [job({ status: 'Errored', error: 'unreachable' }), job({ id: 'j-2', status: 'Running' })],
      cut: false,
      events: [opened, alarm(T0 + 10), event('out-of-service', T0 + 5, { node: NODE, reasons: ['incident', 'alarm'] })],
    });
    expect(open).toEqual([
      'It is still recovering: 1 waits',
      'Command 2 (on bmc) has no result: it may have been carried out.',
      "host1-SN1 spoke in the boot that a proof of off had ended: its power device may be another machine's.",
      'Its power-on is wanted, and not done.',
      'Workload db does not run again (no-room: no node of its host group has room).',
      'Job j-1 (recover) failed: unreachable',
      'Job j-2 (recover) is Running.',
      'host1-SN1 is not in service: incident; alarm',
      'Alarm node-down stands: it is down',
    ]);
  });

  it('does not call a node off that nothing has proven off', () => {
    const { proof: _none, ...unproven } = incident({ phase: 'failed' });
    const report = incidentReport({ incident: unproven, jobs: [], cut: false, events: [opened] });
    expect(report.proof).toBeUndefined();
    expect(report.summary[1]).toBe('1 power-off command(s) were given, and nothing has proven host1-SN1 off.');
    expect(report.open).toContain('Nothing has proven host1-SN1 off.');
  });

  it('says what holds one that a gate stops', () => {
    const report = incidentReport({
      incident: incident({
        ...{ phase: 'suppressed', gate: 'BRAKE', commands: [], recovery: [] },
        steps: [{ phase: 'suppressed', at: T0, detail: 'BRAKE: 3 of 4' }],
      }),
      ...{ jobs: [], cut: false, events: [opened] },
    });
    expect(report.open[0]).toBe('It waits at its gates (BRAKE: 3 of 4 nodes fell silent at once).');
    expect(report.decisions.map((d) => d.what)).toEqual(['blocked by BRAKE: 3 of 4']);
    expect(report.summary.at(-1)).toBe('It is still open: blocked by BRAKE: 3 of 4');
    expect(report.phase).toBe('suppressed');
  });

  it('says whose silence holds its proof, and no more once it goes on', () => {
    const open = (phase: IncidentRecord['phase']): string[] => {
      const held = incident({ phase, collateral: { at: T0 + 2_500, nodes: [{ node: 'host2-SN2' }] } });
      return incidentReport({ incident: held, jobs: [], cut: false, events: [opened] }).open;
    };
    expect(open('fenced')).toContain('Its proof is held: after its power-off host2-SN2 fell silent too.');
    expect(open('recovering').join()).not.toContain('held');
  });

  it('has what people did from the record where the audit of it is gone, and once where both have it', () => {
    const released = { by: 'ann', reason: 'seen it dark', at: T0 + 20_000, gates: ['BRAKE' as const], force: false };
    const people = (events: PublicEvent[]): string[] =>
      incidentReport({ incident: incident({ released }), jobs: [], cut: false, events }).people.map((m) => m.what);
    expect(people([])).toEqual(['ann: release past BRAKE: seen it dark']);
    expect(people([audit(T0 + 20_010, 'release')])).toEqual(['ann: release: seen it dark']);
    expect(people([audit(T0 + 20_010, 'release', 'refused')])).toEqual([
      'ann: release, which was refused: seen it dark',
    ]);
  });

  it('keeps what opened an incident that a person ordered, too, apart from that order', () => {
    const ordered = incident({ cause: 'manual', by: 'ann', reason: 'smoke', orderedAt: T0 + 500 });
    const { summary, people } = incidentReport({ incident: ordered, jobs: [], cut: false, events: [opened] });
    expect(summary.slice(0, 3)).toEqual([
      'The incident was opened by a verdict: verdict DOWN',
      'host1-SN1 was proven off 2.0 s after that (read-back), with 1 power-off command(s).',
      'ann ordered it, too, 0.5 s after its opening: smoke',
    ]);
    expect(people).toEqual([{ at: T0 + 500, kind: 'audit', what: 'ann: fence: smoke' }]);
  });

  it('says what it cannot tell', () => {
    const gaps = (events: PublicEvent[], cut: boolean): string[] =>
      incidentReport({ incident: incident(), jobs: [], cut, events }).gaps;
    expect(gaps([], false)).toEqual([expect.stringContaining('not kept any more')]);
    expect(gaps([opened], true)).toEqual([expect.stringContaining('more events than were read')]);
  });

  it('leaves out what came long after its end, and still tells what stands', () => {
    const late = T0 + 60_000 + 86_400_000;
    const report = incidentReport({ incident: incident(), jobs: [], cut: false, events: [opened, alarm(late)] });
    expect(report.timeline.some((m) => m.at === late)).toBe(false);
    expect(report.open).toEqual(['Alarm node-down stands: it is down']);
  });
});
