import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  AlarmRecord,
  ClusterSettings,
  GateAnswer,
  IncidentPhase,
  IncidentRecord,
  JobRecord,
  MusterEvent,
  NodeRecord,
  WorkloadRecord,
} from '#contracts';
import { POWER_QUARANTINE_MS, READS, SETTINGS_KEY, Subjects, defaultStorm } from '#contracts';
import { anIncident, anOwnProbe, aVerdict } from '../testing/records.js';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { until } from '../testing/until.js';
import { ServedFleet } from '../testing/served-fleet.js';

/** The judge as a whole on a real server: the spec plays agents, detector, fencer and provisioner. */
describe('inventory, from a death to the node back', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  const nodes = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5'];

  beforeEach(async () => {
    served = await ServedFleet.start(nodes);
    fleet = served.fleet;
  });

  afterEach(() => served.stop());

  const record = async <T>(bucket: 'incidents' | 'nodes' | 'workloads' | 'jobs', key: string): Promise<T | undefined> =>
    (await fleet.bus.bucket<T>(bucket).get(key))?.value;
  const phase = (node: string, ...phases: IncidentPhase[]): Promise<IncidentRecord> =>
    until(
      async () => {
        const i = await record<IncidentRecord>('incidents', node);
        return i !== undefined && phases.includes(i.phase) && i;
      },
      `incident of ${node} ${phases.join(' or ')}`,
    );
  const node = async (name: string): Promise<NodeRecord> => (await record<NodeRecord>('nodes', name)) as NodeRecord;
  const workload = async (name: string): Promise<WorkloadRecord> =>
    (await record<WorkloadRecord>('workloads', name)) as WorkloadRecord;
  const jobs = async (): Promise<JobRecord[]> => (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value);
  const recoverJob = (on?: string): Promise<JobRecord> =>
    until(
      async () =>
        (await jobs()).find(
          (j) =>
            j.kind === 'recover' &&
            j.status === 'Queued' &&
            j.cancel === undefined &&
            (on === undefined || j.nodes[0] === on),
        ),
      'a recover job',
    );
  const alarm = (code: string): Promise<AlarmRecord> =>
    until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.code === code),
      `alarm ${code}`,
    );

  /** The fencing leader's part: power proven off. */
  const proveOff = async (name: string): Promise<void> => {
    const i = await phase(name, 'fencing');
    const go = await fleet.bus.call('inventory.incidents.recheck', {
      node: name,
      incident: i.id,
      epoch: 1,
      reads: READS.powerRecords,
    });
    expect(go).toMatchObject({ go: true });
    const at = Date.now();
    await fleet.bus.bucket<IncidentRecord>('incidents').update(
      name,
      {
        ...i,
        phase: 'fenced',
        epoch: 1,
        commands: [
          { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at, endedAt: at, result: { ok: true } },
        ],
        proof: { kind: 'read-back', at, level: 0 },
        steps: [...i.steps, { phase: 'fenced', at, detail: 'read back as off' }],
      },
      go.revision,
    );
  };

  /** The node's part. */
  const askGate = (on: string, name: string): Promise<GateAnswer> =>
    fleet.bus.ask<GateAnswer>(Subjects.gate(on), { workload: name, bootId: fleet.bootId(on) });

  /** The provisioner's part: asks, starts, tells. */
  const carryOut = async (job: JobRecord): Promise<string[]> => {
    const on = job.nodes[0] as string;
    const workloads: Record<string, { started: boolean; reason: string }> = {};
    for (const t of job.recover ?? []) {
      const may = await fleet.bus.call('inventory.workloads.mayStart', {
        workload: t.workload,
        node: on,
        generation: t.generation,
      });
      const gate = await askGate(on, t.workload);
      workloads[t.workload] = { started: may.allowed && gate.allowed, reason: may.reason };
      if (may.allowed && gate.allowed) fleet.run(on, t.workload, t.generation);
    }
    const ok = Object.values(workloads).every((w) => w.started);
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      job.id,
      (current) =>
        current && {
          ...current.value,
          status: ok ? 'Complete' : 'Errored',
          endedAt: Date.now(),
          results: { [on]: { ok, step: 'recover', workloads } },
        },
    );
    return Object.keys(workloads).filter((w) => workloads[w]?.started);
  };

  it('opens no incident of a node that it powered on before the grace for its boot is over', async () => {
    const leaveGrace = 4_000;
    await fleet.bus.bucket<ClusterSettings>('settings').mutate(SETTINGS_KEY, (s) => s && { ...s.value, leaveGrace });
    const at = Date.now();
    const before = (await node('n-1')).bootId;
    const on = {
      n: 1,
      epoch: 1,
      fencer: 'f',
      level: 0,
      device: 'bmc',
      verb: 'on',
      at,
      endedAt: at,
      result: { ok: true },
    };
    const order = { action: 'on', by: 'eve', reason: 'r', at, after: 0, bootId: before, done: true, ok: true };
    const switched = {
      ...anIncident('n-1', { id: 'before', phase: 'closed' }),
      commands: [on],
      order,
    } as IncidentRecord;
    const began = performance.now();
    await fleet.bus.bucket<IncidentRecord>('incidents').mutate('n-1', () => switched);
    await fleet.die('n-1');
    await until(async () => (await node('n-1')).verdict?.verdict === 'DOWN', 'n-1 noted as down');
    const opened = await until(async () => {
      const i = await record<IncidentRecord>('incidents', 'n-1');
      return i?.id !== 'before' && i;
    }, 'an incident of n-1');
    expect(opened.phase).not.toBe('closed');
    expect(performance.now() - began).toBeGreaterThanOrEqual(leaveGrace);
  });

  it('does not open an incident in the place of an order to switch on that is still to be carried out', async () => {
    const order = { action: 'on' as const, by: 'eve', reason: 'r', at: 1, after: 0 };
    const before = { ...anIncident('n-1', { id: 'before', phase: 'closed' }), order };
    await fleet.bus.bucket<IncidentRecord>('incidents').mutate('n-1', () => before);
    await fleet.die('n-1');
    await until(async () => (await node('n-1')).verdict?.verdict === 'DOWN', 'n-1 noted as down');
    // When the one that died after it has its incident, n-1 was looked at.
    await fleet.die('n-2');
    await until(async () => record<IncidentRecord>('incidents', 'n-2'), 'an incident of n-2');
    expect(await record<IncidentRecord>('incidents', 'n-1')).toMatchObject({ id: 'before', order });
    await fleet.bus
      .bucket<IncidentRecord>('incidents')
      .mutate('n-1', () => ({ ...before, order: { ...order, done: true, ok: false } }));
    await until(
      async () => (await record<IncidentRecord>('incidents', 'n-1'))?.id !== 'before',
      'an incident of n-1, when its order has ended',
    );
  });

  it('fences, recovers on another node, wants the power on again and closes when the node is back', async () => {
    await served.runs('db', 'n-1');
    await fleet.die('n-1');
    const fencing = await phase('n-1', 'fencing');
    expect(fencing.gates.every((g) => g.pass)).toBe(true);
    expect((await workload('db')).assignment?.node).toBe('n-1');
    expect((await jobs()).filter((j) => j.kind === 'recover')).toEqual([]);

    await proveOff('n-1');
    const job = await recoverJob();
    expect(job.nodes[0]).not.toBe('n-1');
    expect(job).toMatchObject({ cause: `incident:${fencing.id}`, recover: [{ workload: 'db', generation: 3 }] });
    expect((await node('n-1')).confirmedOff?.incident).toBe(fencing.id);
    expect((await node('n-1')).maintenance?.incident).toBe(fencing.id);
    const old = await askGate('n-1', 'db');
    expect(old.allowed).toBe(false);

    expect(await carryOut(job)).toEqual(['db']);
    const recovered = await phase('n-1', 'recovered');
    expect(recovered.powerOn?.wanted).toBe(true);
    expect(recovered.recovery).toMatchObject([{ workload: 'db', to: job.nodes[0], state: 'running' }]);
    await until(async () => ((await node('n-1')).poweredOnAt ?? []).length === 1, 'power-on counted');

    await fleet.boot('n-1');
    const back = await until(async () => {
      const n = await node('n-1');
      return n.confirmedOff === undefined && n.pendingReturn !== undefined && n;
    }, 'n-1 has returned');
    expect(back.maintenance).toBeDefined();
    expect((await record<IncidentRecord>('incidents', 'n-1'))?.phase).toBe('recovered');
    const { maintenance: _m, pendingReturn: _p, ...passed } = await node('n-1');
    await fleet.bus.bucket<NodeRecord>('nodes').mutate('n-1', () => passed);
    await phase('n-1', 'closed');
    expect(fleet.runs(job.nodes[0] as string)).toEqual(['db']);

    const told: string[] = [];
    const reader = fleet.bus.follow([Subjects.event('incident', 'n-1')], { fromSeq: 1 }, (_s, e) => {
      told.push((e as MusterEvent<'incident'>).data.phase);
    });
    await until(() => told.includes('closed'), 'the story is told');
    await reader.close();
    expect(told).toEqual(['open', 'investigating', 'fencing', 'fenced', 'recovering', 'recovered', 'closed']);
  });

  it('lets a fenced node be deleted whose hardware never comes back, once nothing more can come of its power', async () => {
    await fleet.die('n-2');
    await proveOff('n-2');
    const { id } = await phase('n-2', 'recovered');
    const remove = () => fleet.bus.call('inventory.nodes.delete', { by: 'eve', name: 'n-2' });
    await expect(remove()).rejects.toMatchObject({
      code: 'NODE_BUSY',
      message: expect.stringContaining(`n-2 has an open incident: ${id} is recovered, and the node being switched on`),
    });
    await fleet.bus
      .bucket<IncidentRecord>('incidents')
      .mutate('n-2', (i) => i && { ...i.value, powerOn: { wanted: true, requestedAt: 1, done: true, ok: false } });
    const refusals = new Set<string>();
    await until(
      () =>
        remove().then(
          () => true,
          (e: Error) => void refusals.add(e.message),
        ),
      'n-2 is deleted',
      { timeoutMs: 2 * POWER_QUARANTINE_MS },
    );
    expect([...refusals]).toEqual([
      `n-2 has an open incident: ${id} is recovered, yet a power-off of incident ${id} may still take effect`,
    ]);
    expect((await phase('n-2', 'closed')).steps.at(-1)?.detail).toBe('The node was deleted.');
  });

  it('cancels when the node is back before the first command', async () => {
    await fleet.die('n-2');
    const i = await phase('n-2', 'fencing');
    await fleet.revive('n-2');
    const again = await fleet.bus.call('inventory.incidents.recheck', {
      node: 'n-2',
      incident: i.id,
      epoch: 1,
      reads: READS.powerRecords,
    });
    expect(again.go).toBe(false);
    await phase('n-2', 'cancelled');
  });

  it('stops at a sign of life, and raises and clears the alarm', async () => {
    fleet.sighted = true;
    await fleet.die('n-3');
    const i = await phase('n-3', 'fencing');
    await fleet.say('n-3', {
      evidence: { ...i.verdict!.evidence, ownProbe: anOwnProbe({ ssh: 'banner' }) },
    });
    expect((await phase('n-3', 'suppressed')).gate).toBe('LIFE_SIGN');
    await alarm('agent-down');
    await fleet.revive('n-3');
    await phase('n-3', 'cancelled');
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.length === 0,
      'the alarm is cleared',
    );
  });

  it('gives a living host with a dead agent an alarm and no power-off, and checks it when the agent is back', async () => {
    await fleet.loseAgent('n-3');
    expect((await phase('n-3', 'suppressed')).steps.some((s) => s.phase === 'fencing')).toBe(false);
    expect((await alarm('agent-down')).subject).toBe('n-3');
    // Something else is seen at the same gate.
    const { evidence } = aVerdict('n-3');
    await fleet.say('n-3', { evidence: { ...evidence, ownProbe: anOwnProbe({ ssh: 'accepted' }) } });
    expect((await alarm('host-hung')).subject).toBe('n-3');
    await fleet.revive('n-3');
    await phase('n-3', 'cancelled');
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.length === 0,
      'the alarm is cleared',
    );
    const check = await until(async () => (await jobs()).find((j) => j.cause === 'return'), 'the check');
    expect(check).toMatchObject({ kind: 'check', nodes: ['n-3'] });
  });

  it('leaves a node alone that said that it leaves, and takes it for dead when the detector does', async () => {
    await fleet.say('n-2', { verdict: 'LEFT', reason: 'It said that it leaves.' });
    await until(async () => (await node('n-2')).state === 'Disappeared', 'n-2 has left');
    // Another one's death is dealt with, in rounds that have looked at the one that left too.
    await fleet.die('n-4');
    await phase('n-4', 'fencing');
    expect(await record('incidents', 'n-2')).toBeUndefined();
    await fleet.die('n-2');
    await phase('n-2', 'fencing');
  });

  it('fences nobody where too many die at once, and shows why', async () => {
    await fleet.die('n-1', 'n-2', 'n-3');
    const stopped = await Promise.all(['n-1', 'n-2', 'n-3'].map((n) => phase(n, 'suppressed', 'fencing')));
    // The first to be judged may have been alone: two are within the limit of five nodes, three never.
    expect(stopped.filter((i) => i.phase === 'fencing').length).toBeLessThanOrEqual(2);
    expect(stopped.some((i) => i.gate === 'BRAKE')).toBe(true);
    await alarm('brake');
  });

  it('moves a workload on when its new node dies during the recovery, and starts it once', async () => {
    await served.runs('db', 'n-1');
    await fleet.die('n-1');
    await proveOff('n-1');
    const first = await recoverJob();
    const target = first.nodes[0] as string;
    await fleet.die(target);
    await proveOff(target);
    const second = await until(
      async () => (await jobs()).find((j) => j.kind === 'recover' && j.id !== first.id),
      'a second recover job',
    );
    expect([target, 'n-1']).not.toContain(second.nodes[0]);
    expect((await jobs()).find((j) => j.id === first.id)?.cancel).toBeDefined();
    expect(await carryOut(first)).toEqual([]);
    expect(await carryOut(second)).toEqual(['db']);
    await phase('n-1', 'recovered');
    await phase(target, 'recovered');
  });

  it('corrects the registry instead of starting what an operator has moved by hand', async () => {
    await served.runs('db', 'n-1');
    fleet.run('n-4', 'db', 1);
    await fleet.die('n-1');
    await proveOff('n-1');
    await phase('n-1', 'recovered');
    expect((await workload('db')).assignment?.node).toBe('n-4');
    expect((await jobs()).filter((j) => j.kind === 'recover')).toEqual([]);
  });

  it('keeps stopped workloads stopped and tells of those that find no room', async () => {
    await served.runs('web', 'n-1');
    await served.runs('big', 'n-1', { hostGroup: 'nowhere' });
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'web', workload: { desired: 'stopped' } });
    await fleet.die('n-1');
    await proveOff('n-1');
    const i = await phase('n-1', 'recovered');
    expect(Object.fromEntries(i.recovery.map((r) => [r.workload, r.state]))).toEqual({
      web: 'skipped',
      big: 'no-room',
    });
    await alarm('no-room');
    await fleet.bus.call('inventory.workloads.put', { by: 'eve', name: 'big', workload: { hostGroup: 'g' } });
    await fleet.bus.bucket<NodeRecord>('nodes').mutate('n-2', (c) => c && { ...c.value, hostGroup: 'g' });
    expect(await carryOut(await recoverJob('n-2'))).toEqual(['big']);
    await until(
      async () => (await fleet.bus.call('inventory.alarms.list', {})).items.every((a) => a.code !== 'no-room'),
      'room found',
    );
  });

  it('does not start before every node in service has said what it runs', async () => {
    await served.runs('db', 'n-1');
    const mute = (on: boolean): void => {
      const original = fleet.bus.publish.bind(fleet.bus);
      fleet.bus.publish = on ? (s, v) => (s === Subjects.report('n-5') ? undefined : original(s, v)) : original;
    };
    mute(true);
    await fleet.die('n-1');
    await proveOff('n-1');
    const held = await alarm('workload-held');
    expect(held.message).toContain('n-5');
    expect((await jobs()).filter((j) => j.kind === 'recover')).toEqual([]);
    delete (fleet.bus as { publish?: unknown }).publish;
    await carryOut(await recoverJob());
    await phase('n-1', 'recovered');
  });

  it('starts the workloads of a node that rebooted unseen in place, once its check has passed', async () => {
    await fleet.bus
      .bucket<NodeRecord>('nodes')
      .mutate('n-2', (c) => c && { ...c.value, provisioned: { checksum: 'c', at: 1, job: 'j' } });
    await served.runs('db', 'n-2');
    await fleet.boot('n-2');
    await until(async () => (await workload('db')).held, 'db is lost and held');
    const early = await askGate('n-2', 'db');
    expect(early.allowed).toBe(false);
    const check = await until(
      async () => (await jobs()).find((j) => j.kind === 'check'),
      'a check of the returned node',
    );
    expect((await jobs()).filter((j) => j.kind === 'recover')).toEqual([]);
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      check.id,
      (c) =>
        c && {
          ...c.value,
          status: 'Complete',
          endedAt: Date.now(),
          results: {
            'n-2': {
              ok: true,
              step: 'check',
              check: { findings: [{ service: 'agent', result: 'ok', why: '' }], checksum: 'c' },
            },
          },
        },
    );
    const job = await recoverJob('n-2');
    expect(job.recover).toMatchObject([{ workload: 'db', generation: 1 }]);
    expect(await carryOut(job)).toEqual(['db']);
    await until(async () => (await workload('db')).boot === fleet.bootId('n-2'), 'db runs in the new boot');
  });

  it('moves them when the check takes longer, after which their old node starts them no more', async () => {
    await served.runs('db', 'n-2');
    await fleet.boot('n-2');
    const job = await until(
      async () => (await jobs()).find((j) => j.kind === 'recover' && j.status === 'Queued'),
      'a recover job elsewhere',
      { timeoutMs: 20_000 },
    );
    expect(job.nodes[0]).not.toBe('n-2');
    expect(await carryOut(job)).toEqual(['db']);
    const old = await askGate('n-2', 'db');
    expect(old.allowed).toBe(false);
  });

  it('fences a node that dies in the middle of its check, without waiting for the end of that', async () => {
    await fleet.boot('n-2');
    const check = await until(
      async () => (await jobs()).find((j) => j.kind === 'check' && j.nodes.includes('n-2')),
      'a check of the returned node',
    );
    await fleet.die('n-2');
    expect(await phase('n-2', 'suppressed', 'fencing')).toMatchObject({ phase: 'fencing' });
    expect(await record<JobRecord>('jobs', check.id)).not.toHaveProperty('endedAt');
  });

  it('is carried on by another replica when the conductor stops in the middle', async () => {
    await served.runs('db', 'n-1');
    const succeed = await served.join();
    await fleet.die('n-1');
    await proveOff('n-1');
    await succeed();
    await carryOut(await recoverJob());
    await phase('n-1', 'recovered');
    expect((await jobs()).filter((j) => j.kind === 'recover')).toHaveLength(1);
  });

  it("takes an operator's word for the proof, says so when it was wrong, and refuses it while the node is heard", async () => {
    await served.runs('db', 'n-4');
    await fleet.bus.bucket<NodeRecord>('nodes').mutate('n-2', (c) => c && { ...c.value, powerLevels: [] });
    await fleet.die('n-2');
    expect((await phase('n-2', 'suppressed')).gate).toBe('NOT_FENCEABLE');
    const confirm = (force?: boolean): Promise<IncidentRecord> =>
      fleet.bus.call('inventory.incidents.confirm', {
        by: 'eve',
        node: 'n-2',
        reason: 'unplugged',
        ...(force && { force }),
      });
    await confirm();
    const i = await phase('n-2', 'recovered');
    expect(i.proof).toMatchObject({ kind: 'manual', by: 'eve', reason: 'unplugged' });
    expect(i.powerOn?.wanted).toBe(false);

    fleet.run('n-2', 'db', 1);
    await fleet.revive('n-2');
    expect((await alarm('conflict-power')).message).toContain('eve');
    expect((await alarm('conflict-workload')).message).toContain('n-2');
    // The proof is void, and nobody takes anything from n-2 any more: whoever looks follows what runs there.
    await phase('n-2', 'cancelled');
    const { generation } = await workload('db');
    const may = await fleet.bus.call('inventory.workloads.mayStart', { workload: 'db', node: 'n-4', generation });
    expect(may.allowed).toBe(false);
    expect((await workload('db')).assignment).toEqual({ node: 'n-2', generation: generation + 1, followed: 1 });

    const { incident } = await fleet.bus.call('inventory.nodes.fence', { by: 'eve', name: 'n-3', reason: 'noisy' });
    expect(incident?.cause).toBe('manual');
    expect((await phase('n-3', 'suppressed')).gate).toBe('LIFE_SIGN');
    await expect(
      fleet.bus.call('inventory.incidents.confirm', { by: 'eve', node: 'n-3', reason: 'x' }),
    ).rejects.toMatchObject({ code: 'STILL_ALIVE' });
    await expect(
      fleet.bus.call('inventory.incidents.release', { by: 'eve', node: 'n-3', reason: 'x' }),
    ).rejects.toMatchObject({ code: 'FENCING_REFUSED' });
    await fleet.bus.call('inventory.incidents.release', { by: 'eve', node: 'n-3', reason: 'x', force: true });
    await phase('n-3', 'fencing');
  });

  it('writes nothing to a power device in mode observe, and stops what is under way when it is paused', async () => {
    await fleet.die('n-4');
    const i = await phase('n-4', 'fencing');
    const pause = { until: Date.now() + 60_000, reason: 'moving racks' };
    await fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'enforce', paused: pause });
    expect((await phase('n-4', 'suppressed')).gate).toBe('PAUSED');
    expect(
      await fleet.bus.call('inventory.incidents.recheck', {
        node: 'n-4',
        incident: i.id,
        epoch: 1,
        reads: READS.powerRecords,
      }),
    ).toMatchObject({ go: false });
    await fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'enforce' });
    await phase('n-4', 'fencing');
    await fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'observe' });
    expect((await phase('n-4', 'suppressed')).gate).toBe('OBSERVE');
    const storm = { brakeShare: 0, brakeAtLeast: 1 };
    expect(await fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'observe', storm })).toMatchObject({
      storm: { ...defaultStorm, ...storm },
    });
    await until(
      async () => (await fleet.bus.call('inventory.status', {})).brake.limit === 1,
      'the brake of the new settings',
    );
    await expect(
      fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'observe', storm: { flaps: 0 } }),
    ).rejects.toMatchObject({ code: 'SETTINGS_INVALID' });
    await expect(
      fleet.bus.call('inventory.fencing.put', { by: 'eve', mode: 'enforce' }, { timeoutMs: 10_000 }),
    ).rejects.toMatchObject({
      code: 'FENCING_REFUSED',
    });
  });

  it('treats a node that stays DEGRADED as DOWN where the policy says so, and holds it as long as it is heard', async () => {
    await served.runs('db', 'n-1');
    await fleet.bus.call('inventory.settings.patch', {
      by: 'eve',
      patch: { degraded: { policy: 'down', after: 200 } },
    });
    await fleet.say('n-1', { verdict: 'DEGRADED', networks: ['backend'], reason: 'Silent on backend.' });
    const held = await phase('n-1', 'suppressed');
    expect(held).toMatchObject({ degraded: true, gate: 'LIFE_SIGN', reason: expect.stringContaining('By policy') });
    expect((await alarm('partial-reachability')).subject).toBe('n-1');
    const ask = { node: 'n-1', incident: held.id, epoch: 1, reads: READS.powerRecords };
    expect(await fleet.bus.call('inventory.incidents.recheck', ask)).toMatchObject({ go: false });
    const release = (force: boolean): Promise<unknown> =>
      fleet.bus.call('inventory.incidents.release', { by: 'eve', node: 'n-1', reason: 'sure', force });
    await expect(release(false)).rejects.toMatchObject({ code: 'FENCING_REFUSED' });
    await fleet.say('n-1', { verdict: 'UP' });
    const over = await phase('n-1', 'cancelled');
    expect(over.steps.some((s) => s.phase === 'fencing')).toBe(false);
    expect(await workload('db')).toMatchObject({ assignment: { node: 'n-1', generation: 1 } });

    await fleet.say('n-1', { verdict: 'DEGRADED', networks: ['backend'] });
    await phase('n-1', 'suppressed');
    await release(true);
    await phase('n-1', 'fencing');
  });
});
