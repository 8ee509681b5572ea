import { beforeEach, describe, expect, it } from 'vitest';
import { MusterError, RESERVATIONS_KEY, type JobRecord, type NodeRecord, type PendingReturn } from '#contracts';
import type { OperationsService, SystemCause } from '../../operations/operations.service.js';
import { aJob, aNode } from '../../testing/fixtures.js';
import { MemoryStore } from '../../testing/memory-store.js';
import { planExecutor } from '../../testing/planned.js';
import { playRun } from '../../testing/play-run.js';
import { anIncident, aReport, aWorkload } from '../../testing/records.js';
import { returns, RETURNS_AT_ONCE } from './returns.js';

const returned = (pendingReturn?: PendingReturn, name = 'a-1'): NodeRecord =>
  aNode(name, { status: 'Allocated', state: 'Discovered', enrolled: false, ...(pendingReturn && { pendingReturn }) });
const waits: PendingReturn = { reason: 'rebooted', at: 1 };
const due: PendingReturn = { ...waits, next: 'resetup' };

interface Asked {
  kind: string;
  node: string | undefined;
  system: SystemCause;
}

let store: MemoryStore;
/** What is asked for; each request is refused that names one of these nodes. */
let asked: Asked[];
let refused: Set<string | undefined>;
let round: (afterMs?: number) => Promise<void>;

beforeEach(() => {
  store = new MemoryStore();
  asked = [];
  refused = new Set();
  const submit = async (r: { kind: string; nodes?: string[] }, system: SystemCause): Promise<JobRecord> => {
    const node = r.nodes?.[0];
    asked.push({ kind: r.kind, node, system });
    if (refused.has(node)) throw new MusterError('NO_WORKERS', 'no provisioner is alive');
    return Promise.resolve(aJob());
  };
  const reconciler = planExecutor(store, { operations: { submit: submit as OperationsService['submit'] } }).drive(
    returns,
  );
  round = (afterMs = 0) => {
    store.clock.now += afterMs;
    return playRun(reconciler, { now: store.clock.now });
  };
});

/** What is asked for a node that is so in each of these rounds, 10 s apart. */
async function submitted(...rounds: NodeRecord[]): Promise<Asked[]> {
  asked = [];
  for (const node of rounds) {
    store.nodes.set(node.name, node);
    await round(10_000);
  }
  return asked;
}

describe('the job that is asked for', () => {
  it('is a check, and is needed only while the node as decided upon waits for one', async () => {
    const [check] = await submitted(returned(waits));
    expect(check).toMatchObject({ kind: 'check', node: 'a-1', system: { cause: 'return' } });
    const needs = (n: NodeRecord) => check?.system.needs(n);
    expect(needs(returned(waits))).toBe(true);
    expect(needs(returned(due))).toBe(false);
    expect(needs(returned())).toBe(false);
  });

  it('is a re-setup, and is needed no more once the node is in service or has returned anew', async () => {
    const [resetup] = await submitted(returned(due));
    expect(resetup?.kind).toBe('resetup');
    const needs = (n: NodeRecord) => resetup?.system.needs(n);
    expect(needs(returned(due))).toBe(true);
    expect(needs(returned())).toBe(false);
    expect(needs(returned(waits))).toBe(false);
    expect(needs({ ...returned(due), state: 'Disappeared' })).toBe(false);
  });

  it('is a re-setup of some services only, while these are what the last check has found', async () => {
    const of = (...only: string[]) => returned({ ...due, ...(only.length > 0 && { only }) });
    const [resetup] = await submitted(of('web'));
    expect(resetup?.system.services).toEqual(['web']);
    expect(resetup?.system.needs(of('web'))).toBe(true);
    expect(resetup?.system.needs(of('web', 'log'))).toBe(false);
    expect(resetup?.system.needs(of())).toBe(false);
    expect((await submitted(of()))[0]?.system).not.toHaveProperty('services');
  });

  it('is needed by all that is known when it is decided, not only when it was planned', async () => {
    const [check] = await submitted(returned(waits));
    expect(check?.system.needs(returned(waits))).toBe(true);
    store.reservations.set(RESERVATIONS_KEY, {
      ...{ held: { 'a-1': { edit: 'e', generation: 2, at: 1 } }, pending: {}, generation: 2 },
    });
    expect(check?.system.needs(returned(waits))).toBe(false);
  });

  it('calls a workload absent that the node does not run, and that is assigned to it as far as is known', async () => {
    const db = aWorkload('db', { assignment: { node: 'a-1', generation: 1 }, desired: 'stopped' });
    store.workloads.set('db', db);
    const [resetup] = await submitted(returned(due));
    const isAbsent = (node: string, workload: string) => resetup?.system.isAbsent?.(node, workload);
    expect([isAbsent('a-1', 'db'), isAbsent('a-1', 'unseen'), isAbsent('b-22', 'db')]).toEqual([true, false, false]);
    store.workloads.set('db', { ...db, desired: 'running' });
    expect(isAbsent('a-1', 'db')).toBe(false);
  });
});

