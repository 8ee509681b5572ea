import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  RESERVATIONS_KEY,
  Subjects,
  type GateAnswer,
  type Hold,
  type Reservations,
  type IncidentRecord,
  type JobRecord,
  type NodeView,
  type RpcRequest,
  type WorkloadRecord,
} from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { until } from '../testing/until.js';
import { ServedFleet } from '../testing/served-fleet.js';

/** Inventory on a real server; the spec plays the agents and the provisioner. */
describe('a node that is to be emptied', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    fleet = served.fleet;
  });

  afterEach(() => served.stop());

  const put = (name: string, workload: RpcRequest<'inventory.workloads.put'>['workload']): Promise<WorkloadRecord> =>
    fleet.bus.call('inventory.workloads.put', { by: 'eve', name, workload });
  const workload = async (name: string): Promise<WorkloadRecord> =>
    (await fleet.bus.bucket<WorkloadRecord>('workloads').get(name))?.value as WorkloadRecord;
  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const drain = (name: string): Promise<NodeView> =>
    fleet.bus.call('inventory.nodes.drain', { by: 'eve', name, reason: 'new memory' });
  const alarm = (code: string): Promise<{ message: string }> =>
    until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === code),
      `alarm ${code}`,
    );
  const jobs = async (): Promise<JobRecord[]> => (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value);
  /** Runs on n-1, as its agent says too. */
  const runsOnFirst = async (name: string, o: Partial<WorkloadRecord> = {}): Promise<void> => {
    fleet.run('n-1', name, 1);
    await put(name, { node: 'n-1', ...(o.priority !== undefined && { priority: o.priority }) });
    await until(async () => (await workload(name)).boot, `${name} seen on n-1`);
  };
  const hold = (name: string, h: Hold | undefined): Promise<unknown> =>
    fleet.bus.bucket<Reservations>('admission').mutate(RESERVATIONS_KEY, (r) => {
      const { [name]: _before, ...held } = r?.value.held ?? {};
      return { pending: {}, generation: 0, ...r?.value, held: h === undefined ? held : { ...held, [name]: h } };
    });
  const waiting = (what: 'stop' | 'start'): Promise<JobRecord> =>
    until(
      async () =>
        (await jobs()).find((j) => j.kind === 'recover' && j.status === 'Queued' && isStop(j) === (what === 'stop')),
      `a job that has something ${what === 'stop' ? 'stopped' : 'started'}`,
    );
  const isStop = (j: JobRecord): boolean => j.recover?.every((t) => t.stop === true) === true;
  /** Does what the job says on the node, as a provisioner would. */
  const carryOut = async (j: JobRecord, o: { reported?: boolean } = {}): Promise<void> => {
    const on = j.nodes[0] ?? '';
    const done: Record<string, { started: boolean; stopped?: boolean; reason: string }> = {};
    for (const t of j.recover ?? []) {
      if (t.stop === true && o.reported !== true) fleet.stop(on, t.workload);
      else if (t.stop !== true) fleet.run(on, t.workload, t.generation);
      done[t.workload] =
        t.stop === true ? { started: false, stopped: true, reason: '' } : { started: true, reason: '' };
    }
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      j.id,
      (c) =>
        c && {
          ...c.value,
          status: 'Complete',
          endedAt: Date.now(),
          results: { [on]: { ok: true, step: 'recover', workloads: done } },
        },
    );
  };

  it('has each workload stopped, read back, and only then started elsewhere, one by one and by priority', async () => {
    await runsOnFirst('db');
    await runsOnFirst('web', { priority: 5 });
    expect(await drain('n-1')).toMatchObject({ cordon: { drain: true }, inService: false, remaining: ['db', 'web'] });
    const first = await waiting('stop');
    expect(first.recover?.map((t) => t.workload)).toEqual(['web']);
    expect(await workload('web')).toMatchObject({ assignment: { node: 'n-1' }, move: { cause: 'drain', from: 'n-1' } });
    expect((await jobs()).filter((j) => j.kind === 'recover')).toHaveLength(1);
    await carryOut(first);
    const start = await waiting('start');
    expect(start.nodes[0]).not.toBe('n-1');
    // The next one stays where it is until this one runs again.
    expect((await workload('db')).stop).toBeUndefined();
    await carryOut(start);
    await carryOut(await waiting('stop'));
    await carryOut(await waiting('start'));
    const done = await until(async () => {
      const n = await node('n-1');
      return n.cordon?.drained !== undefined && n;
    }, 'drained');
    expect(done.remaining).toEqual([]);
    await until(async () => (await workload('db')).move === undefined, 'the move of db is over');
    expect((await workload('db')).assignment?.node).not.toBe('n-1');
  });

  it('is not believed to be rid of a workload on the word of the job alone', async () => {
    await runsOnFirst('db');
    await drain('n-1');
    await carryOut(await waiting('stop'), { reported: true });
    await until(async () => (await workload('db')).stop?.attempt === 1, 'the stop counts as failed', {
      timeoutMs: 15_000,
    });
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1' } });
    expect((await jobs()).filter((j) => j.kind === 'recover' && !isStop(j))).toEqual([]);
  });

  it('keeps a workload running for which there is no room, says so, and moves it when there is', async () => {
    await runsOnFirst('db');
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-2', reason: 'spec' });
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-3', reason: 'spec' });
    await drain('n-1');
    expect((await alarm('drain-stuck')).message).toContain('db: No room');
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1', generation: 1 } });
    expect(await workload('db')).not.toHaveProperty('stop');
    await fleet.bus.call('inventory.nodes.uncordon', { by: 'eve', name: 'n-3' });
    await carryOut(await waiting('stop'));
    expect((await waiting('start')).nodes).toEqual(['n-3']);
  });

  it('lets go of a stopped workload too, without starting it anywhere', async () => {
    await runsOnFirst('db');
    await put('db', { desired: 'stopped' });
    await carryOut(await waiting('stop'));
    await drain('n-1');
    await until(async () => (await workload('db')).assignment === undefined, 'assigned nowhere');
    await until(async () => (await node('n-1')).cordon?.drained, 'drained');
    expect((await jobs()).filter((j) => !isStop(j))).toEqual([]);
  });

  it('is not believed at once when it names what has left it: the look may be of before the stop', async () => {
    await runsOnFirst('db');
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-2', reason: 'spec' });
    await drain('n-1');
    const stop = await waiting('stop');
    await fleet.bus.call('inventory.nodes.cordon', { by: 'eve', name: 'n-3', reason: 'spec' });
    await carryOut(stop);
    await until(async () => (await workload('db')).assignment === undefined, 'it has left');
    fleet.run('n-1', 'db', 1);
    await fleet.bus.call('inventory.nodes.uncordon', { by: 'eve', name: 'n-3' });
    await until(async () => (await node('n-3')).inService, 'there is room');
    fleet.stop('n-1', 'db');
    const start = await waiting('start');
    expect(start).toMatchObject({ nodes: ['n-3'], recover: [{ generation: 4 }] });
    const ask = () => fleet.bus.call('inventory.workloads.mayStart', { workload: 'db', node: 'n-3', generation: 4 });
    fleet.run('n-1', 'db', 1);
    await until(async () => !(await ask()).allowed, 'the start permission is refused');
    expect((await workload('db')).assignment).toEqual({ node: 'n-3', generation: 4 });
    fleet.stop('n-1', 'db');
    await until(async () => (await ask()).allowed, 'nothing stands against it any more');
    await hold('n-3', { job: 'job-x', kind: 'decommission', generation: 1, at: 1 });
    expect(await ask()).toMatchObject({ allowed: false, reason: expect.stringContaining('job-x cleans up n-3') });
    await hold('n-3', undefined);
    expect((await ask()).allowed).toBe(true);

    // A job that has it already asks once more, and so does the gate of its unit.
    const gate = () => fleet.bus.ask<GateAnswer>(Subjects.gate('n-3'), { workload: 'db', bootId: fleet.bootId('n-3') });
    expect((await gate()).allowed).toBe(true);
    const incident = anIncident('n-9', {
      phase: 'recovering',
      proof: { kind: 'read-back', at: 1, doubt: { at: 2, bootId: 'boot-n-9' } },
      recovery: [{ workload: 'db', from: 'n-9', state: 'starting' }],
    });
    await fleet.bus.bucket<IncidentRecord>('incidents').create('n-9', incident);
    const barred = { allowed: false, reason: expect.stringContaining('What proved n-9 off is in doubt') as string };
    expect(await ask()).toMatchObject(barred);
    expect(await gate()).toMatchObject(barred);
    await fleet.bus.bucket('incidents').delete('n-9');
    expect((await ask()).allowed).toBe(true);
  });

  it('begins no further move once it is uncordoned, and finishes the one that has begun', async () => {
    await runsOnFirst('db');
    await runsOnFirst('web', { priority: 5 });
    await drain('n-1');
    const stop = await waiting('stop');
    await fleet.bus.call('inventory.nodes.uncordon', { by: 'eve', name: 'n-1' });
    await carryOut(stop);
    await carryOut(await waiting('start'));
    await until(async () => (await workload('web')).move === undefined, 'the move of web is over');
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1', generation: 1 } });
    expect((await node('n-1')).remaining).toBeUndefined();
  });

  it('goes on under another conductor', async () => {
    await runsOnFirst('db');
    const succeed = await served.join();
    await drain('n-1');
    const stop = await waiting('stop');
    await succeed();
    await carryOut(stop);
    await carryOut(await waiting('start'));
    await until(async () => (await node('n-1')).cordon?.drained, 'drained', { timeoutMs: 15_000 });
    expect((await jobs()).filter((j) => j.kind === 'recover')).toHaveLength(2);
  });

  const policy = (name: 'alarm' | 'drain'): Promise<unknown> =>
    fleet.bus.call('inventory.settings.patch', { by: 'eve', patch: { degraded: { policy: name, after: 200 } } });

  it('is begun by the policy for a node that stays DEGRADED, as far as until it is UP again, without a cordon', async () => {
    await runsOnFirst('db');
    await runsOnFirst('web', { priority: 5 });
    await fleet.say('n-1', { verdict: 'DEGRADED', networks: ['backend'] });
    await until(async () => (await node('n-1')).verdict?.verdict === 'DEGRADED', 'DEGRADED');
    expect(await node('n-1')).toMatchObject({ inService: true });
    await policy('drain');
    const stop = await waiting('stop');
    expect(await workload('web')).toMatchObject({ move: { cause: 'degraded', from: 'n-1' } });
    const out = await node('n-1');
    expect(out.cordon).toBeUndefined();
    expect(out).toMatchObject({ inService: false, reasons: [{ code: 'DEGRADED', detail: 'it is silent on backend' }] });
    await fleet.say('n-1', { verdict: 'UP' });
    await until(async () => (await node('n-1')).inService, 'in service again');
    await carryOut(stop);
    await carryOut(await waiting('start'));
    await until(async () => (await workload('web')).move === undefined, 'the move of web is over');
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1', generation: 1 } });
  });

  const order = async (kind: 'decommission' | 'maintenance', force: boolean): Promise<JobRecord> => {
    const { job } = await fleet.bus.call('inventory.operations.submit', { by: 'eve', kind, nodes: ['n-1'], force });
    return fleet.bus.call('inventory.jobs.get', { id: job });
  };
  const decommission = (force: boolean): Promise<JobRecord> => order('decommission', force);
  const proveOff = async (): Promise<void> => {
    const incidents = fleet.bus.bucket<IncidentRecord>('incidents');
    const i = await until(async () => {
      const entry = await incidents.get('n-1');
      return entry?.value.phase === 'fencing' && entry;
    }, 'fencing');
    const proof = { kind: 'read-back', at: 1, level: 0 } as const;
    await incidents.update('n-1', { ...i.value, phase: 'fenced', proof }, i.revision);
  };
  const movingOf = async (id: string): Promise<string[] | undefined> =>
    (await fleet.bus.call('inventory.jobs.get', { id })).moving;

  it('with force is reserved at once, and its job may begin when the last workload has left', async () => {
    await runsOnFirst('db');
    await expect(decommission(false)).rejects.toMatchObject({ code: 'WORKLOADS_PRESENT' });
    const job = await decommission(true);
    expect(job).toMatchObject({ status: 'Queued', moving: ['db'] });
    const reserved = await until(async () => {
      const n = await node('n-1');
      return n.job !== undefined && n;
    }, 'n-1 reserved');
    expect(reserved).toMatchObject({ status: 'Cancelled', job: job.id });
    const stop = await waiting('stop');
    expect(await workload('db')).toMatchObject({ move: { cause: `job:${job.id}`, from: 'n-1' } });
    await carryOut(stop, { reported: true });
    // Gone by the registry's rules only when the node itself agrees.
    expect(await movingOf(job.id)).toEqual(['db']);
    fleet.stop('n-1', 'db');
    await until(async () => (await movingOf(job.id))?.length === 0, 'the job may begin');
    expect((await workload('db')).assignment?.node).not.toBe('n-1');
  });

  it('with force keeps what has not begun to move when its job is cancelled', async () => {
    await runsOnFirst('db');
    await runsOnFirst('web', { priority: 5 });
    const job = await decommission(true);
    const stop = await waiting('stop');
    await fleet.bus.call('inventory.jobs.cancel', { by: 'eve', id: job.id });
    await until(async () => (await node('n-1')).status === 'Allocated', 'the node is as it was');
    await carryOut(stop);
    await carryOut(await waiting('start'));
    await until(async () => (await workload('web')).move === undefined, 'the move of web is over');
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1', generation: 1 } });
  });

  it('with force is fenced like any other when it dies before its job has begun', async () => {
    await runsOnFirst('db');
    const job = await decommission(true);
    await waiting('stop');
    await fleet.die('n-1');
    await proveOff();
    const start = await waiting('start');
    expect(start.nodes[0]).not.toBe('n-1');
    // The job is kept waiting until its node's incident has recovered what ran there.
    expect(await movingOf(job.id)).not.toEqual([]);
    await carryOut(start);
    await until(async () => (await movingOf(job.id))?.length === 0, 'nothing is left on it');
  });

  it('of a maintenance with force is called off when the node dies before its job has begun: its return decides', async () => {
    await runsOnFirst('db');
    const { id } = await order('maintenance', true);
    await waiting('stop');
    await fleet.die('n-1');
    await proveOff();
    await carryOut(await waiting('start'));
    const job = await until(async () => {
      const j = await fleet.bus.call('inventory.jobs.get', { id });
      return j.settled && j;
    }, 'the job is over');
    expect(job).toMatchObject({ status: 'Errored', cancel: { by: 'muster' } });
    expect(job.error).toBe('n-1 was powered off before it began: order it again when it serves');
    expect(await node('n-1')).toMatchObject({ status: 'Allocated', maintenance: {}, confirmedOff: {} });
    await fleet.boot('n-1');
    const check = await until(async () => (await jobs()).find((j) => j.kind === 'check'), 'its return is checked');
    expect(check).toMatchObject({ nodes: ['n-1'], cause: 'return' });
  });

  it('leaves its workloads to the fencing when it dies in the middle', async () => {
    await runsOnFirst('db');
    await drain('n-1');
    const stop = await waiting('stop');
    await fleet.die('n-1');
    await fleet.bus.call('inventory.nodes.fence', { by: 'eve', name: 'n-1', reason: 'it died' });
    const i = await until(async () => {
      const entry = await fleet.bus.bucket<IncidentRecord>('incidents').get('n-1');
      return entry?.value.phase === 'suppressed' && entry;
    }, 'the cordon stops the fencing');
    await fleet.bus.call('inventory.incidents.confirm', { by: 'eve', node: 'n-1', reason: 'seen' });
    expect(i.value.gate).toBe('NOT_FENCEABLE');
    const start = await waiting('start');
    expect(start.nodes[0]).not.toBe('n-1');
    expect(start.cause).toMatch(/^incident:/);
    // The stop that was on its way to the dead node is called back.
    expect((await jobs()).find((j) => j.id === stop.id)?.cancel).toBeDefined();
    expect(await workload('db')).not.toHaveProperty('move');
  });
});
