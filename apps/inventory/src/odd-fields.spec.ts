import { describe, expect, it } from 'vitest';
import { PERIODIC, type IncidentRecord, type JobRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { tasks } from './tasks.js';
import { aJob } from './testing/fixtures.js';
import { planRound } from './testing/plan-round.js';
import { MemoryStore } from './testing/memory-store.js';
import { odd } from './testing/odd.js';
import { aNode, anIncident, aReport, aVerdict, aWorkload } from './testing/records.js';

const at = { assignment: { node: 'n-1', generation: 2 }, generation: 2 };
const cordon = { by: 'ann', reason: 'disk', at: 1, drain: true };
const proof = { kind: 'read-back' as const, at: 1, level: 0 };
const recovery: IncidentRecord['recovery'] = [{ workload: 'db', from: 'odd', state: 'waiting' }];
const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1, endedAt: 1 };
const fenced = { proof, commands: [off], bootId: 'boot-odd' };
const back: Partial<NodeRecord> = {
  status: 'Allocated',
  enrolled: false,
  pendingReturn: { reason: 'rebooted', at: 1 },
};

const nodes: Partial<NodeRecord>[] = [
  {},
  back,
  { cordon, ungated: ['db'] },
  { verdict: aVerdict('odd'), maintenance: { reason: 'fenced', at: 1, incident: 'i' } },
  { verdict: { ...aVerdict('odd'), verdict: 'UP' } },
];
const incidents: Partial<IncidentRecord>[] = [
  { bootId: 'boot-odd' },
  { phase: 'fenced', ...fenced, collateral: { at: 1, nodes: [{ node: 'n-1' }] } },
  { phase: 'recovering', ...fenced, recovery },
  { phase: 'recovered', ...fenced },
  { phase: 'failed', ...fenced, contradiction: { at: 1, proof, devices: 'x', recovery } },
  { phase: 'closed', order: { action: 'on', by: 'ann', at: 1, reason: 'needed', after: 0 } },
  { phase: 'cancelled', takenBack: { by: 'ann', reason: 'it lives', at: 1 } },
];
const workloads: Partial<WorkloadRecord>[] = [
  {},
  { ...at, boot: 'boot-n-1', ended: { times: 4, at: 1 } },
  { ...at, start: { cause: 'x', attempt: 1 }, held: 'full' },
  { ...at, start: { cause: 'x', attempt: 0, job: 'j' } },
  { ...at, desired: 'stopped', stop: { cause: 'put', attempt: 1, job: 'k' } },
  { ...at, move: { cause: 'drain', from: 'n-1', to: 'n-2' }, stop: { cause: 'move', attempt: 0 } },
];
const jobs: Partial<JobRecord>[] = ['return', PERIODIC].flatMap((cause) =>
  (['Queued', 'Running', 'Complete'] as const).map((status) => ({ cause, status, nodes: ['n-1'], moving: ['db'] })),
);

type Put = (store: MemoryStore) => void;

/** What a record is called by, and what was read of it when it was first seen: by then it has failed elsewhere. */
const known = ['name', 'id', 'node', 'commands', 'pendingReturn', 'generation', 'assignment'];

/** One for each field that each has, or may have. */
const each = <T extends object>(
  records: readonly T[],
  may: readonly (keyof T & string)[],
  put: (store: MemoryStore, record: T) => void,
): [string, Put][] =>
  records.flatMap((record, n) =>
    [...new Set([...(Object.keys(record) as (keyof T & string)[]), ...may])]
      .filter((field) => !known.includes(field))
      .map((field): [string, Put] => [`${field} of ${n}`, (store) => put(store, odd(record, field))]),
  );

const all: Record<string, [string, Put][]> = {
  nodes: each(
    nodes.map((o) => aNode('odd', o)),
    ['cordon', 'confirmedOff', 'maintenance', 'lastCheck', 'provisioned', 'ungated', 'acceptedDrift', 'powerIdentity'],
    (store, n) => store.nodes.set('odd', n),
  ),
  incidents: each(
    incidents.map((o) => anIncident('odd', o)),
    ['released', 'degraded', 'drill', 'powerOn', 'takenBack', 'order', 'collateral', 'contradiction', 'unreadable'],
    (store, i) => {
      store.nodes.set('odd', aNode('odd'));
      store.incidents.set('odd', i);
    },
  ),
  workloads: each(
    workloads.map((o) => aWorkload('odd', o)),
    ['start', 'stop', 'move', 'held', 'ended', 'boot', 'failedOn', 'hostGroup'],
    (store, w) => store.workloads.set('odd', w),
  ),
  jobs: each(
    jobs.map((o) => aJob({ id: 'odd', kind: 'check', ...o })),
    ['cancel', 'worker', 'conductor', 'recover', 'addresses'],
    (store, j) => store.jobs.set('odd', j),
  ),
};

/** Something is to be done in it by nearly everyone. */
function storeWith(put: Put): MemoryStore {
  const store = new MemoryStore();
  store.detector.sees = true;
  store.clusterSettings.check.every = 60_000;
  store.nodes.set('n-1', aNode('n-1', { cordon }));
  store.nodes.set('n-2', aNode('n-2', { verdict: aVerdict('n-2') }));
  store.nodes.set('n-3', aNode('n-3', back));
  store.incidents.set('n-2', anIncident('n-2', { phase: 'fenced', ...fenced }));
  store.workloads.set('db', aWorkload('db'));
  store.reports.hear(aReport('n-1', { workloads: [] }), 0);
  put(store);
  return store;
}

const plans = tasks.flatMap((t) => ('plan' in t ? [t] : []));

describe('a field that nobody can make anything of', () => {
  it.each(Object.entries(all))('of one of the %s fails no task as a whole, and nobody else', (_kind, cases) => {
    const failed = plans.flatMap(({ name, plan }) =>
      cases.flatMap(([which, put]) => {
        try {
          const { intents } = planRound(plan, storeWith(put));
          const about = intents.flatMap((i) => (i.do === 'fail-record' ? Object.values(i.about) : []));
          return about.every((subject) => subject === 'odd') ? [] : [`${name}: ${which}: of ${about.join()}`];
        } catch (cause) {
          return [`${name}: ${which}: ${String(cause)}`];
        }
      }),
    );
    expect(failed).toEqual([]);
  });
});
