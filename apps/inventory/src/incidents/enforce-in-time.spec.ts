import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpcSubject } from '#bus';
import { identityBasis, type NodeRecord, type RpcAnswer, type RpcRequest } from '#contracts';
import { ServedFleet } from '../testing/served-fleet.js';

/** As long as the gateway waits for a write, ms. */
const GATEWAY_MS = 10_000;

describe('mode enforce, asked for while a power device is slow', () => {
  let served: ServedFleet;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));

  const answer = <V extends 'fencer.power.read' | 'fencer.power.identify'>(
    verb: V,
    fn: (node: NodeRecord) => Promise<RpcAnswer<V>> | RpcAnswer<V>,
  ): void => {
    served.fleet.bus.answer<{ data: RpcRequest<V> }, { response: RpcAnswer<V> }>(rpcSubject(verb), async ({ data }) => {
      const node = (await served.fleet.bus.bucket<NodeRecord>('nodes').get(data.node))?.value as NodeRecord;
      return { response: await fn(node) };
    });
  };
  const put = (mode: 'observe' | 'enforce') =>
    served.fleet.bus.call('inventory.fencing.put', { by: 'eve', mode }, { timeoutMs: GATEWAY_MS });
  const mode = async (): Promise<string> => (await served.fleet.bus.call('inventory.settings.get', {})).fencing.mode;

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    answer('fencer.power.read', (node) => ({
      devices: node.powerLevels.flat().map(({ id }) => ({ id, power: 'on' as const })),
    }));
    answer('fencer.power.identify', async (node) => {
      if (node.name === 'n-2') await released;
      return { devices: node.powerLevels.flat().map((d) => ({ id: d.id, basis: identityBasis(d) })) };
    });
  });
  afterAll(() => served.stop());

  it('is refused in time and not set afterwards; asked again, it goes on with what was left', async () => {
    await put('observe');
    await expect(put('enforce')).rejects.toMatchObject({
      code: 'FENCING_REFUSED',
      message: expect.stringContaining('n-2'),
      facts: { nodes: [], untested: 1 },
    });
    release();
    expect(await mode()).toBe('observe');
    expect(await put('enforce')).toMatchObject({ mode: 'enforce' });
    expect(await mode()).toBe('enforce');
  });
});
