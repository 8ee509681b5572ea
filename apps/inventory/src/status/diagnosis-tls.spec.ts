import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start({ tls: true });
});
afterAll(() => sut?.stop());

describe('the facts of a NATS that speaks TLS', () => {
  it('are asked of its servers, as without', async () => {
    const { servers } = (await sut.as('gateway').call('inventory.diagnosis', {})).bus;
    expect(servers).toEqual({ items: [expect.objectContaining({ name: 'muster-spec' })] });
  });
});
