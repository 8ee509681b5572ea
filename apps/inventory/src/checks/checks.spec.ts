import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isEndedJob,
  PERIODIC,
  Subjects,
  type AlarmView,
  type EventMap,
  type Finding,
  type JobRecord,
  type NodeRecord,
  type NodeResult,
  type NodeView,
} from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

const MONTH_MS = 2_592_000_000;

/** A running inventory on a real server, in hurried time; the spec plays agents, detector and provisioner. */
describe('a node in service', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  /** All that a node was taken out of service for by its record. */
  let taken: string[];
  let stopWatching: () => Promise<void>;

  beforeEach(async () => {
    served = await ServedFleet.start(['n-1', 'n-2'], { hurry: 5 });
    fleet = served.fleet;
    taken = [];
    const view = await fleet.bus.bucket<NodeRecord>('nodes').view();
    view.onChange((name, n) => {
      if (n?.pendingReturn ?? n?.maintenance ?? n?.cordon) taken.push(name);
    });
    stopWatching = () => view.close();
    for (const name of ['n-1', 'n-2']) await fleet.say(name, { verdict: 'UP' });
    await provisioned('n-1', 1);
    await provisioned('n-2', Date.now());
  });
  afterEach(async () => {
    await stopWatching();
    await served.stop();
  });

  const nodes = () => fleet.bus.bucket<NodeRecord>('nodes');
  const provisioned = (name: string, at: number): Promise<unknown> =>
    nodes().mutate(name, (n) => n && { ...n.value, provisioned: { checksum: 'sum', at, job: 'job-0' } });
  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const jobs = async (): Promise<JobRecord[]> => (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value);
  const alarm = async (): Promise<AlarmView | undefined> =>
    (await fleet.bus.call('inventory.alarms.list', {})).items.find((a) => a.subject === 'n-1' && a.code === 'drift');
  const told = (): Promise<AlarmView> => until(alarm, 'the alarm');
  const silent = (): Promise<boolean> => until(async () => (await alarm()) === undefined, 'the alarm is over');
  const setting = (every: number): Promise<unknown> =>
    fleet.bus.call('inventory.settings.patch', { by: 'eve', patch: { check: { every } } });
  const next = (cause: string): Promise<JobRecord> =>
    until(
      async () => (await jobs()).find((j) => j.kind === 'check' && j.status === 'Queued' && j.cause === cause),
      `a check (${cause})`,
    );
  const web = (result: Finding['result'], digest = 'content-1'): Finding => ({
    ...{ service: 'web', result, why: result === 'ok' ? '' : '/etc/web.conf is not as it was installed' },
    ...(result === 'drift' && { digest }),
  });
  const end = async (j: JobRecord, finding: Finding): Promise<void> => {
    const result: NodeResult = { ok: true, step: 'check', check: { findings: [finding], checksum: 'sum' } };
    await fleet.bus.bucket<JobRecord>('jobs').mutate(
      j.id,
      (c) =>
        c && {
          ...c.value,
          ...{ status: 'Complete', startedAt: 1, endedAt: 2, worker: 'spec', results: { 'n-1': result } },
        },
    );
    await until(async () => (await jobs()).find((x) => x.id === j.id)?.settled, `${j.id} is settled`);
  };
  /** As if its last check, and the last that was begun anywhere, were a period ago. */
  const letTimePass = async (): Promise<void> => {
    for (const j of await jobs())
      await fleet.bus.bucket<JobRecord>('jobs').mutate(j.id, (c) => c && { ...c.value, createdAt: 1 });
    await nodes().mutate(
      'n-1',
      (n) => n && { ...n.value, ...(n.value.lastCheck && { lastCheck: { ...n.value.lastCheck, at: 1 } }) },
    );
  };
  const check = async (finding: Finding): Promise<JobRecord> => {
    await letTimePass();
    const job = await next(PERIODIC);
    await end(job, finding);
    return job;
  };
  const accept = (o: { reason?: string; until?: number; check?: string } = {}): Promise<NodeView> =>
    fleet.bus.call('inventory.nodes.acceptDrift', { by: 'ann', name: 'n-1', reason: 'a trial', ...o });

  it('is checked only where that was asked for, one that was checked lately is not, and it serves meanwhile', async () => {
    expect((await fleet.bus.call('inventory.settings.get', {})).check).toEqual({ every: 0 });
    await setting(MONTH_MS);
    const job = await next(PERIODIC);
    expect(job).toMatchObject({ kind: 'check', nodes: ['n-1'], by: 'muster' });
    expect(job.conductor).toBeGreaterThan(0);
    expect(await node('n-1')).toMatchObject({ inService: true, reasons: [], job: job.id });
    const claim = await fleet.bus.call('inventory.claims.create', { by: 'nomad', owner: 'nomad', count: 2 });
    expect(claim.nodes).toEqual(['n-1', 'n-2']);
    await end(job, web('ok'));
    expect((await node('n-1')).lastCheck).toMatchObject({ job: job.id, ok: true });
    // What a scheduler holds serves as well.
    await check(web('ok'));
    expect((await jobs()).every((j) => j.nodes[0] === 'n-1' && j.cause === PERIODIC)).toBe(true);
    expect(taken).toEqual([]);
  });

  it('that drifts, or breaks, stays in service and as it is: there is an alarm, until a check finds it well', async () => {
    await setting(MONTH_MS);
    await check(web('drift'));
    const first = await told();
    expect(first).toMatchObject({ severity: 'warning', remedy: { command: 'muster node check n-1 --diff' } });
    expect(first.message).toContain('web drift (/etc/web.conf is not as it was installed)');
    expect((await node('n-1')).inService).toBe(true);
    await check(web('broken'));
    await until(async () => (await alarm())?.severity === 'critical', 'it is worse');
    expect((await node('n-1')).inService).toBe(true);
    await check(web('ok'));
    await silent();
    expect((await jobs()).map((j) => j.kind)).toEqual(['check', 'check', 'check']);
    expect(taken).toEqual([]);
  });

  it('is no longer complained of when its drift is accepted, and is when it drifts once more', async () => {
    await setting(MONTH_MS);
    await expect(accept()).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    const found = await check(web('drift'));
    await told();
    await expect(accept({ until: 1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
    await expect(accept({ check: 'job-0' })).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    const audited = new Promise<EventMap['audit']>((resolve) => {
      const reader = fleet.bus.follow([Subjects.event('audit', '*')], { fromSeq: 1 }, (_subject, event) => {
        const { data } = event as { data: EventMap['audit'] };
        if (data.action !== 'drift-accept' || data.outcome !== 'accepted') return;
        resolve(data);
        void reader.close();
      });
    });
    const until2099 = 4_070_908_800_000;
    expect((await accept({ until: until2099, check: found.id })).acceptedDrift).toMatchObject({
      ...{ by: 'ann', reason: 'a trial', until: until2099, check: found.id, findings: [web('drift')] },
    });
    await silent();
    expect(await audited).toMatchObject({ by: 'ann', subject: 'n-1', detail: expect.stringContaining('2099-01-01') });
    expect((await fleet.bus.call('inventory.status', {})).nodes.accepted).toEqual([
      { node: 'n-1', services: ['web'], by: 'ann', reason: 'a trial', until: until2099 },
    ]);
    await check(web('drift'));
    expect(await alarm()).toBeUndefined();
    await check(web('drift', 'content-2'));
    expect((await told()).message).toContain('It is not what was accepted by ann (a trial).');
    await check(web('drift'));
    await silent();
    await fleet.bus.call('inventory.nodes.withdrawDrift', { by: 'ann', name: 'n-1' });
    await told();
    expect((await fleet.bus.call('inventory.status', {})).nodes).not.toHaveProperty('accepted');
    expect(taken).toEqual([]);
  });

  it('that reboots with nothing but a drift that was accepted goes into service without a re-setup', async () => {
    await setting(MONTH_MS);
    await check(web('drift'));
    await accept();
    await fleet.boot('n-1');
    await end(await next('return'), web('drift'));
    await until(async () => (await node('n-1')).inService, 'it is in service');
    expect((await jobs()).filter((j) => j.kind === 'resetup')).toEqual([]);
    expect((await node('n-1')).acceptedDrift).toMatchObject({ by: 'ann' });
  });

  it('is let go of by its check when it falls silent, and is not checked while it is', async () => {
    await setting(MONTH_MS);
    const job = await next(PERIODIC);
    await fleet.say('n-1', { verdict: 'SUSPECT' });
    const off = await until(
      async () => (await jobs()).find((j) => j.id === job.id && isEndedJob(j)),
      'it is called off',
    );
    expect(off.cancel).toMatchObject({ by: 'muster' });
    await until(async () => (await node('n-1')).job === undefined, 'nothing holds it');
    await letTimePass();
    expect((await node('n-1')).lastCheck).toBeUndefined();
    await fleet.say('n-1', { verdict: 'UP' });
    expect((await next(PERIODIC)).id).not.toBe(job.id);
    expect(await jobs()).toHaveLength(2);
  });
});
