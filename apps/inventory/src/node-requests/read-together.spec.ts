import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
const by = { by: 'spec' };
const gateway = () => sut.as('gateway');
const get = () => gateway().call('inventory.nodes.get', { name: 'a-1' });
const patch = (vars: object) =>
  gateway().call('inventory.nodes.patch', { ...by, name: 'a-1', patch: { vars: { ...nothing, ...vars } } });
const nothing = { story: null };

beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
  await gateway().call('inventory.nodes.create', {
    ...by,
    node: { label: 'a', serial: '1', networks: { management: { address: '10.0.0.1' } }, vars: { db_pwd: 's3cret' } },
  });
});
afterAll(() => sut?.stop());

describe('nodes that are read together', () => {
  const each = (...names: string[]) => gateway().call('inventory.nodes.each', { names });
  const nodesOf = (text: string): unknown[] => text.split('\n').map((line) => JSON.parse(line) as unknown);

  it('are each as it is read alone, by name or address, and one that is not there is refused alone', async () => {
    const alone = await get();
    const { found, text } = await each('a-1', 'nosuch-1', '10.0.0.1', '10.9.9.9', 'toString');
    expect(found).toMatchObject([
      alone.revision,
      { code: 'NODE_UNKNOWN', facts: { node: 'nosuch-1' } },
      alone.revision,
      { code: 'NODE_UNKNOWN' },
      { code: 'NODE_UNKNOWN' },
    ]);
    expect(nodesOf(text)).toEqual([alone, alone]);
    expect(alone.reasons[0]?.remedy?.command).toMatch(/^muster /);
  });

  it('are as many as fit into an answer, and at least the first', async () => {
    await patch({ story: 'x'.repeat(250_000) });
    const { found, text } = await each('a-1', 'a-1', 'a-1', 'a-1', 'nosuch-1');
    expect(found).toHaveLength(3);
    expect(nodesOf(text)).toHaveLength(3);
    expect((await each(...Array.from({ length: 600 }, () => 'nosuch-1'))).found).toHaveLength(500);
  });
});
