import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { MusterError, type RpcRequest } from '#contracts';
import type { RpcClient } from '../rpc/rpc-client.js';
import { node } from '../testing/records.js';
import { jsonList, nodePages } from './node-pages.js';

const fleet = Array.from({ length: 7 }, (_, i) => node('host', String(i)));

/** Inventory with pages of three; `fails` at this page. */
function inventory(fails = -1) {
  const asked: RpcRequest<'inventory.nodes.text'>[] = [];
  const read = async (_verb: string, q: RpcRequest<'inventory.nodes.text'>) => {
    asked.push(q);
    if (asked.length - 1 === fails) throw new MusterError('TIMEOUT', 'no answer');
    const rest = fleet.filter((n) => q.cursor === undefined || n.name > q.cursor);
    const items = rest.slice(0, Math.min(3, q.limit ?? 3));
    const last = items.at(-1);
    return {
      text: items.map((n) => JSON.stringify(n)).join(','),
      count: items.length,
      ...(last && items.length < rest.length && { next: last.name }),
    };
  };
  return { asked, rpc: { read } as unknown as RpcClient };
}

async function list(q: RpcRequest<'inventory.nodes.text'>, from = inventory()): Promise<unknown> {
  return JSON.parse(await text(await jsonList(nodePages(from.rpc, q))));
}

describe('a list of nodes', () => {
  it('is all of them where no limit is given', async () => {
    const from = inventory();
    expect(await list({ state: 'Discovered' }, from)).toEqual({ items: fleet });
    expect(from.asked).toEqual([
      { state: 'Discovered' },
      { state: 'Discovered', cursor: 'host-2' },
      { state: 'Discovered', cursor: 'host-5' },
    ]);
  });

  it('ends at the limit, over as many pages as it takes, and tells where it goes on', async () => {
    expect(await list({ limit: 5 })).toEqual({ items: fleet.slice(0, 5), next: 'host-4' });
    expect(await list({ limit: 5, cursor: 'host-4' })).toEqual({ items: fleet.slice(5) });
    expect(await list({ limit: 7 })).toEqual({ items: fleet });
    expect(await list({ cursor: 'host-6' })).toEqual({ items: [] });
  });

  it('fails with the first page, and breaks off with a later one', async () => {
    await expect(jsonList(nodePages(inventory(0).rpc, {}))).rejects.toMatchObject({ code: 'TIMEOUT' });
    const begun = await jsonList(nodePages(inventory(2).rpc, {}));
    await expect(text(begun)).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
});
