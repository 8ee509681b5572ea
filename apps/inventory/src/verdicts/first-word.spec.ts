import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningInventory } from '../testing/running-inventory.js';

describe('an inventory that was just started', () => {
  let sut: RunningInventory;
  beforeAll(async () => {
    sut = await RunningInventory.start();
    await sut.work('provisioner', ['ansible']);
    const networks = { management: { address: '10.0.0.1' } };
    await sut.as('gateway').call('inventory.nodes.create', { by: 'spec', node: { label: 'a', serial: '1', networks } });
  });
  afterAll(() => sut?.stop());

  const reasons = async (): Promise<string[]> =>
    (await sut.as('gateway').call('inventory.nodes.get', { name: 'a-1' })).reasons.map((r) => r.code);

  it('waits for the first word of the detector, before it says that nobody knows of the nodes', async () => {
    const speakAgain = sut.hushDetector();
    await sut.restart('inventory-1');
    const asked = reasons();
    await pause(200);
    speakAgain();
    expect(await asked).not.toContain('VIEW_STALE');
  });

  it('says so where no detector speaks, and no later than a reader can wait', async () => {
    const speakAgain = sut.hushDetector();
    await sut.restart('inventory-1');
    expect(await reasons()).toContain('VIEW_STALE');
    speakAgain();
  });
});
