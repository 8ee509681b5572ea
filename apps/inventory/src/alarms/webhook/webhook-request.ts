import { createHmac } from 'node:crypto';
import { lookup, type LookupAddress } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isNoHookHost, type AlarmRecord, type Clock, type MusterEvent, type Webhook } from '#contracts';

/** From the first look at its name to the first line of its answer, ms. */
const HOOK_LIMIT_MS = 5_000;

/** How an event reaches a webhook. A simulation plays it here. */
export type PostEvent = typeof postEvent;

/**
 * POSTs the event. Resolves with undefined when the other side has taken it (any 2xx), else with why not, in words that
 * hold nothing of the URL: it may be a secret in itself. Redirects are not followed: they would carry the alarm, and
 * its signature, to a place that nobody has named.
 */
export function postEvent(
  hook: Webhook,
  event: MusterEvent<'alarm'>,
  o: { clock: Pick<Clock, 'after'>; signal?: AbortSignal; limitMs?: number },
): Promise<string | undefined> {
  const body = Buffer.from(JSON.stringify(event));
  const limitMs = o.limitMs ?? HOOK_LIMIT_MS;
  const url = new URL(hook.url);
  if (isNoHookHost(url.hostname)) return Promise.resolve(NO_HOOK);
  return new Promise((resolve) => {
    const sent = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      // A connection of its own: one that stood by may be dead, and would fail a good hook.
      agent: false,
      lookup: lookupHook,
      headers: { ...headersOf(hook, event, body), connection: 'close' },
    });
    let why = 'the connection was closed before an answer came';
    let givenUp = false;
    const giveUp = (reason: string) => (): void => {
      why = reason;
      givenUp = true;
      sent.destroy();
    };
    const stop = giveUp('it was ended from here');
    const timer = o.clock.after(limitMs, giveUp(`no answer within ${limitMs} ms`));
    o.signal?.addEventListener('abort', stop, { once: true });
    if (o.signal?.aborted === true) stop();
    const settle = (failure: string | undefined): void => {
      timer.cancel();
      o.signal?.removeEventListener('abort', stop);
      resolve(failure);
    };
    sent.on('response', (answer) => {
      settle(failureOf(answer.statusCode ?? 0));
      answer.destroy();
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (!givenUp) why = error.code ?? error.message;
    });
    // Comes last whatever happens, also where a connection is closed without a word and no error is told.
    sent.on('close', () => settle(why));
    sent.end(body);
  });
}

const NO_HOOK = 'its host is a link-local address, or the metadata of a cloud';

/** A name may lead to another address at each look, whatever it was when the hook was set. */
const lookupHook: LookupFunction = (hostname, options, found) =>
  lookup(hostname, options, (error, address: string | LookupAddress[], family?: number) => {
    const all = typeof address === 'string' ? [address] : (address ?? []).map((a) => a.address);
    if (error === null && all.some(isNoHookHost)) found(new Error(NO_HOOK), '', 0);
    else found(error, address, family);
  });

function failureOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 300 && status < 400) return `answers ${status}: redirects are not followed, set the URL that is meant`;
  return `answers ${status}`;
}

const headersOf = (hook: Webhook, event: MusterEvent<'alarm'>, body: Buffer): Record<string, string> => ({
  'content-type': 'application/json',
  'content-length': String(body.length),
  'user-agent': 'muster',
  // The same at each try: who has seen it can leave it out.
  'x-muster-event-id': event.id.replaceAll(/[^\x21-\x7e]/g, (c) => `%${c.charCodeAt(0).toString(16)}`),
  ...(hook.secret !== undefined && { 'x-muster-signature': `sha256=${signature(hook.secret, body)}` }),
});

const signature = (secret: string, body: Buffer): string => createHmac('sha256', secret).update(body).digest('hex');

export const isAlarmEvent = (x: unknown): x is MusterEvent<'alarm'> => {
  const event = x as Partial<MusterEvent<'alarm'>> | null;
  const alarm = event?.data as Partial<AlarmRecord> | undefined;
  return typeof event?.id === 'string' && typeof alarm?.code === 'string' && typeof alarm.subject === 'string';
};
