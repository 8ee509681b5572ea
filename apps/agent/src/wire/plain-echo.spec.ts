import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { freeUdpPort } from '../testing/fleet.js';
import { PLAIN_BYTES, PlainEcho, PlainGate } from './plain-echo.js';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
const bytes = (x: number): Buffer => Buffer.alloc(PLAIN_BYTES, x);

describe('bare probes', () => {
  it('are answered once each, by their size and at a limited rate', () => {
    const gate = new PlainGate();
    expect(gate.allows(bytes(1), 0)).toBe(true);
    expect(gate.allows(bytes(1), 100)).toBe(false);
    for (const size of [0, 1, 15, 17, 64, 1500]) expect(gate.allows(Buffer.alloc(size, 2), 0)).toBe(false);
    const flood = Array.from({ length: 1000 }, (_, i) => Buffer.from(`flood-${String(i).padStart(10, '0')}`));
    expect(flood.filter((b) => gate.allows(b, 500)).length).toBe(199);
    expect(gate.allows(flood[900]!, 1_000)).toBe(true);
  });

  it('are remembered for longer than a flood can make it forget', () => {
    const gate = new PlainGate();
    gate.allows(bytes(1), 0);
    for (let i = 0; i < 4000; i++) gate.allows(Buffer.from(`flood-${String(i).padStart(10, '0')}`), i * 10);
    expect(gate.allows(bytes(1), 50_000)).toBe(false);
  });
});

describe('the port for bare probes', () => {
  let echo: PlainEcho;
  let port: number;
  let client: Socket;
  let got: { bytes: Buffer; from: string }[];

  beforeEach(async () => {
    port = await freeUdpPort();
    const networks = { backend: { bind: '127.0.0.2' }, management: { bind: '127.0.0.3' } };
    echo = new PlainEcho(networks, port, systemClock, quiet);
    await echo.open();
    got = [];
    client = createSocket('udp4');
    client.on('message', (b, from) => got.push({ bytes: b, from: from.address }));
    client.bind(0, '127.0.0.1');
    await once(client, 'listening');
  });
  afterEach(() => {
    client.close();
    echo.close();
  });

  const send = async (b: Buffer, address: string): Promise<void> =>
    new Promise((resolve, reject) => client.send(b, port, address, (e) => (e ? reject(e) : resolve())));
  const answers = async (count: number): Promise<void> => {
    while (got.length < count) await once(client, 'message');
  };

  it('sends the same bytes back from the address that was asked, on each network', async () => {
    await send(bytes(5), '127.0.0.2');
    await answers(1);
    await send(bytes(6), '127.0.0.3');
    await answers(2);
    expect(got).toEqual([
      { bytes: bytes(5), from: '127.0.0.2' },
      { bytes: bytes(6), from: '127.0.0.3' },
    ]);
    expect(echo.answered).toBe(2);
  });

  it('answers nothing else, and nothing twice: two of them cannot keep each other busy', async () => {
    for (const b of [Buffer.alloc(0), Buffer.alloc(15), Buffer.alloc(17), Buffer.alloc(64), bytes(7), bytes(7)])
      await send(b, '127.0.0.2');
    await send(bytes(8), '127.0.0.2');
    await answers(2);
    expect(got.map((g) => g.bytes)).toEqual([bytes(7), bytes(8)]);
  });
});
