import { Readable } from 'node:stream';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { RpcClient } from '../rpc/rpc-client.js';

type TextRequest = RpcRequest<'inventory.nodes.text'>;
type TextPage = RpcAnswer<'inventory.nodes.text'>;

/**
 * Nodes in the pages that inventory answers, each asked for while the one before is being read. `limit` is that of all
 * pages together; absent: all nodes.
 */
export async function* nodePages(rpc: RpcClient, { limit, ...q }: TextRequest): AsyncGenerator<TextPage, void> {
  const ask = (left: number | undefined, cursor: string | undefined): Promise<TextPage> => {
    const page = rpc.read('inventory.nodes.text', { ...q, ...(left && { limit: left }), ...(cursor && { cursor }) });
    // It may fail while nobody waits for it yet: who reads on gets the failure.
    page.catch(() => undefined);
    return page;
  };
  let left = limit;
  let page = await ask(left, q.cursor);
  for (;;) {
    if (left !== undefined) left -= page.count;
    const ahead = page.next === undefined || (left !== undefined && left <= 0) ? undefined : ask(left, page.next);
    yield page;
    if (!ahead) return;
    page = await ahead;
  }
}

/**
 * `{items, next}` as text, page by page: ten thousand nodes hold up nobody else's request. It resolves with the first
 * page; where a later one fails the connection breaks, so that half a list is never taken for a whole one.
 */
export async function jsonList(pages: AsyncGenerator<TextPage, void>): Promise<Readable> {
  const first = await pages.next();
  const text = async function* (): AsyncIterable<string> {
    let last = first.value;
    yield `{"items":[${last?.text ?? ''}`;
    for await (const page of pages) {
      if (page.count > 0) yield `,${page.text}`;
      last = page;
    }
    yield last?.next === undefined ? ']}' : `],"next":${JSON.stringify(last.next)}}`;
  };
  return Readable.from(text(), { objectMode: false });
}
