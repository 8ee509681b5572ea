import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rpcSubject } from '#bus';
import {
  identityBasis,
  type IncidentRecord,
  type NodeRecord,
  type PowerCommand,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { ServedFleet } from '../testing/served-fleet.js';
import { until } from '../testing/until.js';

type Answer = RpcAnswer<'fencer.power.read'>['devices'][number];

/** The judge as a whole on a real server; the spec plays agents, detector, fencer and devices. */
describe('mode enforce, set while a node is being fenced whose off was given in time', () => {
  let served: ServedFleet;
  /** What the fencer's next looks at the device of n-1 say. */
  let result: PowerCommand['result'];

  const incidents = () => served.fleet.bus.bucket<IncidentRecord>('incidents');
  const incident = async (): Promise<IncidentRecord | undefined> => (await incidents().get('n-1'))?.value;
  const put = (mode: 'observe' | 'enforce') =>
    served.fleet.bus.call('inventory.fencing.put', { by: 'eve', mode }, { timeoutMs: 30_000 });
  const answerAs = <V extends 'fencer.power.read' | 'fencer.power.identify'>(
    verb: V,
    fn: (node: NodeRecord, isFenced: boolean) => RpcAnswer<V>,
  ): void => {
    served.fleet.bus.answer<{ data: RpcRequest<V> }, { response: RpcAnswer<V> }>(rpcSubject(verb), async ({ data }) => {
      const node = (await served.fleet.bus.bucket<NodeRecord>('nodes').get(data.node))?.value as NodeRecord;
      return { response: fn(node, (await incidents().get(data.node))?.value.phase === 'fencing') };
    });
  };
  /** The fencing leader's part: one more command, which has ended. */
  const command = (verb: PowerCommand['verb'], of = result): Promise<unknown> =>
    incidents().mutate('n-1', (e) => {
      if (e === undefined) return undefined;
      const { commands, attempt } = e.value;
      const said: PowerCommand = {
        ...{ n: commands.length + 1, epoch: 1, fencer: 'fencer-1', attempt, level: 0, device: 'bmc', verb, at: 1 },
        ...(of && { endedAt: 1, result: of }),
      };
      return { ...e.value, epoch: 1, commands: [...commands, said] };
    });

  beforeAll(async () => {
    served = await ServedFleet.start(['n-1', 'n-2', 'n-3', 'n-4', 'n-5']);
    const busy = { code: 'NODE_BUSY', detail: 'it is being fenced' };
    answerAs('fencer.power.read', (node, isFenced) => {
      // A leader goes on with its own commands whoever asks.
      if (isFenced && result !== undefined) void command('status');
      const devices = node.powerLevels
        .flat()
        .map(({ id }): Answer => (isFenced ? { id, power: 'unknown', ...busy } : { id, power: 'on' }));
      return { devices };
    });
    answerAs('fencer.power.identify', (node) => ({
      devices: node.powerLevels.flat().map((d) => ({ id: d.id, basis: identityBasis(d), ...busy })),
    }));
    await served.fleet.die('n-1');
    const i = await until(async () => {
      const now = await incident();
      return now?.phase === 'fencing' && now;
    }, 'its fencing');
    await served.fleet.bus.call('inventory.incidents.recheck', { node: 'n-1', incident: i.id, epoch: 1 });
    await command('off', { ok: true });
  });
  afterAll(() => served.stop());

  beforeEach(() => put('observe'));

  it('is set where its device answers to whoever fences it', async () => {
    result = { ok: true, power: 'on' };
    expect(await put('enforce')).toMatchObject({ mode: 'enforce' });
    // What was begun goes on, whatever the mode.
    expect((await incident())?.phase).toBe('fencing');
  });

  it.each<[string, PowerCommand['result']]>([
    ['answers to nobody', { ok: false, code: 'BMC_TIMEOUT' }],
    ['is asked by nobody any more', undefined],
  ])('is refused where its device %s', async (_how, said) => {
    result = said;
    await expect(put('enforce')).rejects.toMatchObject({
      code: 'FENCING_REFUSED',
      message: expect.stringContaining('n-1 (bmc: NODE_BUSY)'),
    });
  });
});
