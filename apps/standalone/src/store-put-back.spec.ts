import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FencingSettings, IncidentPhase, IncidentRecord, JobRecord, NodeView } from '#contracts';
import { supersede } from '../../cli/src/restore/supersede.js';
import { ServedFleet } from '../../inventory/src/testing/served-fleet.js';
import { until } from '../../inventory/src/testing/until.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

const why = 'The store was put back to 2026-11-01T00:00:00.000Z';

/** Over HTTP, on a running inventory; the spec plays agents, detector and fencing leader. */
describe('a store that was put back to an earlier moment', () => {
  let served: ServedFleet;
  let gateway: GatewayBeside;

  beforeAll(async () => {
    served = await ServedFleet.start(Array.from({ length: 10 }, (_, n) => `n-${n + 1}`));
    gateway = await startGatewayBeside(served.fleet.bus);
    await send('PUT', '/fencing', { mode: 'enforce', storm: { brakeAtLeast: 10, capAtLeast: 10 } });
  });
  afterAll(async () => {
    await gateway?.close();
    await served?.stop();
  });

  const send = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${gateway.url}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as T;
  };
  const phase = (node: string, ...phases: IncidentPhase[]): Promise<IncidentRecord> =>
    until(
      async () => {
        const i = await send<IncidentRecord>('GET', `/incidents/${node}`);
        return phases.includes(i.phase) && i;
      },
      `incident of ${node} ${phases.join(' or ')}`,
      { timeoutMs: 20_000 },
    );
  /** Dead, powered off by the leader that the spec plays, and recovered. */
  const fenced = async (node: string): Promise<void> => {
    await served.fleet.die(node);
    await phase(node, 'fencing');
    const at = Date.now();
    const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at };
    await served.fleet.bus.bucket<IncidentRecord>('incidents').mutate(
      node,
      (i) =>
        i && {
          ...i.value,
          ...{
            epoch: 1,
            commands: [off],
            phase: 'fenced' as const,
            proof: { kind: 'read-back' as const, at, level: 0 },
          },
          steps: [...i.value.steps, { phase: 'fenced' as const, at, detail: '' }],
        },
    );
    await phase(node, 'recovered');
  };

  it('pauses fencing until somebody ends that, and goes on with nothing that was under way in it', async () => {
    await send('POST', '/nodes/n-1/fence', { reason: 'smoke' });
    await phase('n-1', 'suppressed');
    await fenced('n-2');
    expect((await send<NodeView>('GET', '/nodes/n-2')).confirmedOff).toBeDefined();
    const { job } = await send<{ job: string }>('POST', '/operations', { kind: 'check', nodes: ['n-4'] });
    const { id: claim } = await send<{ id: string }>('POST', '/claims', { count: 1, owner: 'nomad' });
    expect([job, claim]).toEqual([expect.any(String), expect.any(String)]);

    const by = { why, at: Date.now() };
    await served.whileStopped(async () => {
      expect(await supersede(served.fleet.bus, by)).toEqual({
        incidents: ['n-1', 'n-2'],
        jobs: [job],
        claims: [claim],
      });
      expect(await supersede(served.fleet.bus, by)).toMatchObject({ jobs: [], claims: [] });
    });

    const { paused } = await send<FencingSettings>('GET', '/fencing');
    expect(paused).toEqual({ reason: why, by: 'muster store' });
    expect((await phase('n-1', 'cancelled')).steps.at(-1)?.detail).toContain(why);
    const ended = await until(async () => {
      const now = await send<JobRecord>('GET', `/jobs/${job}`);
      return now.settled && now;
    }, 'the job is settled');
    expect(ended).toMatchObject({ status: 'Errored', error: expect.stringContaining(why) as string });
    expect((await send<{ items: unknown[] }>('GET', '/claims')).items).toEqual([]);
    await until(async () => (await send<NodeView>('GET', '/nodes/n-4')).inService, 'n-4 in service');

    // Its proof of off was of that moment: it may run since.
    const voided = await phase('n-2', 'failed');
    expect(voided.proof).toBeUndefined();
    expect((await send<NodeView>('GET', '/nodes/n-2')).confirmedOff).toBeUndefined();
    await served.fleet.die('n-5');
    expect((await phase('n-5', 'suppressed')).gate).toBe('PAUSED');
    expect((await send<IncidentRecord>('GET', '/incidents/n-2')).phase).toBe('failed');

    await send('PUT', '/fencing', { mode: 'enforce' });
    expect((await phase('n-2', 'fencing')).proof).toBeUndefined();
    await phase('n-5', 'fencing');
  });
});
