import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultFencing } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { status } from '../testing/records.js';

describe('/v1/fencing/report', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
  });
  afterAll(() => sut.stop());

  it('reports what was decided of dead nodes, and since when it knows', async () => {
    sut.answer('inventory.status', () => status({ fencing: defaultFencing }));
    await sut.bus.emit('settings', 'cluster', { changed: ['fencing.mode'] });
    const told = { node: 'host3-SN3', incident: 'i-3', phase: 'suppressed' as const, detail: '' };
    await sut.bus.emit('incident', 'host3-SN3', { ...told, gate: 'OBSERVE' });
    const answer = await sut.get('/v1/fencing/report?days=30');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      mode: 'observe',
      wouldHaveFenced: [{ node: 'host3-SN3', incident: 'i-3' }],
      fenced: [],
      wouldHaveStopped: [],
      observing: { since: expect.any(Number) as number, wouldHaveFenced: 1, wouldHaveStopped: 0 },
      keptSince: expect.any(Number) as number,
    });
    for (const days of ['0', '366', '1.5', 'x'])
      expect((await sut.get(`/v1/fencing/report?days=${days}`)).status).toBe(400);
  });
});
