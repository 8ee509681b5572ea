import { describe, expect, it } from 'vitest';
import {
  alarmKey,
  PERIODIC,
  RESERVATIONS_KEY,
  type AlarmRecord,
  type Cordon,
  type IncidentRecord,
  type NodeRecord,
  type VerdictKind,
} from '#contracts';
import type { Concern } from '../plan/concern.js';
import { alarmsOfDetection } from '../plan/alarms/alarms-of-detection.js';
import { checkAlarms } from '../plan/alarms/check-alarms.js';
import { incidents } from '../plan/incidents/incidents.js';
import type { Intent } from '../plan/intent.js';
import { jobSettlement } from '../plan/jobs/settlement.js';
import { absences } from '../plan/nodes/absences.js';
import { cordonEnd } from '../plan/nodes/cordon-end.js';
import { powerOrders } from '../plan/power/power-orders.js';
import { silent } from '../plan/recovery/proof-facts.js';
import { recovery } from '../plan/recovery/recovery.js';
import { deadWork } from '../plan/alarms/dead-work.js';
import { drivers } from '../plan/alarms/drivers.js';
import { duplicateAlarms } from '../plan/alarms/duplicate-alarms.js';
import { checksCalledOff } from '../plan/checks/checks-called-off.js';
import { periodicChecks } from '../plan/checks/periodic-checks.js';
import { claimExpiry } from '../plan/jobs/claim-expiry.js';
import { rollForward } from '../plan/jobs/roll-forward.js';
import { verdictCatchUp } from '../plan/nodes/verdict-catch-up.js';
import { alarmsOfIdentity } from '../plan/power/alarms-of-identity.js';
import { startGates } from '../plan/workloads/start-gates.js';
import { returns } from '../plan/returns/returns.js';
import { tokenGuard } from '../plan/store/token-guard.js';
import { moves } from '../plan/workloads/moves.js';
import { startCheck } from '../plan/workloads/start-check.js';
import { startSteps } from '../plan/workloads/start-steps.js';
import { starts } from '../plan/workloads/starts.js';
import { stops } from '../plan/workloads/stops.js';
import { ageMs } from '../snapshot/ages.js';
import { fleetOf } from '../testing/investigation.js';
import { planRound } from '../testing/plan-round.js';
import { MemoryStore } from '../testing/memory-store.js';
import { odd } from '../testing/odd.js';
import { planExecutor } from '../testing/planned.js';
import { playRun } from '../testing/play-run.js';
import { aBeacon, aNode, anIncident, aReport, aVerdict, aWorkload } from '../testing/records.js';

const at = { node: 'n-1', generation: 2 };
const over: Cordon = { by: 'ann', reason: 'disk', at: 0, until: 1 };
const order = { action: 'on' as const, by: 'ann', at: 1, reason: 'needed', after: 0 };
const ended = { kind: 'check' as const, status: 'Complete' as const, nodes: [], results: {}, settled: false };

const back: Partial<NodeRecord> = {
  ...{ status: 'Allocated', state: 'Discovered', enrolled: false },
  pendingReturn: { reason: 'disappeared', at: 1 },
};
const down = (verdict: VerdictKind = 'DOWN') => ({ ...aVerdict('n'), verdict });
const serving: Partial<NodeRecord> = { status: 'Allocated', enrolled: true, verdict: down('UP') };
const up = { code: 'drift', subject: 'odd', severity: 'warning', message: 'was', since: 1, count: 1 } as const;
const drained: Partial<NodeRecord> = {
  enrolled: false,
  cordon: { by: 'ann', reason: 'disk', at: 0, drain: true },
};

