import type { Server } from './server.js';

/** One event as the server streams it. */
export interface StreamedEvent {
  seq: number;
  kind: string;
  key: string;
  at: number;
  source: string;
  data: unknown;
}

/** Events from now on, or behind `after`. Ends when the server closes the stream. @throws Refusal, NoServer */
export async function* eventsOf(
  server: Server,
  query: string,
  after?: number,
  signal?: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const headers = { accept: 'text/event-stream', ...(after !== undefined && { 'last-event-id': String(after) }) };
  let text = '';
  for await (const more of server.stream(`/v1/events?${query}`, headers, signal)) {
    text += more;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as StreamedEvent;
    }
  }
}
