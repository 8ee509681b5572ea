import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBus, type Bus } from '#bus';
import { startProxy, type TestProxy } from '#bus/testing/proxy.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import type { WorkloadRecord } from '#contracts';
import { aWorkload } from '../testing/records.js';
import { assignedNow } from './assigned-now.js';

let nats: TestNats;
let proxy: TestProxy;
let near: Bus;
let far: Bus;

beforeAll(async () => {
  nats = await startTestNats();
  proxy = await startProxy(nats.url);
  near = await connectBus({ name: 'near', servers: [nats.url] });
  far = await connectBus({ name: 'far', servers: [proxy.url] });
  await near.createBuckets();
});
afterAll(async () => {
  await Promise.all([near?.close(), far?.close()]);
  await proxy?.close();
  await nats?.stop();
});

it('what was assigned is known at once, also where the view has not followed', async () => {
  const bucket = near.bucket<WorkloadRecord>('workloads');
  const view = await far.bucket<WorkloadRecord>('workloads').view();
  proxy.freeze();
  await bucket.create('db', aWorkload('db', { generation: 1, assignment: { node: 'a-1', generation: 1 } }));
  expect(view.entries()).toEqual([]);
  expect(await assignedNow({ bucket, view }, 'a-1')).toEqual(['db']);
  expect(await assignedNow({ bucket, view }, 'b-1')).toEqual([]);
  proxy.heal();
  expect(await assignedNow({ bucket, view: await bucket.view() }, 'a-1')).toEqual(['db']);
});