describe('a return', () => {
  it('waits after each check that has failed, whatever has failed before it, and not for one of an earlier return', async () => {
    const failed = (failedTries: number) => returned({ ...waits, failedTries, failedWhy: 'no such module' });
    expect(await submitted(returned({ ...waits, unreached: { tries: 2, why: 'no route' } }), failed(1))).toEqual([]);
    expect(await submitted(failed(4), returned({ ...waits, at: 2 }))).toMatchObject([{ kind: 'check' }]);
  });

  it('lets others go first for a second whose job was refused', async () => {
    for (const name of ['a-1', 'b-22']) store.nodes.set(name, returned(waits, name));
    refused.add('a-1');
    const names = async (afterMs: number): Promise<(string | undefined)[]> => {
      asked = [];
      await round(afterMs);
      return asked.map((a) => a.node);
    };
    expect(await names(0)).toEqual(['a-1', 'b-22']);
    expect(await names(999)).toEqual(['b-22']);
    expect(await names(1)).toEqual(['a-1', 'b-22']);
  });

  it('is one of four at a time, and in the place of one that was refused the next is begun', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `n-${'x'.repeat(i + 1)}`);
    for (const [i, name] of names.entries()) store.nodes.set(name, returned({ ...waits, at: 10 - i }, name));
    store.jobs.set('running', aJob({ id: 'running', status: 'Running', cause: 'return' }));
    store.jobs.set('over', aJob({ id: 'over', cause: 'return', settled: true }));
    refused.add(names[5]);
    await round();
    const longestFirst = names.toReversed();
    expect(asked.map((a) => a.node)).toEqual(longestFirst.slice(0, RETURNS_AT_ONCE));
  });

  describe('that nobody saw', () => {
    const fenced: NodeRecord = { ...returned(), maintenance: { reason: 'fenced', at: 1 } };

    it.each<[string, NodeRecord]>([
      ['in service', returned()],
      ['no longer `Allocated`', { ...fenced, status: 'Maintenance' }],
      ['proven off again', { ...fenced, confirmedOff: { at: 2, incident: 'i' } }],
      ['enrolled, and not heard', { ...fenced, enrolled: true }],
    ])('is not noted where the node is %s when that is written', async (_is, changed) => {
      store.nodes.set('a-1', fenced);
      const { mutate } = store.nodes.bucket;
      store.nodes.bucket.mutate = async (key, fn) => {
        store.nodes.set('a-1', changed);
        return mutate(key, fn);
      };
      await round();
      expect(store.nodes.content['a-1']?.pendingReturn).toBeUndefined();
      store.nodes.bucket.mutate = mutate;
      store.nodes.set('a-1', fenced);
      await round();
      expect(store.nodes.content['a-1']?.pendingReturn).toMatchObject({ reason: 'disappeared' });
    });

    it.each<[string, () => void]>([
      [
        'an edit has taken the node',
        () =>
          store.reservations.set(RESERVATIONS_KEY, {
            ...{ held: { 'a-1': { edit: 'e', generation: 2, at: 1 } }, pending: {}, generation: 2 },
          }),
      ],
      ['the node is being fenced again', () => store.incidents.set('a-1', anIncident('a-1', { phase: 'fencing' }))],
    ])('is not noted where %s since it was planned', (_why, happen) => {
      store.nodes.set('a-1', fenced);
      const executor = planExecutor(store);
      const { fleet, ages } = executor.asOf(returns);
      const intents = returns.plan(fleet, ages);
      const noted = () =>
        intents.map((i) =>
          i.do === 'change-node' ? i.decide(fenced, { fleet: executor.asOf(returns).fleet, token: 1, uuid: 'u' }) : i,
        );
      expect(noted()).toMatchObject([{ pendingReturn: { reason: 'disappeared' } }]);
      happen();
      expect(noted()).toEqual([undefined]);
    });
  });

  it('is held by what was decided on it, and by nothing that was decided on the one before', async () => {
    const { fencing } = store.clusterSettings;
    store.clusterSettings.fencing = { ...fencing, storm: { ...fencing.storm, flaps: 0 } };
    store.nodes.set('a-1', returned());
    await round();
    store.nodes.set('a-1', returned(waits));
    const { mutate } = store.nodes.bucket;
    store.nodes.bucket.mutate = async (key, fn) => {
      store.nodes.set('a-1', returned({ ...waits, at: 2 }));
      return mutate(key, fn);
    };
    await round();
    expect(store.nodes.content['a-1']?.pendingReturn).toEqual({ ...waits, at: 2 });
    store.nodes.bucket.mutate = mutate;
    await round();
    expect(store.nodes.content['a-1']?.pendingReturn?.held).toContain('flapping');
  });

  describe('of which it was planned that it is held, or held no more', () => {
    const cordon = { reason: 'by hand', by: 'ops', at: 1 };
    const held: PendingReturn = { ...due, held: 'drift, needs operator (it runs db)', heldBy: 'work' };
    /** What would be written about the node as it is now, by a plan of before `happen`. */
    const written = (planned: NodeRecord, now: NodeRecord, happen: () => unknown): (PendingReturn | undefined)[] => {
      const executor = planExecutor(store);
      // It is seen to come back: that counts.
      for (const node of [returned(), planned]) {
        store.nodes.set('a-1', node);
        executor.asOf(returns);
      }
      const { fleet, ages } = executor.asOf(returns);
      const intents = returns.plan(fleet, ages);
      happen();
      const found = { fleet: executor.asOf(returns).fleet, token: 1, uuid: 'u' };
      return intents.map((i) => (i.do === 'change-node' ? i.decide(now, found)?.pendingReturn : undefined));
    };
    const nothing = (): void => undefined;

    beforeEach(() => {
      const { fencing } = store.clusterSettings;
      store.clusterSettings.fencing = { ...fencing, storm: { ...fencing.storm, flaps: 0 } };
    });

    it('is held by all that is known when that is written', () => {
      const node = returned(waits);
      expect(written(node, node, nothing)).toMatchObject([{ held: 'flapping: 1 returns in ten minutes' }]);
      expect(written(node, { ...node, cordon }, nothing)).toEqual([undefined]);
      expect(written(node, { ...node, status: 'Maintenance' }, nothing)).toEqual([undefined]);
      const fenced = () => store.incidents.set('a-1', anIncident('a-1', { phase: 'fencing' }));
      expect(written(node, node, fenced)).toEqual([undefined]);
    });

    it('is held on while its node runs something again', () => {
      const node = returned(held);
      const { held: _held, heldBy: _by, next: _next, ...anew } = held;
      expect(written(node, node, nothing)).toEqual([anew]);
      expect(written(node, { ...node, cordon }, nothing)).toEqual([undefined]);
      const starts = () => store.workloads.set('db', aWorkload('db', { assignment: { node: 'a-1', generation: 1 } }));
      expect(written(node, node, starts)).toEqual([undefined]);
    });
  });

  it('is set up again once its node has named nothing for long enough, through a silence and not through a word', async () => {
    const verdict = { verdict: 'UP' as const, networks: [], epoch: 1, seq: 1, at: 1 };
    store.nodes.set('a-1', { ...returned(due), enrolled: true, bootId: 'boot-a-1', verdict });
    store.workloads.set('db', aWorkload('db', { assignment: { node: 'a-1', generation: 1 }, boot: 'boot-before' }));
    let seq = 0;
    const says = (...names: string[]): void => {
      const workloads = names.map((name) => ({ name, generation: 1, starting: true as const }));
      store.reports.hear(aReport('a-1', { seq: (seq += 1), workloads }), store.clock.now);
    };
    says();
    await round();
    for (const word of ['db', undefined]) {
      asked = [];
      store.clock.now += 4_000;
      if (word !== undefined) says(word);
      await round();
      store.clock.now += 1_000;
      says();
      await round();
      store.clock.now += 3_500;
      says();
      await round();
      expect([word, asked.length > 0]).toEqual([word, word === undefined]);
    }
  });
});
