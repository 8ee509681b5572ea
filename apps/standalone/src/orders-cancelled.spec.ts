import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  AlarmRecord,
  IncidentPhase,
  IncidentRecord,
  JobRecord,
  MusterEvent,
  NodeRecord,
  WorkloadRecord,
} from '#contracts';
import { ServedFleet } from '../../inventory/src/testing/served-fleet.js';
import { until } from '../../inventory/src/testing/until.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

/** Over HTTP, on a running inventory; the spec plays agents, detector and fencing leader. */
describe('what an operator cancels, or puts right', () => {
  let served: ServedFleet;
  let gateway: GatewayBeside;

  beforeAll(async () => {
    served = await ServedFleet.start(Array.from({ length: 16 }, (_, n) => `n-${n + 1}`));
    gateway = await startGatewayBeside(served.fleet.bus);
    // One dies after the other: this is not about storms.
    const storm = { brakeAtLeast: 16, capAtLeast: 16 };
    await send('PUT', '/fencing', { mode: 'enforce', storm });
  });
  afterAll(async () => {
    await gateway?.close();
    await served?.stop();
  });

  const send = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
  const incident = async (node: string): Promise<IncidentRecord> =>
    (await send('GET', `/incidents/${node}`)).body as IncidentRecord;
  const phase = (node: string, ...phases: IncidentPhase[]): Promise<IncidentRecord> =>
    until(
      async () => {
        const i = await incident(node);
        return phases.includes(i.phase) && i;
      },
      `incident of ${node} ${phases.join(' or ')}`,
      { timeoutMs: 10_000 },
    );
  const alarms = async (code: string): Promise<AlarmRecord[]> =>
    ((await send('GET', '/alarms')).body as { items: AlarmRecord[] }).items.filter((a) => a.code === code);
  const audited = async (action: string): Promise<MusterEvent[]> =>
    ((await send('GET', '/events?kind=audit&limit=500')).body as { items: MusterEvent[] }).items.filter(
      (e) => (e.data as { action?: string }).action === action,
    );
  /** The fencing leader's part. */
  const orderedOff = async (node: string, o: Partial<IncidentRecord>): Promise<void> => {
    const at = Date.now();
    const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at };
    await served.fleet.bus
      .bucket<IncidentRecord>('incidents')
      .mutate(node, (i) => i && { ...i.value, epoch: 1, commands: [off], ...o });
  };
  const reason = { reason: 'the wrong rack' };

  /** As soon as the registry has the verdict. */
  const drill = (node: string, o: { level?: number } = {}): Promise<{ status: number; body: unknown }> =>
    until(async () => {
      const answer = await send('POST', `/nodes/${node}/drill`, { reason: 'new rack', ...o });
      return answer.status === 202 && answer;
    }, `a drill of ${node}`);

  it('a drill proves a device by which its node, and nobody else, fell silent, and has it switched on again', async () => {
    const nodes = served.fleet.bus.bucket<NodeRecord>('nodes');
    await nodes.mutate('n-10', (n) => n && { ...n.value, powerIdentity: {} });
    await served.fleet.say('n-10', { verdict: 'UP' });
    await drill('n-10');
    const { steps } = await phase('n-10', 'fencing');
    await orderedOff('n-10', {});
    await served.fleet.die('n-10');
    const proof = { kind: 'read-back' as const, at: Date.now(), level: 0 };
    await orderedOff('n-10', {
      phase: 'fenced',
      proof,
      steps: [...steps, { phase: 'fenced', at: proof.at, detail: '' }],
    });
    const i = await phase('n-10', 'recovered');
    expect(i.drill?.result).toMatchObject({ ok: true });
    expect(i.order).toMatchObject({ action: 'on' });
    expect(i.order?.done).toBeUndefined();
    const { body } = await send('GET', '/nodes/n-10');
    expect((body as NodeRecord).powerIdentity).toMatchObject({ bmc: { result: 'proven', by: 'drill' } });
    await served.fleet.boot('n-10');
  });

  it('a drill of the second level begins there and proves that one; a level that is not there is refused', async () => {
    const nodes = served.fleet.bus.bucket<NodeRecord>('nodes');
    const pdu = { id: 'pdu', driver: 'ipmitool', address: '10.8.0.12' };
    await nodes.mutate('n-12', (n) => n && { ...n.value, powerLevels: [...n.value.powerLevels, [pdu]] });
    await served.fleet.say('n-12', { verdict: 'UP' });
    const refused = await send('POST', '/nodes/n-12/drill', { reason: 'new PDU', level: 3 });
    expect(refused).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
    expect((refused.body as { detail: string }).detail).toContain('no fencing level 3: it has 2');
    expect((refused.body as { detail: string }).detail).toContain('muster node power-device list n-12');
    await drill('n-12', { level: 2 });
    const { steps, level } = await phase('n-12', 'fencing');
    expect(level).toBe(1);
    const at = Date.now();
    const off = { n: 1, epoch: 1, fencer: 'f', level, device: 'pdu', verb: 'off' as const, at };
    await orderedOff('n-12', { commands: [off] });
    await served.fleet.die('n-12');
    const proof = { kind: 'read-back' as const, at: Date.now(), level };
    await orderedOff('n-12', {
      ...{ phase: 'fenced', proof, commands: [off] },
      steps: [...steps, { phase: 'fenced', at: proof.at, detail: '' }],
    });
    expect((await phase('n-12', 'recovered')).drill).toMatchObject({ level: 1, result: { ok: true } });
    const { powerIdentity } = (await send('GET', '/nodes/n-12')).body as NodeRecord;
    expect(powerIdentity?.['pdu']).toMatchObject({ result: 'proven', by: 'drill' });
    await served.fleet.boot('n-12');
  });

  it('an order that waits at a gate is cancelled, with who and why, and its node serves again', async () => {
    await send('POST', '/nodes/n-1/fence', { reason: 'smoke' });
    expect((await phase('n-1', 'suppressed')).gate).toBe('LIFE_SIGN');
    const { status, body } = await send('POST', '/incidents/n-1/cancel', reason);
    expect({ status, body }).toMatchObject({ status: 200, body: { phase: 'cancelled' } });
    expect((await incident('n-1')).steps.at(-1)?.detail).toContain('the wrong rack');
    await until(async () => {
      const { body: node } = await send('GET', '/nodes/n-1');
      return (node as { inService: boolean }).inService;
    }, 'n-1 in service');
    const [event] = await until(async () => {
      const events = await audited('cancel');
      return events.length > 0 && events;
    }, 'the audit event');
    expect(event?.data).toMatchObject({ subject: 'n-1', detail: 'the wrong rack', outcome: 'accepted' });
  });

  it('an incident of a dead node is cancelled for as long as the node is silent, and somebody is told', async () => {
    await send('PATCH', '/nodes/n-2', { powerLevels: null });
    await served.fleet.die('n-2');
    const first = await phase('n-2', 'suppressed');
    expect((await send('POST', '/incidents/n-2/cancel', reason)).status).toBe(200);
    const told = await until(
      async () => (await alarms('fencing-suppressed')).find((a) => a.subject === 'n-2'),
      'alarm',
    );
    expect(told.message).toContain('the wrong rack');
    expect(told.message).toContain('muster node fence n-2');
    // Rounds of the conductor have passed with the alarm; the verdict is still DOWN.
    expect((await incident('n-2')).id).toBe(first.id);
    await served.fleet.revive('n-2');
    await until(async () => (await incident('n-2')).takenBack?.over, 'n-2 heard again');
    await until(async () => !(await alarms('fencing-suppressed')).some((a) => a.subject === 'n-2'), 'no alarm');
    await served.fleet.die('n-2');
    expect((await phase('n-2', 'suppressed')).id).not.toBe(first.id);
  });

  it('an order that joins the incident of a verdict is one by hand from then on, and only life ends it', async () => {
    await send('PATCH', '/nodes/n-16', { powerLevels: null });
    await served.fleet.die('n-16');
    const auto = await phase('n-16', 'suppressed');
    expect(auto.cause).toBe('auto');
    const joined = await send('POST', '/nodes/n-16/fence', { reason: 'smoke' });
    expect(joined).toMatchObject({ status: 202, body: { incident: { id: auto.id, cause: 'manual' } } });
    const { items } = (await send('GET', '/incidents?open=true')).body as { items: IncidentRecord[] };
    const listed = items.find((i) => i.node === 'n-16');
    expect(listed).toMatchObject({ id: auto.id, cause: 'manual', reason: 'smoke', wantedAt: 'DOWN' });
    expect(listed?.by).toBeDefined();
    expect(listed?.orderedAt).toBeGreaterThanOrEqual(auto.openedAt);
    expect(listed?.steps[0]?.detail).toBe(auto.reason);
    await served.fleet.say('n-16', { verdict: 'SUSPECT', reason: 'one accuses' });
    await until(async () => {
      const { verdict } = (await send('GET', '/nodes/n-16')).body as NodeRecord;
      return verdict?.verdict === 'SUSPECT';
    }, 'no longer called DOWN');
    expect(await incident('n-16')).toMatchObject({ id: auto.id, phase: 'suppressed' });
    await served.fleet.say('n-16', { verdict: 'DEGRADED', reason: 'one network' });
    const over = await phase('n-16', 'cancelled');
    expect(over).toMatchObject({ id: auto.id, cause: 'manual' });
    expect(over.steps.at(-1)?.detail).toContain('DEGRADED again');
  });

  it('an order that was given and released while the monitor was blind ends when its node is UP again', async () => {
    served.fleet.sighted = false;
    await served.fleet.die('n-3');
    await served.fleet.say('n-3', { verdict: 'UNKNOWN', reason: 'blind' });
    await send('POST', '/nodes/n-3/fence', { reason: 'dark' });
    await until(async () => (await incident('n-3')).gate === 'BLIND', 'held at BLIND');
    expect((await send('POST', '/incidents/n-3/release', { ...reason, force: true })).status).toBe(202);
    served.fleet.sighted = true;
    await served.fleet.revive('n-3');
    const over = await phase('n-3', 'cancelled');
    expect(over.steps.at(-1)?.detail).toContain('UP again');
  });

  it('nothing is cancelled once a power-off was ordered', async () => {
    await served.fleet.die('n-4');
    await phase('n-4', 'fencing');
    await orderedOff('n-4', {});
    const { status, body } = await send('POST', '/incidents/n-4/cancel', reason);
    expect({ status, body }).toMatchObject({ status: 409, body: { code: 'INCIDENT_STATE' } });
  });

  const device = (address: string) => ({ powerLevels: [[{ id: 'bmc', driver: 'ipmitool', address }]] });

  it('a power device is corrected while its incident has failed, which is then tried anew at once', async () => {
    await served.fleet.die('n-5');
    const { steps } = await phase('n-5', 'fencing');
    expect((await send('PATCH', '/nodes/n-5', device('10.9.0.5'))).status).toBe(409);
    const at = Date.now();
    const failed = [...steps, { phase: 'failed' as const, at, detail: 'no answer' }];
    await orderedOff('n-5', { phase: 'failed', commands: [], steps: failed, retryAt: at + 300_000 });
    await phase('n-5', 'failed');
    expect((await send('PATCH', '/nodes/n-5', device('10.9.0.5'))).status).toBe(200);
    expect(await phase('n-5', 'fencing')).toMatchObject({ attempt: 1 });
  });

  it('a power device is not corrected while an off may still take effect', async () => {
    await served.fleet.die('n-6');
    const { steps } = await phase('n-6', 'fencing');
    const failed = [...steps, { phase: 'failed' as const, at: Date.now(), detail: 'stays on' }];
    await orderedOff('n-6', { phase: 'failed', steps: failed, retryAt: Date.now() + 300_000 });
    await phase('n-6', 'failed');
    const { status, body } = await send('PATCH', '/nodes/n-6', device('10.9.0.6'));
    expect({ status, body }).toMatchObject({ status: 409, body: { code: 'NODE_BUSY' } });
  });

  /** The fencing leader's part. */
  const provenOff = async (node: string): Promise<void> => {
    const { steps } = await phase(node, 'fencing');
    const at = Date.now();
    const proof = { kind: 'read-back' as const, at, level: 0 };
    await orderedOff(node, { phase: 'fenced', proof, steps: [...steps, { phase: 'fenced', at, detail: 'read back' }] });
  };
  /** The provisioner's part: carries out the start that waits. */
  const startElsewhere = async (workload: string): Promise<string> => {
    const jobs = served.fleet.bus.bucket<JobRecord>('jobs');
    const job = await until(async () => {
      const all = (await jobs.list()).map((e) => e.value);
      return all.find((j) => j.kind === 'recover' && j.recover?.some((r) => r.workload === workload));
    }, `a job that starts ${workload}`);
    const to = job.nodes[0] ?? '';
    served.fleet.run(to, workload, job.recover?.[0]?.generation ?? 0);
    const results = { [to]: { ok: true, step: 'recover', workloads: { [workload]: { started: true, reason: '' } } } };
    await jobs.mutate(job.id, (j) => j && { ...j.value, status: 'Complete', endedAt: Date.now(), results });
    return to;
  };

  it('a node that speaks after its proof of off makes that void: told with what runs elsewhere, judged anew, and confirmed', async () => {
    served.fleet.run('n-7', 'db', 1);
    await send('PUT', '/workloads/db', { node: 'n-7' });
    await until(async () => {
      const { boot } = (await send('GET', '/workloads/db')).body as WorkloadRecord;
      return boot;
    }, 'db seen on n-7');
    await served.fleet.die('n-7');
    await provenOff('n-7');
    const to = await startElsewhere('db');
    await phase('n-7', 'recovering', 'recovered');

    await served.fleet.revive('n-7');
    const i = await phase('n-7', 'failed');
    expect(i.proof).toBeUndefined();
    expect(i.steps.at(-1)?.detail).toContain(`db on ${to}`);
    const told = await until(async () => (await alarms('conflict-power')).find((a) => a.subject === 'n-7'), 'alarm');
    expect(told.message).toContain(`db on ${to}`);
    expect(told.message).not.toContain('Nothing of it is recovered');

    await served.fleet.die('n-7');
    const confirm = await until(async () => {
      const answer = await send('POST', '/incidents/n-7/confirm', { reason: 'its cables are out' });
      return answer.status === 200 && answer;
    }, 'the confirmation is taken');
    expect(confirm.body).toMatchObject({ phase: 'fenced', proof: { kind: 'manual' } });
    await phase('n-7', 'recovered');
  });

  it('a power-off by an unproven device is held while another node fell silent with it, and so is the next one', async () => {
    const nodes = served.fleet.bus.bucket<NodeRecord>('nodes');
    for (const name of ['n-8', 'n-9']) await nodes.mutate(name, (n) => n && { ...n.value, powerIdentity: {} });
    await served.fleet.die('n-8');
    const { steps } = await phase('n-8', 'fencing');
    await orderedOff('n-8', {});
    await served.fleet.die('n-9');
    const proof = { kind: 'read-back' as const, at: Date.now(), level: 0 };
    await orderedOff('n-8', {
      phase: 'fenced',
      proof,
      steps: [...steps, { phase: 'fenced', at: proof.at, detail: '' }],
    });
    const told = await until(async () => (await alarms('collateral')).find((a) => a.subject === 'n-8'), 'the alarm');
    expect(told.message).toContain('n-9');
    const next = await phase('n-9', 'suppressed');
    expect(next.steps.at(-1)?.detail).toContain('may have hit n-9');
    expect((await incident('n-8')).phase).toBe('fenced');
    // It lives, and had only been cut off.
    await served.fleet.revive('n-9');
    expect((await phase('n-8', 'recovered')).proof?.kind).toBe('read-back');
    await until(async () => (await alarms('collateral')).length === 0, 'no alarm');
  });

  it('a power device is corrected while its proof of off is held, and the node is powered off anew', async () => {
    const nodes = served.fleet.bus.bucket<NodeRecord>('nodes');
    await nodes.mutate('n-13', (n) => n && { ...n.value, powerIdentity: {} });
    await served.fleet.die('n-13');
    const { steps } = await phase('n-13', 'fencing');
    const proof = { kind: 'read-back' as const, at: Date.now(), level: 0 };
    await orderedOff('n-13', {
      ...{ phase: 'fenced', proof, commands: [] },
      collateral: { at: proof.at, nodes: [{ node: 'n-15', bootId: 'the one before' }] },
      steps: [...steps, { phase: 'fenced', at: proof.at, detail: '' }],
    });
    await until(async () => (await alarms('collateral')).some((a) => a.subject === 'n-13'), 'the alarm');
    expect((await send('PATCH', '/nodes/n-13', device('10.9.0.13'))).status).toBe(200);
    const anew = await phase('n-13', 'fencing');
    expect(anew.steps.map((s) => s.detail).join(' ')).toContain(
      'Its power devices were edited after the order to power it off',
    );
    for (const field of ['proof', 'collateral']) expect(anew).not.toHaveProperty(field);
    await until(async () => (await alarms('collateral')).length === 0, 'no alarm');
  });

  it('a drill is refused while anything else is wrong, and cancels itself', async () => {
    await served.fleet.say('n-11', { verdict: 'UP' });
    expect((await drill('n-11')).status).toBe(202);
    expect((await phase('n-11', 'cancelled')).steps.at(-1)?.detail).toContain('silent or in an incident');
  });

  it('a commission, whose rollback would clean up, is refused under a workload, and nothing is changed', async () => {
    await send('PUT', '/workloads/shop', { node: 'n-14' });
    await served.fleet.bus
      .bucket<NodeRecord>('nodes')
      .mutate('n-14', (n) => n && { ...n.value, status: 'Unallocated', prevStatus: 'Decommissioned' });
    const commission = { kind: 'commission', nodes: ['n-14'], hostGroup: 'service-master' };
    const refused = await send('POST', '/operations', commission);
    expect(refused).toMatchObject({ status: 409, body: { code: 'WORKLOADS_PRESENT' } });
    expect((refused.body as { detail: string }).detail).toContain('[n-14: shop]');
    expect((await send('GET', '/jobs?node=n-14&kind=commission')).body).toMatchObject({ items: [] });
    expect((await send('GET', '/nodes/n-14')).body).toMatchObject({ status: 'Unallocated' });
  });
});
