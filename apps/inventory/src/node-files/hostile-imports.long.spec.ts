import { afterAll, beforeAll, expect, it } from 'vitest';
import { isRefusedInPassing, moreHostileFiles } from '../testing/hostile-files.js';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start({ replicas: 1 });
});
afterAll(async () => {
  await sut?.stop();
});

it.each(moreHostileFiles)(
  'a %s file with %s is refused while everything else goes on',
  async (format, _what, content) => {
    const o = { by: 'spec', format, content: content() };
    await isRefusedInPassing(sut.as('gateway').call('inventory.nodes.import', o, { timeoutMs: 120_000 }));
    expect(await sut.as('inventory').bucket('nodes').list()).toEqual([]);
  },
);
