import { expect, it } from 'vitest';
import { systemClock, type Bus, type Lease } from '#bus';
import { devicesMark, type IncidentRecord, type NodeRecord, type PowerDevice, type PowerVerb } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { BmcQueue } from '../power/bmc-queue.js';
import { NodeFencer, type NodeFencerParts } from './node-fencer.js';

const device = (address: string): PowerDevice => ({ id: 'bmc', driver: 'ipmitool', address });
const before = [[device('10.2.0.1')]];
const after = [[device('10.2.0.2')]];

/** Fences one node over records in memory. @param editedAt the devices are edited as this intent is stored */
async function fence(editedAt: PowerVerb | undefined): Promise<{ sent: string[]; incident: IncidentRecord }> {
  const sent: string[] = [];
  let incident: IncidentRecord = {
    ...{ id: 'i-1', node: 'n-1', phase: 'fencing', cause: 'auto', reason: 'spec', openedAt: 1, updatedAt: 1 },
    ...{ gates: [], conductor: 1, level: 0, attempt: 0, commands: [], recovery: [], steps: [] },
    devices: devicesMark(before),
  };
  let node: NodeRecord = aNode('n-1', { powerLevels: before });
  let isOff = false;
  const put = (next: IncidentRecord): Promise<number> => {
    incident = next;
    if (editedAt !== undefined && incident.commands.at(-1)?.verb === editedAt) node = { ...node, powerLevels: after };
    return Promise.resolve(1);
  };
  const incidents = {
    get: () => Promise.resolve({ value: incident, revision: 1 }),
    update: (_key: string, next: IncidentRecord) => put(next),
    mutate: (_key: string, fn: (x: { value: IncidentRecord }) => IncidentRecord | undefined) =>
      put(fn({ value: incident }) ?? incident),
  };
  const bucket = (name: string): unknown =>
    name === 'incidents' ? incidents : { get: () => Promise.resolve({ value: node, revision: 1 }) };
  const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
  const call = (): Promise<unknown> => Promise.resolve({ go: true, reason: 'DOWN', revision: 1 });
  const power: NodeFencerParts['power'] = {
    run: (d, verb) => {
      sent.push(`${verb} ${d.address}`);
      if (verb === 'off') isOff = true;
      return Promise.resolve({ ok: true, tookMs: 1, ...(verb === 'status' && { power: isOff ? 'off' : 'on' }) });
    },
  };
  const fencer = new NodeFencer('n-1', {
    bus: { clock: systemClock, log: silent, bucket, call } as unknown as Bus,
    lease: { held: true, token: 1, check: () => 1, validUntil: 2n ** 62n } as unknown as Lease,
    token: 1,
    power,
    queue: new BmcQueue(),
    drivers: () => ['ipmitool'],
    fencer: 'f',
    quietSince: () => 0,
    onUntil: () => undefined,
    signal: new AbortController().signal,
  });
  await fencer.run();
  return { sent, incident };
}

it('gives an off to the devices that the order names, reads them twice, and that is the proof', async () => {
  const { sent, incident } = await fence(undefined);
  expect(sent).toEqual(['status 10.2.0.1', 'off 10.2.0.1', 'status 10.2.0.1', 'status 10.2.0.1']);
  expect(incident.phase).toBe('fenced');
});

it('gives no off to devices that were edited as its intent was written, and tells that it did not', async () => {
  const { sent, incident } = await fence('off');
  expect(sent).toEqual(['status 10.2.0.1']);
  expect(incident.phase).toBe('failed');
  const off = incident.commands.find((c) => c.verb === 'off');
  expect(off?.result?.ok).toBe(false);
  expect(off?.result?.detail).toContain('not given');
});
