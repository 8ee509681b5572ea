import { MusterError, refusedInDoubt } from '#contracts';
import type { Link } from '../ports/link.js';
import { apiError, isPassing } from '../ports/log-failure.js';
import { patienceWith } from '../servers/patience.js';

export interface StoreOptions {
  /** Makes the message unique: a second one within two minutes is acknowledged and dropped. @default random */
  id?: string;
  /** Only when this is still the subject's last sequence; 0 = the subject is new. */
  expect?: number;
  headers?: [name: string, value: string][];
  /** In all, over every try, ms. @default 5000 on a single server, 12000 on a cluster */
  timeoutMs?: number;
}

export type Stored = { seq: number } | { conflict: true; tries: number };

/**
 * Publishes into a stream and waits for the acknowledgement. A lost acknowledgement is asked for again with the same
 * id, so that the message is stored once; `conflict` means that `expect` no longer held.
 * @throws TIMEOUT, BUS_UNAVAILABLE or INTERNAL where it may have been stored
 */
export async function store(
  link: Link,
  subject: string,
  payload: Uint8Array | string,
  o: StoreOptions = {},
): Promise<Stored> {
  const { clock, random } = link;
  const { tryMs, limitMs } = patienceWith(link.wire.serverInfo);
  const deadline = clock.monotonicMs() + (o.timeoutMs ?? limitMs);
  const id = o.id ?? random.uuid();
  let mayBeStored = false;
  for (let tries = 1; ; tries++) {
    const left = deadline - clock.monotonicMs();
    try {
      const appended = await link.messages.append(subject, payload, {
        id,
        ...(o.expect !== undefined && { expect: o.expect }),
        ...(o.headers && { headers: o.headers }),
        timeoutMs: Math.max(50, Math.min(left, tryMs)),
      });
      return 'conflict' in appended ? { conflict: true, tries } : { seq: appended.seq };
    } catch (e) {
      if (!isPassing(e) || link.closed || clock.monotonicMs() + 100 >= deadline) {
        const failure = apiError(e, subject);
        throw mayBeStored ? refusedInDoubt(failure) : failure;
      }
      mayBeStored ||= !isUnheard(e);
      await link.whenConnected(Math.max(0, deadline - clock.monotonicMs()));
      await clock.sleep(50 + random.number() * 50);
    }
  }
}

/** No server took it: nothing was stored by this try. */
const isUnheard = (e: unknown): boolean => e instanceof MusterError && e.code === 'NO_RESPONDER';
