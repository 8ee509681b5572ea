import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { systemClock } from '#bus/system/system-clock.js';
import { isWireError, MusterError } from '#contracts/errors/errors.js';

/** ms for the whole exchange; the server itself gives it 10 s. */
const ANSWER_LIMIT = 20_000;
/** Bytes; what is asked for is a thousandth of it. */
const LARGEST = 1_000_000;

/** The address from which this host reaches the server. @throws MusterError BUS_UNAVAILABLE */
export async function ownSideOf(server: URL): Promise<string> {
  const port = Number(server.port) || (server.protocol === 'https:' ? 443 : 80);
  const socket = connect({ host: bare(server.hostname), port, timeout: ANSWER_LIMIT });
  try {
    const silent = new Promise<never>((_, reject) => {
      socket.once('timeout', () => reject(new Error('no answer')));
    });
    await Promise.race([once(socket, 'connect'), silent]);
    return (socket.localAddress ?? '').replace(/^::ffff:/, '');
  } catch (e) {
    throw unreachable(server, e);
  } finally {
    socket.destroy();
  }
}

/**
 * What the server answers to a POST. No redirect is followed: the token is for this server alone.
 * @throws MusterError of the server; BUS_UNAVAILABLE where it cannot be reached or is not the one that it should be
 */
export async function post(
  server: URL,
  path: string,
  o: { token: string; body: unknown; ca?: string },
): Promise<unknown> {
  const url = new URL(`${server.pathname.replace(/\/$/, '')}${path}`, server);
  const body = JSON.stringify(o.body);
  const late = new AbortController();
  const limit = systemClock.after(ANSWER_LIMIT, () => late.abort());
  const options = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${o.token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    },
    signal: late.signal,
    ...(o.ca !== undefined && { ca: o.ca }),
  };
  let status: number;
  let text: string;
  try {
    const asking = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    asking.end(body);
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    status = answer.statusCode ?? 0;
    text = await textOf(answer);
  } catch (e) {
    throw unreachable(server, e);
  } finally {
    limit.cancel();
  }
  if (status >= 200 && status < 300) return JSON.parse(text);
  throw refusal(status, text);
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > LARGEST) throw new Error('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** In the server's own words, where they are Muster's. */
function refusal(status: number, text: string): MusterError {
  try {
    const { code, detail } = JSON.parse(text) as { code?: unknown; detail?: unknown };
    const said = { code, message: detail };
    if (isWireError(said)) return MusterError.from(said);
  } catch {
    // Not Muster's: the status says what there is to say.
  }
  return new MusterError('COMMAND_FAILED', `the server answered with HTTP status ${status}: is it Muster's API?`);
}

function unreachable(server: URL, cause: unknown): MusterError {
  const { code, message, name } = cause as NodeJS.ErrnoException;
  const why = name === 'AbortError' || name === 'TimeoutError' ? 'no answer' : message || code;
  const hint = /certificate|self.signed|issuer/i.test(`${code} ${message}`) ? '; name its certificate with --ca' : '';
  return new MusterError('BUS_UNAVAILABLE', `${server.origin} cannot be asked: ${why}${hint}`, {}, { cause });
}

/** Without the brackets of an IPv6 address. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');
