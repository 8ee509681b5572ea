import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { ServiceContext } from '#service';
import { RpcClient } from './rpc-client.js';

@Injectable()
export class JobLog {
  constructor(
    private readonly rpc: RpcClient,
    private readonly context: ServiceContext,
  ) {}

  /** Streams the log at the reader's own speed: a slow reader holds up its own reading, never the job. */
  async send(label: string, o: { from?: number; follow?: boolean }, reply: FastifyReply): Promise<void> {
    const { id } = await this.rpc.read('inventory.jobs.get', { id: label });
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const chunks = this.context.bus.readLog(id, { ...o, signal: gone.signal });
    // Who follows is answered at once: it may take a job minutes to its first line.
    const begun = (): void => (o.follow === true ? reply.raw.flushHeaders() : undefined);
    await reply.type('text/plain; charset=utf-8').send(Readable.from(texts(chunks, begun)));
  }

  /** The newest lines of what is logged so far, and how many there are before them. */
  async tail(id: string, most: number): Promise<{ lines: string[]; before: number }> {
    const lines: string[] = [];
    let before = 0;
    let rest = '';
    for await (const { text } of this.context.bus.readLog(id, {})) {
      lines.push(...(rest + text).split('\n'));
      rest = lines.pop() ?? '';
      // Cut now and then, since a log may be larger than what we want to hold.
      if (lines.length > 2 * most) before += lines.splice(0, lines.length - most).length;
    }
    if (rest !== '') lines.push(rest);
    before += lines.splice(0, Math.max(0, lines.length - most)).length;
    return { lines, before };
  }
}

/** @param begun called once it is read: only then does the answer have its headers */
async function* texts(chunks: AsyncIterable<{ text: string }>, begun: () => void): AsyncIterable<string> {
  begun();
  for await (const { text } of chunks) yield text;
}