/** Each puts a record that is called odd, and one that is called well and about which something is to be done. */
const rows: Record<string, { concern: Concern<string>; kind: string; put: (store: MemoryStore) => void }> = {
  'cordon-end': {
    ...{ concern: cordonEnd, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'cordon'));
      nodes.set('well', aNode('well', { cordon: over }));
    },
  },
  'check-alarms': {
    ...{ concern: checkAlarms, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'lastCheck'));
      nodes.set('well', aNode('well', { pendingReturn: { reason: 'disappeared', at: 1, held: 'flapping' } }));
    },
  },
  'job-settlement': {
    ...{ concern: jobSettlement, kind: 'job' },
    put: ({ jobs }) => {
      jobs.set('odd', odd({ ...ended, id: 'odd' } as never, 'settled' as never));
      jobs.set('well', { ...ended, id: 'well' } as never);
    },
  },
  'power-orders': {
    ...{ concern: powerOrders, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd'), 'order'));
      store.incidents.set('well', anIncident('well', { phase: 'closed', order }));
    },
  },
  'start-gates': {
    ...{ concern: startGates, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'ungated'));
      nodes.set('well', aNode('well', { ungated: ['db'] }));
    },
  },
  'incidents, by what their records say': {
    ...{ concern: incidents, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd'), 'phase'));
      store.incidents.set('well', anIncident('well'));
    },
  },
  'incidents, by what is found out': {
    ...{ concern: incidents, kind: 'node' },
    put: (store) => {
      store.nodes.set('odd', aNode('odd'));
      store.nodes.set('well', aNode('well'));
      store.incidents.set('odd', odd(anIncident('odd'), 'cause'));
      store.incidents.set('well', anIncident('well'));
    },
  },
  'incidents that are over': {
    ...{ concern: incidents, kind: 'node' },
    put: (store) => {
      const takenBack = { by: 'ann', reason: 'it lives', at: 1 };
      store.nodes.set('well', aNode('well', { verdict: down('UP') }));
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'cancelled' }), 'takenBack'));
      store.incidents.set('well', anIncident('well', { phase: 'cancelled', takenBack }));
    },
  },
  'deaths of which nothing is known yet': {
    ...{ concern: incidents, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'verdict'));
      nodes.set('well', aNode('well', { verdict: down() }));
    },
  },
  'deaths after an incident': {
    ...{ concern: incidents, kind: 'node' },
    put: (store) => {
      for (const name of ['odd', 'well']) store.nodes.set(name, aNode(name, { verdict: down() }));
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'closed' }), 'order'));
      store.incidents.set('well', anIncident('well', { phase: 'closed' }));
    },
  },
  returns: {
    ...{ concern: returns, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd', back), 'cordon'));
      nodes.set('well', aNode('well', back));
    },
  },
  'returns that nobody has seen': {
    ...{ concern: returns, kind: 'node' },
    put: ({ nodes }) => {
      const { pendingReturn: _none, ...unseen } = { ...back, maintenance: { reason: 'fenced', at: 1, incident: 'i' } };
      nodes.set('odd', odd(aNode('odd'), 'maintenance'));
      nodes.set('well', aNode('well', unseen));
    },
  },
  'returns beside jobs': {
    ...{ concern: returns, kind: 'job' },
    put: ({ nodes, jobs }) => {
      nodes.set('well', aNode('well', back));
      jobs.set('odd', odd({ ...ended, id: 'odd' } as never, 'cause' as never));
    },
  },
  starts: {
    ...{ concern: starts, kind: 'workload' },
    put: ({ workloads }) => {
      workloads.set('odd', odd(aWorkload('odd'), 'desired'));
      workloads.set('well', aWorkload('well'));
    },
  },
  'starts that are placed': {
    ...{ concern: starts, kind: 'workload' },
    put: (store) => {
      store.nodes.set('n-1', aNode('n-1'));
      store.workloads.set('odd', odd(aWorkload('odd'), 'priority'));
      store.workloads.set('well', aWorkload('well'));
    },
  },
  'starts that are owed': {
    ...{ concern: starts, kind: 'workload' },
    put: (store) => {
      store.nodes.set('n-1', aNode('n-1'));
      const owed = { assignment: at, start: { cause: 'put', attempt: 1, job: 'j' } };
      store.workloads.set('odd', odd(aWorkload('odd', owed), 'held'));
      store.workloads.set('well', aWorkload('well', owed));
    },
  },
  'starts beside nodes': {
    ...{ concern: starts, kind: 'node' },
    put: (store) => {
      store.nodes.set('odd', odd(aNode('odd'), 'vars'));
      store.workloads.set('well', aWorkload('well'));
    },
  },
  'starts beside nodes that have to answer': {
    ...{ concern: starts, kind: 'node' },
    put: (store) => {
      store.nodes.set('odd', odd(aNode('odd'), 'confirmedOff'));
      store.workloads.set('well', aWorkload('well', { start: { cause: 'put', attempt: 1 }, assignment: at }));
    },
  },
  'starts beside incidents': {
    ...{ concern: starts, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'recovering' }), 'recovery'));
      store.workloads.set('well', aWorkload('well'));
    },
  },
  moves: {
    ...{ concern: moves, kind: 'workload' },
    put: (store) => {
      store.nodes.set('well', aNode('well', drained));
      store.workloads.set('odd', odd(aWorkload('odd'), 'move'));
    },
  },
  'moves away from nodes': {
    ...{ concern: moves, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd', drained), 'cordon'));
      nodes.set('well', aNode('well', drained));
    },
  },
  'moves for jobs': {
    ...{ concern: moves, kind: 'job' },
    put: ({ nodes, jobs }) => {
      nodes.set('well', aNode('well', drained));
      jobs.set('odd', odd({ ...ended, id: 'odd' } as never, 'status' as never));
    },
  },
  'claim-expiry': {
    ...{ concern: claimExpiry, kind: 'claim' },
    put: ({ reservations }) => {
      const claim = { id: 'well', owner: 'o', nodes: [], by: 'ann', at: 1, expiresAt: 1 };
      const claims = { odd: odd(claim, 'expiresAt'), well: claim };
      reservations.set(RESERVATIONS_KEY, { held: {}, pending: {}, claims, generation: 0 });
    },
  },
  'verdict-catch-up': {
    ...{ concern: verdictCatchUp, kind: 'node' },
    put: ({ nodes, detector }) => {
      const told = { verdict: 'DOWN' as const, seq: 9 };
      detector.hear(JSON.stringify(aBeacon({ seq: 9, notUp: { odd: told, well: told } })));
      detector.sees = true;
      nodes.set('odd', odd(aNode('odd', { enrolled: true }), 'verdict'));
      nodes.set('well', aNode('well', { enrolled: true, verdict: down('UP') }));
    },
  },
  'dead-work': {
    ...{ concern: deadWork, kind: 'node' },
    put: (store) => {
      store.nodes.set('odd', odd(aNode('odd'), 'cordon'));
      store.nodes.set('well', aNode('well', { cordon: over, verdict: down() }));
      store.workloads.set('db', aWorkload('db', { assignment: { node: 'well', generation: 2 } }));
    },
  },
  'dead-work of workloads': {
    ...{ concern: deadWork, kind: 'workload' },
    put: (store) => {
      store.nodes.set('well', aNode('well', { cordon: over, verdict: down() }));
      store.workloads.set('odd', odd(aWorkload('odd'), 'desired'));
      store.workloads.set('db', aWorkload('db', { assignment: { node: 'well', generation: 2 } }));
    },
  },
  'duplicate-alarms': {
    ...{ concern: duplicateAlarms, kind: 'alarm' },
    put: ({ alarms }) => {
      const was = { ...up, code: 'duplicate' as const, subject: 'well' };
      alarms.set('odd', odd<AlarmRecord>(was, 'acknowledged'));
      alarms.set('well', was);
    },
  },
  'periodic-checks': {
    ...{ concern: periodicChecks, kind: 'node' },
    put: (store) => {
      store.detector.sees = true;
      store.clusterSettings.check.every = 60_000;
      store.nodes.set('odd', odd(aNode('odd', serving), 'lastCheck'));
      store.nodes.set('well', aNode('well', serving));
    },
  },
  'periodic checks beside jobs': {
    ...{ concern: periodicChecks, kind: 'job' },
    put: (store) => {
      store.detector.sees = true;
      store.clusterSettings.check.every = 60_000;
      store.nodes.set('well', aNode('well', serving));
      store.jobs.set('odd', odd({ ...ended, id: 'odd' } as never, 'cause' as never));
    },
  },
  'checks that are called off': {
    ...{ concern: checksCalledOff, kind: 'job' },
    put: ({ nodes, jobs }) => {
      const job = { ...ended, status: 'Running', cause: PERIODIC, nodes: ['well'] };
      nodes.set('well', aNode('well'));
      jobs.set('odd', odd({ ...job, id: 'odd' } as never, 'cancel' as never));
      jobs.set('well', { ...job, id: 'well' } as never);
    },
  },
  'identity-alarms': {
    ...{ concern: alarmsOfIdentity, kind: 'node' },
    put: ({ nodes }) => {
      nodes.set('odd', odd(aNode('odd'), 'powerLevels'));
      for (const name of ['well', 'other']) nodes.set(name, aNode(name));
    },
  },
  recovery: {
    ...{ concern: recovery, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'recovering' }), 'recovery'));
      store.incidents.set('well', anIncident('well', { phase: 'recovered' }));
    },
  },
  'what is told of proofs of off': {
    ...{ concern: recovery, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'fenced' }), 'collateral'));
      store.incidents.set('well', anIncident('well', { phase: 'recovered' }));
    },
  },
  'proofs of off beside nodes': {
    ...{ concern: recovery, kind: 'node' },
    put: (store) => {
      store.detector.sees = true;
      store.nodes.set('odd', odd(aNode('odd'), 'confirmedOff'));
      store.nodes.set('well', aNode('well'));
      const proof = { kind: 'manual' as const, at: 1, by: 'ann' };
      store.incidents.set('well', anIncident('well', { phase: 'fenced', proof }));
    },
  },
  'whether a proof of off is contradicted': {
    ...{ concern: recovery, kind: 'node' },
    put: (store) => {
      store.incidents.set('odd', odd(anIncident('odd', { phase: 'recovering' }), 'proof'));
      store.incidents.set('well', anIncident('well', { phase: 'recovered' }));
    },
  },
  stops: {
    ...{ concern: stops, kind: 'workload' },
    put: ({ workloads, reports }) => {
      reports.hear(aReport('n-1', { workloads: [{ name: 'well', generation: 2 }] }), 0);
      const stop = { cause: 'put', attempt: 0 };
      workloads.set('odd', odd(aWorkload('odd', { assignment: at }), 'stop'));
      workloads.set('well', aWorkload('well', { desired: 'stopped', assignment: at, generation: 2, stop }));
    },
  },
  absences: {
    ...{ concern: absences, kind: 'workload' },
    put: (store) => {
      store.nodes.set('n-1', aNode('n-1'));
      store.reports.hear(aReport('n-1', { workloads: [] }), 0);
      const ran = { assignment: at, generation: 2, boot: 'boot-n-1' };
      store.workloads.set('odd', odd(aWorkload('odd', ran), 'move'));
      store.workloads.set('well', aWorkload('well', ran));
    },
  },
};

