import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { MusterError, type RpcRequest } from '#contracts';
import type { RpcClient } from '../rpc/rpc-client.js';
import { node } from '../testing/records.js';
import { jsonList, nodePages } from './node-pages.js';

const fleet = Array.from({ length: 9 }, (_, i) => node('host', String(i)));

interface Played {
  /** At this page. @default never */
  fails?: number;
  /** Names in a part; absent: an inventory of an earlier version, which divides nothing and knows no end of a part. */
  parts?: number;
  /** From this page on it is of an earlier version. @default never */
  earlierFrom?: number;
}

/** Inventory with pages of three. */
function inventory({ fails = -1, parts, earlierFrom = parts === undefined ? 0 : Infinity }: Played = {}) {
  const asked: RpcRequest<'inventory.nodes.text'>[] = [];
  const read = async (_verb: string, q: RpcRequest<'inventory.nodes.text'>) => {
    const knows = asked.length < earlierFrom;
    asked.push(q);
    if (asked.length - 1 === fails) throw new MusterError('TIMEOUT', 'no answer');
    const until = knows ? q.until : undefined;
    const rest = fleet.filter((n) => (!q.cursor || n.name > q.cursor) && (!until || n.name <= until));
    const items = rest.slice(0, Math.min(3, q.limit ?? 3));
    const behind = rest.slice(items.length);
    const cuts = behind.filter((_, i) => (i + 1) % (parts ?? 0) === 0 && i + 1 < behind.length).map((n) => n.name);
    return {
      text: items.map((n) => JSON.stringify(n)).join(','),
      count: items.length,
      ...(behind.length > 0 && { next: items.at(-1)!.name, ...(knows && q.divide && { cuts }) }),
      ...(until !== undefined && { until }),
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
      { state: 'Discovered', divide: true },
      { state: 'Discovered', cursor: 'host-2' },
      { state: 'Discovered', cursor: 'host-5' },
    ]);
  });

  it('is the same in parts that are asked for side by side, also where a part has several pages', async () => {
    for (const parts of [1, 2, 3, 4, 5]) {
      const from = inventory({ parts });
      expect(await list({ state: 'Discovered' }, from)).toEqual({ items: fleet });
      expect(await list({ cursor: 'host-1' }, inventory({ parts }))).toEqual({ items: fleet.slice(2) });
    }
    const from = inventory({ parts: 1 });
    const pages = nodePages(from.rpc, {});
    await pages.next();
    expect(from.asked).toEqual([
      { divide: true },
      { cursor: 'host-2', until: 'host-3' },
      { cursor: 'host-3', until: 'host-4' },
      { cursor: 'host-4', until: 'host-5' },
    ]);
  });

  it('is the same while an inventory of an earlier version answers some of it', async () => {
    for (const parts of [1, 2, 3, 4, 5])
      for (const earlierFrom of [1, 2, 3, 4, 5])
        expect(await list({}, inventory({ parts, earlierFrom }))).toEqual({ items: fleet });
  });

  it('ends at the limit, over as many pages as it takes, and tells where it goes on', async () => {
    expect(await list({ limit: 5 })).toEqual({ items: fleet.slice(0, 5), next: 'host-4' });
    expect(await list({ limit: 5, cursor: 'host-4' })).toEqual({ items: fleet.slice(5) });
    expect(await list({ limit: 9 })).toEqual({ items: fleet });
    expect(await list({ cursor: 'host-8' })).toEqual({ items: [] });
  });

  it('fails with the first page, and breaks off with a later one', async () => {
    await expect(jsonList(nodePages(inventory({ fails: 0 }).rpc, {}))).rejects.toMatchObject({ code: 'TIMEOUT' });
    for (const parts of [undefined, 1, 2, 3]) {
      const from = inventory({ fails: 2, ...(parts !== undefined && { parts }) });
      await expect(text(await jsonList(nodePages(from.rpc, {})))).rejects.toMatchObject({ code: 'TIMEOUT' });
    }
  });
});
