import { describe, expect, it } from 'vitest';
import type { Bus } from '#bus';
import type { ServiceContext } from '#service';
import type { StoreHealth } from '../store/store-health.js';
import { RpcClient } from './rpc-client.js';

/** A bus that counts what it is asked, and a turn of the event loop that ends when it is told to. */
function byHand(store: Pick<StoreHealth, 'refusal'> = { refusal: undefined }) {
  const ends: (() => void)[] = [];
  const asked: string[] = [];
  const bus = {
    connected: true,
    call: (verb: string, { name }: { name?: string }) => {
      asked.push(`${verb} ${name ?? ''}`.trim());
      return Promise.resolve({ name });
    },
  };
  const clock = { soon: (fn: () => void) => void ends.push(fn) };
  const context = { bus: bus as unknown as Bus, clock } as unknown as ServiceContext;
  const end = (): void => ends.splice(0).forEach((fn) => fn());
  return { sut: new RpcClient(context, store as StoreHealth), bus, asked, ends, end };
}

describe('reads', () => {
  it('of one turn are asked together at its end, each gets its own answer, and the next turn is another', async () => {
    const h = byHand();
    const reads = ['a-1', 'b-1', 'c-1'].map((name) => h.sut.read('inventory.nodes.get', { name }));
    await Promise.resolve();
    expect([h.asked, h.ends.length]).toEqual([[], 1]);
    h.end();
    expect((await Promise.all(reads)).map((node) => node.name)).toEqual(['a-1', 'b-1', 'c-1']);
    const later = h.sut.read('inventory.nodes.get', { name: 'd-1' });
    expect([h.asked.length, h.ends.length]).toEqual([3, 1]);
    h.end();
    expect((await later).name).toBe('d-1');
  });

  it('fail at once where the connection was lost before the turn ended', async () => {
    const h = byHand();
    const read = h.sut.read('inventory.nodes.get', { name: 'a-1' });
    h.bus.connected = false;
    h.end();
    await expect(read).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    expect(h.asked).toEqual([]);
  });
});

describe('a write', () => {
  it('is not tried while the only store cannot keep it, and nothing was asked', async () => {
    const h = byHand({
      refusal: {
        kind: 'full',
        summary: 'The disk under NATS is full.',
        message: 'The disk under NATS is full: at /srv.',
      },
    });
    await expect(
      h.sut.write('inventory.nodes.uncordon', { name: 'a-1', by: 'ada', from: 'unix' }),
    ).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE', message: 'The disk under NATS is full.' });
    expect(h.asked).toEqual([]);
  });

  it('waits for no turn', async () => {
    const h = byHand();
    await h.sut.write('inventory.nodes.uncordon', { name: 'a-1', by: 'ada', from: 'unix' });
    expect(h.asked).toEqual(['inventory.nodes.uncordon a-1']);
  });
});
