import { Injectable } from '@nestjs/common';
import { MusterError, type NodeView, type RpcAnswer } from '#contracts';
import { JsonText } from './json-text.js';
import { RpcClient } from './rpc-client.js';

/** Nodes in one question, at most. */
const MOST_NAMES = 100;

interface Reader {
  resolve(node: JsonText): void;
  reject(e: unknown): void;
}

type Asked = [name: string, readers: Reader[]];

/**
 * Single nodes by name or management address. All that are asked for in one turn of the event loop share one question to
 * inventory, which is put at its end: so each answer is of a moment after its request, and many at once cost NATS and
 * inventory little more than one. A node's text goes through as it is.
 */
@Injectable()
export class NodeReads {
  private waiting = new Map<string, Reader[]>();

  constructor(private readonly rpc: RpcClient) {}

  /** @throws MusterError NODE_UNKNOWN, and as {@link RpcClient.read} */
  text(name: string): Promise<JsonText> {
    return new Promise((resolve, reject) => {
      if (this.waiting.size === 0) void this.rpc.turnEnds().then(() => this.askAll());
      const readers = this.waiting.get(name);
      if (readers) readers.push({ resolve, reject });
      else this.waiting.set(name, [{ resolve, reject }]);
    });
  }

  async view(name: string): Promise<NodeView> {
    return (await this.text(name)).parsed() as unknown as NodeView;
  }

  private askAll(): void {
    const all = [...this.waiting];
    this.waiting = new Map();
    for (let at = 0; at < all.length; at += MOST_NAMES) void this.ask(all.slice(at, at + MOST_NAMES));
  }

  /** Until each has its answer: those that were too many for one are in the next. */
  private async ask(some: readonly Asked[]): Promise<void> {
    let left = some;
    try {
      while (left.length > 0) {
        const answer = await this.rpc.readNow('inventory.nodes.each', { names: left.map(([name]) => name) });
        if (answer.found.length === 0)
          throw new MusterError('INTERNAL', 'inventory answers for no node of those asked');
        deal(left, answer);
        left = left.slice(answer.found.length);
      }
    } catch (e) {
      if (MusterError.from(e).code === 'NO_RESPONDER') await this.askOneByOne(left, e);
      else refuse(left, e);
    }
  }

  /**
   * An inventory of an earlier version, as there is one during an upgrade, knows no question for many. The first one
   * shows whether there is an inventory at all.
   */
  private async askOneByOne([first, ...others]: readonly Asked[], noAnswer: unknown): Promise<void> {
    if (first === undefined) return;
    if (await this.askOne(first)) await Promise.all(others.map((one) => this.askOne(one)));
    else refuse(others, noAnswer);
  }

  /** @returns whether somebody answered */
  private async askOne(one: Asked): Promise<boolean> {
    try {
      const view = await this.rpc.readNow('inventory.nodes.get', { name: one[0] });
      const node = new JsonText(JSON.stringify(view), view.revision);
      for (const reader of one[1]) reader.resolve(node);
      return true;
    } catch (e) {
      refuse([one], e);
      return MusterError.from(e).code !== 'NO_RESPONDER';
    }
  }
}

function refuse(asked: readonly Asked[], why: unknown): void {
  for (const [, readers] of asked) for (const reader of readers) reader.reject(why);
}

/** @throws MusterError INTERNAL where the answer is none: those who have theirs by then keep it */
function deal(asked: readonly Asked[], { found, text }: RpcAnswer<'inventory.nodes.each'>): void {
  const lines = text.split('\n').values();
  for (const [i, outcome] of found.entries()) {
    const readers = asked[i]?.[1] ?? [];
    if (typeof outcome !== 'number') {
      const refusal = MusterError.from(outcome);
      for (const reader of readers) reader.reject(refusal);
      continue;
    }
    const line = lines.next().value;
    if (line === undefined || line === '') throw new MusterError('INTERNAL', 'inventory names a node and shows none');
    const node = new JsonText(line, outcome);
    for (const reader of readers) reader.resolve(node);
  }
}
