import { Readable } from 'node:stream';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { RpcClient } from '../rpc/rpc-client.js';

type TextRequest = RpcRequest<'inventory.nodes.text'>;
type TextPage = RpcAnswer<'inventory.nodes.text'>;

/** Parts of a long list in flight: the client reads one while inventory writes two. More would only wait in memory. */
const AT_ONCE = 3;

type Bounds = Pick<TextRequest, 'limit' | 'cursor' | 'until' | 'divide'>;
type Ask = (bounds: Bounds) => Promise<TextPage>;

/**
 * Nodes in the pages that inventory answers, in their order. `limit` is that of all pages together; absent: all nodes, in
 * parts that are asked for side by side.
 */
export async function* nodePages(rpc: RpcClient, { limit, ...q }: TextRequest): AsyncGenerator<TextPage, void> {
  const ask: Ask = (bounds) => {
    const page = rpc.read('inventory.nodes.text', { ...q, ...bounds });
    // It may fail while nobody waits for it yet: who reads on gets the failure.
    page.catch(() => undefined);
    return page;
  };
  if (limit !== undefined) {
    yield* inTurn(ask, { limit });
    return;
  }
  const first = await ask({ divide: true });
  const parts = behind(first);
  const asked = parts.splice(0, AT_ONCE).map((part) => ({ part, page: ask(part) }));
  yield first;
  for (let next = asked.shift(); next !== undefined; next = asked.shift()) {
    const keptToItsPart = yield* inTurn(ask, next.part, next.page);
    if (!keptToItsPart) return;
    const part = parts.shift();
    if (part !== undefined) asked.push({ part, page: ask(part) });
  }
}

/**
 * A page behind the other, each asked for while the one before is being read.
 * @returns whether it ended at `until`: an inventory of an earlier version reads on to the end of the fleet
 */
async function* inTurn(ask: Ask, bounds: Bounds, asked = ask(bounds)): AsyncGenerator<TextPage, boolean> {
  let { limit: left, until } = bounds;
  for (let next: Promise<TextPage> | undefined = asked; next !== undefined;) {
    const page: TextPage = await next;
    until = page.until;
    if (left !== undefined) left -= page.count;
    const goesOn = page.next !== undefined && (left === undefined || left > 0);
    const rest = { ...(left !== undefined && { limit: left }), ...(until !== undefined && { until }) };
    next = goesOn ? ask({ ...rest, cursor: page.next as string }) : undefined;
    yield page;
  }
  return until === bounds.until;
}

/** What is left behind a page, in parts that together leave out no name. */
function behind({ next, cuts = [] }: TextPage): Bounds[] {
  if (next === undefined) return [];
  const starts = [next, ...cuts];
  return starts.map((cursor, i) => ({ cursor, ...(i < cuts.length && { until: cuts[i] as string }) }));
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
