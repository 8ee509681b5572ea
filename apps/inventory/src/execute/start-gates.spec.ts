import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AlarmView, NodeView } from '#contracts';
import type { FakeFleet } from '../testing/fake-fleet.js';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

/** A running inventory on a real server, in hurried time; the spec plays agents and detector. */
let served: ServedFleet;
let fleet: FakeFleet;

beforeEach(async () => {
  served = await ServedFleet.start(['n-1', 'n-2', 'n-3'], { hurry: 5 });
  fleet = served.fleet;
});
afterEach(() => served.stop());

const node = (name: string): Promise<NodeView> => fleet.bus.call('inventory.nodes.get', { name });
const alarms = async (): Promise<AlarmView[]> =>
  (await fleet.bus.call('inventory.alarms.list', {})).items.filter((a) => a.code === 'workload-ungated');

it('tells which node runs work without a start gate, also once that is silent, until it has one or is no workload', async () => {
  fleet.gated.set('db', false).set('web', true);
  for (const workload of ['db', 'web']) fleet.run('n-1', workload, 1);
  const [alarm] = await until(async () => ((await alarms()).length > 0 ? await alarms() : undefined), 'the alarm');
  expect(alarm).toMatchObject({
    subject: 'n-1',
    severity: 'warning',
    message: expect.stringContaining('db ran there'),
  });
  expect(alarm?.message).not.toContain('web');
  expect(alarm?.remedy.command).toBe('muster node get n-1');
  expect((await node('n-1')).ungated).toEqual(['db']);
  expect((await node('n-2')).ungated).toBeUndefined();

  const isOver = (): Promise<unknown> =>
    until(async () => (await alarms()).every((a) => a.cleared !== undefined), 'the alarm to be over');
  fleet.gated.set('db', true).set('web', false);
  await until(async () => (await node('n-1')).ungated?.join() === 'web', 'the other one');
  fleet.gated.set('web', true);
  await isOver();
  expect((await node('n-1')).ungated).toBeUndefined();

  fleet.gated.set('db', false);
  await until(async () => (await node('n-1')).ungated, 'the first again');
  await fleet.loseAgent('n-1');
  expect((await node('n-1')).ungated).toEqual(['db']);
  // It runs nothing then, and there is no such workload.
  await fleet.revive('n-1');
  await isOver();
  expect((await node('n-1')).ungated).toBeUndefined();
});
