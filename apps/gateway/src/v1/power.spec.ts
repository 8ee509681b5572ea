import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeView } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';

describe('what an operator does to a machine', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    sut.answer('inventory.nodes.cordon', ({ name }) => ({ name }) as NodeView);
    sut.answer('inventory.nodes.drain', ({ name }) => ({ name }) as NodeView);
    sut.answer('inventory.nodes.power', ({ name, action }) => ({ node: name, action, incident: 'i1', detail: '' }));
    sut.answer('fencer.power.read', () => ({ devices: [{ id: 'bmc', power: 'unknown', code: 'BMC_TIMEOUT' }] }));
  });
  afterAll(() => sut.stop());

  const send = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const response = await sut.send(method, `/v1/nodes/n-1/${path}`, body);
    return { status: response.status, body: await response.json() };
  };
  const asked = (): unknown => sut.asked.at(-1);

  it('is a cordon, or with `drain` a drain', async () => {
    await send('PUT', 'cordon', { reason: 'disk', drain: false });
    expect(asked()).toEqual({
      verb: 'inventory.nodes.cordon',
      request: { by: 'local', from: '127.0.0.1', name: 'n-1', reason: 'disk' },
    });
    await send('PUT', 'cordon', { reason: 'disk', drain: true, until: 5 });
    expect(asked()).toEqual({
      verb: 'inventory.nodes.drain',
      request: { by: 'local', from: '127.0.0.1', name: 'n-1', reason: 'disk', until: 5 },
    });
    expect((await send('PUT', 'cordon', { reason: 'disk', drain: 'yes' })).status).toBe(400);
  });

  it('is an order to its power, which is accepted and told by an incident', async () => {
    expect(await send('POST', 'power', { action: 'cycle', reason: 'hangs' })).toMatchObject({
      status: 202,
      body: { action: 'cycle', incident: 'i1' },
    });
    expect(asked()).toMatchObject({
      request: { by: 'local', from: '127.0.0.1', name: 'n-1', action: 'cycle', reason: 'hangs' },
    });
    for (const bad of [{ action: 'reset', reason: 'x' }, { action: 'off' }, {}])
      expect((await send('POST', 'power', bad)).status).toBe(400);
  });

  it('is a look at its power, as its devices read it', async () => {
    expect(await send('GET', 'power')).toMatchObject({
      status: 200,
      body: { devices: [{ power: 'unknown', code: 'BMC_TIMEOUT' }] },
    });
  });
});
