import { afterAll, beforeAll, expect, it } from 'vitest';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Closable } from '#bus';
import { Subjects, type MusterEvent } from '#contracts';
import { RunningInventory, seen } from '../../inventory/src/testing/running-inventory.js';
import { startGatewayBeside, type GatewayBeside } from './testing/gateway-beside.js';

/** After it is stored durably, ms. */
const ANSWER_MS = 200;
/** The way from the store to who asked: inventory, NATS, gateway, HTTP. */
const WAY_MS = 50;

let inventory: RunningInventory;
let gateway: GatewayBeside;
let stalled: Closable;
let letGo: () => void;
const released = new Promise<void>((resolve) => (letGo = resolve));

const post = (label: string, count: number): Promise<Response> => {
  const nodes = Array.from({ length: count }, (_, i) => ({
    label: `${label}${i}`,
    serial: 'S',
    addr: `10.9.${Math.floor(i / 250)}.${(i % 250) + 1}`,
  }));
  const body = JSON.stringify({ monitor_event: { name: 'discovered', nodes } });
  return fetch(`${gateway.url}/monitor/event`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
};

beforeAll(async () => {
  inventory = await RunningInventory.start();
  gateway = await startGatewayBeside(inventory.as('gateway'));
});
afterAll(async () => {
  letGo();
  await stalled?.close();
  await gateway?.close();
  await inventory?.stop();
});

it('a word of 1,000 names is answered 200 ms after it is stored, also while the one before it is not applied', async () => {
  // A replica that stands still in the middle of a word: none after it is applied.
  let isHeld = false;
  const filters = [Subjects.event('monitor-event', '*')];
  stalled = inventory.as('inventory').consume(
    'inventory-monitor',
    filters,
    async () => {
      isHeld = true;
      await released;
    },
    { oneAtATime: true },
  );
  // Either replica may get a word; this one keeps the first that it gets.
  for (let n = 0; !isHeld; n++) {
    expect((await post(`before${n}-`, 1)).status).toBe(200);
    if (n > 50) throw new Error('the replica that stands still got no word');
  }
  let told: Closable | undefined;
  let stored: Promise<number> | undefined;
  await new Promise<void>((isFollowing) => {
    stored = new Promise((resolve) => {
      told = inventory.as('inventory').follow(filters, { fromSeq: 1 }, (_subject, event) => {
        isFollowing();
        if ((event as MusterEvent<'monitor-event'>).data.nodes.length === 1000) resolve(performance.now());
      });
    });
  });
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const answer = await post('many', 1000);
  const answered = performance.now();
  loop.disable();
  expect(answer.status).toBe(200);
  const waited = answered - ((await stored) ?? Number.NaN);
  const standstill = loop.max / 1e6;
  await told?.close();
  expect(inventory.nodes.get('many0-S')).toBeUndefined();
  expect({ waited, standstill, isInTime: waited < ANSWER_MS + WAY_MS + standstill }).toMatchObject({ isInTime: true });
  letGo();
  await stalled.close();
  await seen(inventory.nodes, 'many999-S', () => true);
});
