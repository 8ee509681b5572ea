import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { MusterError } from '#contracts';
import { BODY_LIMIT } from './json-text.js';

/** How long the rest of a refused body may still come. */
const LINGER_MS = 2_000;

export const tooLarge = (): MusterError => new MusterError('TOO_LARGE', 'the body is larger than 1 MB');

/** @throws MusterError TOO_LARGE: the body says itself that it is; nothing of it is read then. */
export function refuseTooLarge(headers: IncomingHttpHeaders): void {
  if (Number(headers['content-length'] ?? 0) > BODY_LIMIT) throw tooLarge();
}

/**
 * Closed at once, the connection would be reset under a client that is still sending, which then never reads why. So
 * what still comes is dropped, but not without end.
 */
export function hangUpLater(request: IncomingMessage): void {
  const { socket } = request;
  // Node drops the rest by itself only where none of it has come by now.
  request.resume();
  // Complete by then: the connection may be serving the next request.
  const end = setTimeout(() => request.complete || socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(end));
}
