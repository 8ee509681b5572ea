import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isEndedJob, type Finding, type JobRecord, type NodeRecord, type NodeResult, type NodeView } from '#contracts';
import type { FakeFleet } from '../../testing/fake-fleet.js';
import { ServedFleet } from '../../testing/served-fleet.js';
import { until } from '../../testing/until.js';

const MASTERS = ['m-1', 'm-2', 'm-3', 'm-4'];
const WORKER = 'w-1';
const SERVICES = ['agent', 'web'];

/** A running inventory on a real server, in hurried time; the spec plays agents, detector and provisioner. */
describe('the check of a node that is back', () => {
  let served: ServedFleet;
  let fleet: FakeFleet;
  /** Most re-setups that were open at one time. */
  let mostAtOnce = 0;
  let stopWatching: () => Promise<void>;

  beforeAll(async () => {
    served = await ServedFleet.start([...MASTERS, WORKER], { hurry: 5 });
    fleet = served.fleet;
    const nodes = fleet.bus.bucket<NodeRecord>('nodes');
    const provisioned = { checksum: 'sum-1', at: 1, job: 'job-0', services: SERVICES };
    for (const name of fleet.names) {
      const hostGroup = name === WORKER ? 'service-worker' : 'service-master';
      await nodes.mutate(name, (n) => n && { ...n.value, hostGroup, provisioned });
    }
    const open = new Set<string>();
    const view = await fleet.bus.bucket<JobRecord>('jobs').view();
    view.onChange((id, j) => {
      if (j?.kind === 'resetup' && !isEndedJob(j)) open.add(id);
      else open.delete(id);
      mostAtOnce = Math.max(mostAtOnce, open.size);
    });
    stopWatching = () => view.close();
  });
  afterAll(async () => {
    await stopWatching();
    await served.stop();
  });

  const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
  const jobs = async (): Promise<JobRecord[]> => (await fleet.bus.bucket<JobRecord>('jobs').list()).map((e) => e.value);
  const open = async (kind: JobRecord['kind']): Promise<JobRecord[]> =>
    (await jobs()).filter((j) => j.kind === kind && !isEndedJob(j));
  const next = (kind: JobRecord['kind'], of: (node: string) => boolean = () => true): Promise<JobRecord> =>
    until(async () => (await open(kind)).find((j) => of(j.nodes[0] ?? '')), `a ${kind} to be done`);
  const end = async (j: JobRecord, result: Omit<NodeResult, 'ok' | 'step'>): Promise<void> => {
    const results: JobRecord['results'] = { [j.nodes[0] ?? '']: { ok: true, step: j.kind, ...result } as NodeResult };
    await fleet.bus
      .bucket<JobRecord>('jobs')
      .mutate(j.id, (c) => c && { ...c.value, status: 'Complete', startedAt: 1, endedAt: 2, worker: 'spec', results });
    await until(async () => (await jobs()).find((x) => x.id === j.id)?.settled, `${j.id} is settled`);
  };
  const found = (checksum: string, ...findings: Finding[]): Omit<NodeResult, 'ok' | 'step'> => ({
    check: { findings, checksum },
  });
  const well = SERVICES.map((service): Finding => ({ service, result: 'ok', why: '' }));
  const drifted = well.map((f): Finding => (f.service === 'web' ? { ...f, result: 'drift', why: 'edited' } : f));
  const serves = (name: string): Promise<unknown> =>
    until(async () => (await node(name)).inService, `${name} in service`);
  /** Not heard for a moment; it has not booted. */
  const blip = async (name: string): Promise<void> => {
    await fleet.say(name, { verdict: 'LEFT', reason: 'It said that it leaves.' });
    await until(async () => (await node(name)).state === 'Disappeared', `${name} is away`);
    await fleet.revive(name);
  };

  it('asks an operator where a master is well but for what was edited since, and takes down no master', async () => {
    await fleet.bus.call('inventory.settings.patch', { by: 'eve', patch: { globals: { ntp: '10.0.0.1' } } });
    await blip('m-1');
    await end(await next('check'), found('sum-2', ...well));
    const held = await until(async () => {
      const n = await node('m-1');
      return n.pendingReturn?.held !== undefined && n;
    }, 'm-1 is held');
    expect(held.inService).toBe(false);
    expect(held.pendingReturn?.held).toMatch(/needs operator.*unchanged boot.*effective configuration/);
    expect((await jobs()).map((j) => j.kind)).toEqual(['check']);
    for (const name of MASTERS.slice(1)) expect(await node(name)).toMatchObject({ inService: true });
  });

  it('that tells of no service, or not of all that were set up, is none: the node waits for another one', async () => {
    await blip(WORKER);
    for (const [told, why] of [
      [[], 'it told of no service at all'],
      [well.slice(0, 1), 'it did not tell of web, which was set up there'],
    ] as const) {
      const check = await next('check');
      await end(check, found('sum-1', ...told));
      expect((await jobs()).find((j) => j.id === check.id)?.results[WORKER]?.verdict).toEqual({
        outcome: 'unknown',
        why,
      });
      const n = await node(WORKER);
      expect([n.inService, n.pendingReturn?.failedWhy]).toEqual([false, why]);
    }
    await end(await next('check'), found('sum-1', ...well));
    await serves(WORKER);
    expect(await open('resetup')).toEqual([]);
  });

  it('has masters that rebooted, and drifted by the same edit, set up again one after the other', async () => {
    const back = MASTERS.slice(1);
    await Promise.all(back.map((name) => fleet.boot(name)));
    for (const name of back) await end(await next('check', (n) => n === name), found('sum-2', ...drifted));
    for (const name of back) expect((await node(name)).pendingReturn?.next).toBe('resetup');
    // Whoever came later has its turn: all that is due for the others has begun by then.
    await blip(WORKER);
    await end(await next('check', (n) => n === WORKER), found('sum-1', ...well));
    const done: string[] = [];
    while (done.length < back.length) {
      const resetup = await next('resetup');
      expect(await open('resetup')).toHaveLength(1);
      const [name = ''] = resetup.nodes;
      await end(resetup, { checksum: 'sum-2', services: SERVICES });
      await serves(name);
      done.push(name);
    }
    expect(done.sort()).toEqual(back);
    expect(mostAtOnce).toBe(1);
  });
});
