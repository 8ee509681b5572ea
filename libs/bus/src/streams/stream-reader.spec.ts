import { beforeEach, describe, expect, it } from 'vitest';
import { Link } from '../ports/link.js';
import type { LogInfo, MessageLog, ReadMessage, ReadOptions } from '../ports/message-log.js';
import type { Wire, WireStatus } from '../ports/wire.js';
import { systemClock } from '../system/system-clock.js';
import { systemRandom } from '../system/system-random.js';
import { silentLog } from '../ports/types.js';
import { StreamReader } from './stream-reader.js';

const message = (seq: number): ReadMessage => ({ subject: 's', seq, text: '', headers: {} });
const turns = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('a reader of a stream, on ports that are played by hand', () => {
  let statusListener: (s: WireStatus) => void;
  /** Answers the question whether the storage is whole. */
  let whole: (() => void)[];
  /** Sessions that were asked for, and how the log says that they stand. */
  let asked: { o: ReadOptions; agree: () => void; closed: boolean }[];
  let heard: string[];
  let starts: number;
  let reader: StreamReader;

  beforeEach(() => {
    [whole, asked, heard, starts] = [[], [], [], 0];
    const wire: Partial<Wire> = {
      connected: true,
      closed: false,
      onStatus: (fn) => {
        statusListener = fn;
        return () => undefined;
      },
    };
    const messages: Partial<MessageLog> = {
      info: () => new Promise((resolve) => whole.push(() => resolve({} as LogInfo))),
      read: (_stream, o) =>
        new Promise((resolve) => {
          const one = { o, closed: false, agree: () => resolve({ close: () => void (one.closed = true) }) };
          asked.push(one);
        }),
    };
    const link = new Link({
      name: 'spec',
      wire: wire as Wire,
      messages: messages as MessageLog,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    });
    reader = new StreamReader(link, {
      stream: 'S',
      filter: '>',
      start: () => {
        starts++;
        return { from: 'all' };
      },
      onMessage: (m) => {
        heard.push(`${m.seq}`);
        if (m.seq === 13) throw new Error('a handler that fails');
      },
      onLive: () => void heard.push('live'),
      onGap: () => void heard.push('gap'),
    });
  });

  const reconnect = (): void => {
    statusListener('disconnected');
    statusListener('connected');
  };

  it('asks for its start once where it was begun anew while it waited for the storage', async () => {
    reconnect();
    for (const answer of whole) answer();
    await turns();
    expect(asked).toHaveLength(1);
    expect(starts).toBe(1);
  });

  it('hands on what comes before the word that its session stands, and is live with it', async () => {
    whole[0]?.();
    await turns();
    void asked[0]?.o.onMessage(message(1));
    expect(reader.live).toBe(false);
    asked[0]?.o.onLive();
    expect(reader.live).toBe(true);
    expect(heard).toEqual(['1', 'live']);
  });

  it('hears nothing more of a session that it gave up before that stood, and closes it', async () => {
    whole[0]?.();
    await turns();
    reconnect();
    await turns();
    void asked[0]?.o.onMessage(message(1));
    asked[0]?.o.onLive();
    asked[0]?.agree();
    await turns();
    expect(asked.map((a) => a.closed)).toEqual([true, false]);
    expect(heard).toEqual(['gap']);
    expect(reader.live).toBe(false);
  });

  it('goes on after a handler that fails, and begins anew in doubt', async () => {
    whole[0]?.();
    await turns();
    asked[0]?.agree();
    void asked[0]?.o.onMessage(message(13));
    void asked[0]?.o.onMessage(message(14));
    asked[0]?.o.onDoubt('a hole');
    await turns();
    expect(heard).toEqual(['13', '14', 'gap']);
    expect(asked).toHaveLength(2);
  });
});
