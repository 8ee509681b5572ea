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
    await reply.type('text/plain; charset=utf-8').send(Readable.from(texts(chunks)));
  }

  /** What is logged so far, as lines. */
  async lines(id: string): Promise<string[]> {
    let text = '';
    for await (const chunk of this.context.bus.readLog(id, {})) text += chunk.text;
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }
}

async function* texts(chunks: AsyncIterable<{ text: string }>): AsyncIterable<string> {
  for await (const { text } of chunks) yield text;
}
