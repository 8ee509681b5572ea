import { Subjects, type ServiceName } from '#contracts';
import type { Link } from '../ports/link.js';
import { decideReading, readingConfig } from '../readings/reading.js';
import { StoreApi } from '../store-names/store-api.js';
import { ApartServices, readableStreams } from '../users/permissions.js';
import { answer } from './call.js';

/** Of the server's answer, ms. */
const ANSWER_MS = 2_000;

/**
 * Has the server make the readings that services with an account of their own ask for. They may not ask for a consumer
 * themselves: it sends what is stored to any subject of the account that holds the streams. Here its messages go to the
 * service that asked, and nowhere else. It ends with the connection.
 */
export function answerReadings(link: Link): void {
  for (const service of ApartServices)
    answer(link, Subjects.read(service), (request: unknown) => open(link, service, request), { queue: 'inventory' });
}

/**
 * The server's own answer, as the service would have had it: also a refusal. A service that waits asks again, perhaps
 * another inventory: by its name the reading is made once.
 */
async function open(link: Link, service: ServiceName, asked: unknown): Promise<unknown> {
  const { stream, reading, ...what } = decideReading(readableStreams(service), asked);
  const name = `${service}-${reading}`;
  const config = { name, ...readingConfig(what, Subjects.feed(service, reading)) };
  const request = JSON.stringify({ stream_name: stream, config });
  const text = await link.wire.request(`${StoreApi}.CONSUMER.CREATE.${stream}.${name}`, request, {
    timeoutMs: ANSWER_MS,
  });
  return JSON.parse(text) as unknown;
}