function keysOf(i: Intent): string[] {
  if (i.do === 'raise-alarm') return [i.alarm.subject];
  if (i.do === 'submit-jobs') return i.wanted.map((w) => w.node);
  if (i.do === 'clear-alarm') return [i.subject];
  if (i.do === 'fetch-verdict') return [i.node];
  if (i.do === 'complete-job') return [i.job.id];
  if (i.do === 'node-first') return [i.node.key];
  return 'key' in i ? [i.key] : [];
}

describe('a record about which a decision throws', () => {
  it.each(Object.entries(rows))(
    'fails by itself in %s, and the others are decided',
    (_name, { concern, kind, put }) => {
      const store = new MemoryStore();
      put(store);
      const { intents, inquired } = planRound(concern, store);
      const failed = intents.filter((i) => i.do === 'fail-record');
      expect(new Set(failed.map((i) => JSON.stringify(i.about)))).toEqual(new Set([JSON.stringify({ [kind]: 'odd' })]));
      expect(failed[0]?.error.message).toContain('cannot be understood');
      expect([...inquired, ...intents.filter((i) => i.do !== 'fail-record').flatMap(keysOf)]).toContain('well');
    },
  );

  it('is named by the log and by the task, once a run, while the others are written', async () => {
    const store = new MemoryStore();
    rows['cordon-end']?.put(store);
    const failed: object[] = [];
    await playRun(planExecutor(store).drive(cordonEnd), { failed: (f) => failed.push(f) });
    expect(failed).toMatchObject([{ node: 'odd', code: 'INTERNAL' }]);
    expect(store.nodes.content['well']?.cordon).toBeUndefined();
  });

  it('keeps the alarm that is up about it', () => {
    const store = new MemoryStore();
    rows['check-alarms']?.put(store);
    store.alarms.set('drift=odd', up);
    expect(planRound(checkAlarms, store).intents.filter((i) => i.do === 'clear-alarm')).toEqual([]);
  });

  it('keeps all alarms about drains that are up, where it is a workload', () => {
    const store = new MemoryStore();
    rows['moves']?.put(store);
    store.alarms.set('drain-stuck=n-1', { ...up, code: 'drain-stuck', subject: 'n-1' });
    expect(planRound(moves, store).intents.filter((i) => i.do === 'clear-alarm')).toEqual([]);
  });

  it('keeps its own alarms, where it is a workload that is not started', () => {
    const store = new MemoryStore();
    store.detector.sees = true;
    rows['starts']?.put(store);
    for (const subject of ['odd', 'gone'])
      store.alarms.set(`workload-held=${subject}`, { ...up, code: 'workload-held', subject });
    const cleared = planRound(starts, store).intents.flatMap((i) => (i.do === 'clear-alarm' ? [i.subject] : []));
    expect(cleared).toEqual(['gone']);
  });

  it('keeps what was taken from it where it is: nobody can say that its node is silent', () => {
    const store = new MemoryStore();
    const recovery: IncidentRecord['recovery'] = [{ workload: 'db', from: 'odd', state: 'waiting' }];
    store.incidents.set('odd', odd(anIncident('odd', { phase: 'recovering', recovery }), 'proof'));
    store.workloads.set('db', aWorkload('db'));
    expect(startSteps(fleetOf(store), { of: () => ageMs(3_600_000) }).made).toMatchObject([{ code: 'BARRED' }]);
  });

  it('keeps all alarms about dead work that are up, where it is a workload', () => {
    const store = new MemoryStore();
    rows['dead-work of workloads']?.put(store);
    store.nodes.set('n-1', aNode('n-1', { cordon: over, verdict: down() }));
    store.alarms.set('dead-with-work=n-1', { ...up, code: 'dead-with-work', subject: 'n-1' });
    expect(planRound(deadWork, store).intents.filter((i) => i.do === 'clear-alarm')).toEqual([]);
  });

  it('keeps all alarms about power devices in one place, where it has some', () => {
    const store = new MemoryStore();
    store.nodes.set('odd', odd(aNode('odd'), 'powerLevels'));
    store.nodes.set('n-1', aNode('n-1'));
    for (const code of ['power-place', 'power-identity'] as const)
      for (const subject of ['odd', 'n-1']) store.alarms.set(`${code}=${subject}`, { ...up, code, subject });
    const cleared = planRound(alarmsOfIdentity, store).intents.flatMap((i) => (i.do === 'clear-alarm' ? [i] : []));
    expect(cleared).toMatchObject([{ code: 'power-identity', subject: 'n-1' }]);
  });

  it.each([
    ['no-workers', 'd', drivers, 'provisionDriver'],
    ['network-down', 'backend', alarmsOfDetection, 'networks'],
    ['node-degraded', 'odd', alarmsOfDetection, 'verdict'],
    ['token-behind', 'detector', tokenGuard, 'verdict'],
  ] as const)('keeps the alarm %s of %s, where it is a node', (code, subject, concern, field) => {
    const store = new MemoryStore();
    store.nodes.set('odd', odd(aNode('odd', { verdict: down() }), field));
    store.alarms.set(alarmKey(code, subject), { ...up, code, subject });
    const { intents } = planRound(concern, store);
    expect(intents.filter((i) => i.do === 'clear-alarm')).toEqual([]);
    expect(intents).toContainEqual(expect.objectContaining({ do: 'fail-record', about: { node: 'odd' } }));
    store.nodes.set('odd', aNode('odd', { verdict: down('UP') }));
    expect(planRound(concern, store).intents.flatMap(keysOf)).toContain(subject);
  });

  it('lets no check begin, where it is an incident: nobody can say that it is none', () => {
    const store = new MemoryStore();
    rows['periodic-checks']?.put(store);
    store.incidents.set('odd', odd(anIncident('odd'), 'phase'));
    expect(planRound(periodicChecks, store).intents).toMatchObject([{ do: 'fail-record', about: { node: 'odd' } }]);
  });

  it('is helped like any other, where it is a job that was left half done', () => {
    const store = new MemoryStore();
    const jobs = { odd: null, well: { id: 'well' } };
    store.reservations.set(RESERVATIONS_KEY, { held: {}, pending: jobs as never, generation: 0 });
    const { intents } = planRound(rollForward, store);
    expect(intents.map((i) => [i.do, i.about])).toEqual([
      ['complete-job', { job: 'odd' }],
      ['complete-job', { job: 'well' }],
    ]);
  });

  it.each(['proof', 'bootId', 'report'] as const)('goes no further, where it is an incident and its %s', (field) => {
    const store = new MemoryStore();
    const i = anIncident('odd', { phase: 'recovered', bootId: 'b', proof: { kind: 'read-back', at: 1, level: 0 } });
    store.incidents.set('odd', field === 'report' ? i : odd(i, field));
    store.nodes.set('odd', aNode('odd', { confirmedOff: { incident: i.id, at: 1 } }));
    store.workloads.set('db', aWorkload('db', { generation: 2, assignment: { node: 'odd', generation: 2 } }));
    if (field === 'report') store.reports.hear(odd(aReport('odd'), 'bootId'), store.clock.now);
    // Nobody can say that its node is silent: what came there meanwhile is not taken from it.
    expect(new Set(planRound(recovery, store).intents.map((made) => made.do))).toEqual(new Set(['fail-record']));
  });

  it('has to say what it runs, where it is a node, before anything starts', () => {
    const store = new MemoryStore();
    store.nodes.set('odd', odd(aNode('odd'), 'confirmedOff'));
    expect(startCheck(fleetOf(store), 'db', 'n-1')).toEqual({
      kind: 'unknown',
      silent: ['odd'],
      named: [],
      ungated: [],
    });
  });

  it.each([
    [5_000, 'odd'],
    [1_000, undefined],
  ])('counts as silent, where it is a node that spoke last %d ms ago: %s', (agoMs, node) => {
    const store = new MemoryStore();
    store.nodes.set('odd', odd(aNode('odd'), 'confirmedOff'));
    store.reports.hear(aReport('odd'), store.clock.now);
    store.clock.now += agoMs;
    expect(silent(fleetOf(store)).made[0]?.node).toBe(node);
  });

  it('is no excuse for what is about no record: that fails the task', async () => {
    const failed: object[] = [];
    const plan = (): Intent[] => {
      throw new Error('nothing is known');
    };
    await playRun(planExecutor(new MemoryStore()).drive({ plan }), { failed: (f) => failed.push(f) });
    expect(failed).toMatchObject([{ task: 'played', code: 'INTERNAL' }]);
  });
});
