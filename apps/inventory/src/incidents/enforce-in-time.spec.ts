import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpcSubject } from '#bus';
import { type NodeRecord, type RpcAnswer, type RpcRequest } from '#contracts';
import { untold } from '../testing/identify.js';
import { ServedFleet } from '../testing/served-fleet.js';

/** As long as the gateway waits for a write, ms. */
const GATEWAY_MS = 10_000;

describe('mode enforce, asked for while a power device is slow', () => {
  let served: ServedFleet;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));

  const put = (mode: 'observe' | 'enforce', o: { revision?: number } = {}) =>
    served.fleet.bus.call('inventory.fencing.put', { by: 'eve', mode, ...o }, { timeoutMs: GATEWAY_MS });
  const revision = async (): Promise<number> => (await served.fleet.bus.call('inventory.settings.get', {})).revision;
  const mode = async (): Promise<string> => (await served.fleet.bus.call('inventory.settings.get', {})).fencing.mode;

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3']);
    type Verb = 'fencer.power.read';
    served.fleet.bus.answer<{ data: RpcRequest<Verb> }, { response: RpcAnswer<Verb> }>(
      rpcSubject('fencer.power.read'),
      async ({ data }) => {
        const node = (await served.fleet.bus.bucket<NodeRecord>('nodes').get(data.node))?.value as NodeRecord;
        return { response: { devices: node.powerLevels.flat().map(({ id }) => ({ id, power: 'on' as const })) } };
      },
    );
    served.fleet.identify = async (node) => {
      if (node.name === 'n-2') await released;
      return untold(node);
    };
  });
  afterAll(() => served.stop());

  it('is refused in time and not set afterwards; asked again, it goes on with what was left', async () => {
    await put('observe');
    await expect(put('enforce')).rejects.toMatchObject({
      code: 'FENCING_REFUSED',
      message: expect.stringContaining('n-2'),
      facts: { nodes: [], untested: 1, revision: await revision() },
    });
    // Between two requests, too.
    const before = await revision();
    await put('observe');
    await expect(put('enforce', { revision: before })).rejects.toMatchObject({
      code: 'REVISION_CONFLICT',
      facts: { revision: await revision() },
    });
    // Who orders observe meanwhile has the last word, although that changes nothing.
    const again = put('enforce');
    await put('observe');
    release();
    await expect(again).rejects.toMatchObject({
      code: 'FENCING_REFUSED',
      message: expect.stringContaining('changed meanwhile'),
    });
    expect(await mode()).toBe('observe');
    expect(await put('enforce', { revision: await revision() })).toMatchObject({ mode: 'enforce' });
    expect(await mode()).toBe('enforce');
  });
});
