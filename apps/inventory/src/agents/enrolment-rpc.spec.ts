import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectBus, KvBucket, type Bus } from '#bus';
import { patient } from '#bus/testing/patient.js';
import { Subjects, type EventMap, type NodeRecord, type PeerList } from '#contracts';
import { NodeService } from '../nodes/node.service.js';
import { aNode } from '../testing/fixtures.js';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
let agent: Bus | undefined;

beforeAll(async () => {
  sut = await RunningInventory.start();
  await sut.work('provisioner', ['ansible']);
});

afterAll(async () => {
  await agent?.close();
  await sut?.stop();
});

const host = {
  by: 'ada',
  label: 'host1',
  serial: 'SN1',
  networks: { management: { address: '10.0.0.11' } },
  hostKeys: [`ssh-ed25519 ${'A'.repeat(40)}`],
};
const enrol = (user: string) => sut.as(user).call('inventory.agents.enrol', host);

describe('the enrolment of an agent', () => {
  it('registers the node, and gives its agent what it needs to be heard', async () => {
    const audited = new Promise<EventMap['audit']>((resolve) => {
      const subjects = [Subjects.event('audit', '*')];
      const reader = sut.as('gateway').follow(subjects, { fromSeq: 1 }, (_subject, event) => {
        resolve((event as { data: EventMap['audit'] }).data);
        void reader.close();
      });
    });
    const enrolment = await enrol('provisioner');
    expect(enrolment).toMatchObject({ node: 'host1-SN1', cluster: 'spec', agentPort: 7946, networks: host.networks });
    expect(enrolment.datagramKeys).toEqual([readFileSync(join(sut.nats.dir, 'keys/datagram.key'), 'utf8').trim()]);
    expect(await sut.as('gateway').call('inventory.nodes.get', { name: 'host1-SN1' })).toMatchObject({
      status: 'Unallocated',
      state: 'Unknown',
      enrolled: false,
      awaited: true,
      sshHostKeys: host.hostKeys,
    });
    agent = patient(await connectBus({ name: 'agent', servers: [sut.nats.url], credentials: enrolment.credentials }));
    expect(await agent.ask<PeerList>(Subjects.peers('host1-SN1'), {})).toMatchObject({ self: { name: 'host1-SN1' } });
    const view = await sut.as('gateway').call('inventory.nodes.get', { name: 'host1-SN1' });
    expect([view.enrolled, view.awaited]).toEqual([true, undefined]);
    const told = await audited;
    expect(told).toMatchObject({ by: 'ada', action: 'agent-enrol', subject: 'host1-SN1', outcome: 'accepted' });
    expect(JSON.stringify(told)).not.toContain(enrolment.credentials.seed);
  });

  it('is issued again for the same machine, which stays the node that it is', async () => {
    const before = await sut.as('gateway').call('inventory.nodes.get', { name: 'host1-SN1' });
    const again = await enrol('provisioner');
    expect(again.credentials.user).toBe('agent=host1-SN1');
    const after = await sut.as('gateway').call('inventory.nodes.get', { name: 'host1-SN1' });
    expect(after).toEqual({
      ...before,
      revision: after.revision,
      agentKeys: [...(before.agentKeys ?? []), expect.any(String)],
    });
    const second = await connectBus({ name: 'again', servers: [sut.nats.url], credentials: again.credentials });
    await second.close();
  });

  it('is for a provisioner alone', async () => {
    for (const user of ['gateway', 'fencer', 'detector', 'tools', 'inventory'])
      expect([user, await enrol(user).catch((e: unknown) => e)]).toMatchObject([user, { code: 'FORBIDDEN' }]);
  });

  it('changes nothing where another node has the address, and raises an alarm', async () => {
    const other = { ...host, label: 'host2' };
    await expect(sut.as('provisioner').call('inventory.agents.enrol', other)).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
      facts: { node: 'host1-SN1' },
    });
    const { items } = await sut.as('gateway').call('inventory.alarms.list', {});
    expect(items).toMatchObject([{ code: 'duplicate', subject: 'host1-SN1', severity: 'warning' }]);
    await expect(sut.as('gateway').call('inventory.nodes.get', { name: 'host2-SN1' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
  });

  it('is refused to a machine that is another node, with an alarm, until that one is deleted', async () => {
    const first = {
      ...host,
      label: 'first',
      serial: 'SN7',
      productSerial: 'SN7',
      machine: '7'.repeat(32),
      networks: { management: { address: '10.0.0.71' } },
      hostKeys: [`ssh-ed25519 ${'B'.repeat(40)}`],
    };
    // At the address that it has.
    const renamed = { ...first, label: 'renamed' };
    const call = (q: typeof first) => sut.as('provisioner').call('inventory.agents.enrol', q);
    const alarms = async () =>
      (await sut.as('gateway').call('inventory.alarms.list', {})).items.filter((a) => a.subject === 'first-SN7');
    await call(first);
    await expect(call(renamed)).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
      facts: { node: 'first-SN7', by: 'machine id' },
    });
    expect(await alarms()).toMatchObject([
      { code: 'duplicate', severity: 'warning', message: expect.stringContaining('muster node delete first-SN7') },
    ]);
    await expect(sut.as('gateway').call('inventory.nodes.get', { name: 'renamed-SN7' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
    });
    expect((await call(first)).node).toBe('first-SN7');
    expect((await alarms()).filter((a) => a.cleared === undefined)).toEqual([]);
    const nodes = sut.as('inventory').bucket<NodeRecord>('nodes');
    await nodes.mutate('first-SN7', (n) => n && { ...n.value, status: 'Decommissioned' });
    await expect(call(renamed)).rejects.toMatchObject({ facts: { node: 'first-SN7', by: 'machine id' } });
    await sut.as('gateway').call('inventory.nodes.delete', { by: 'ada', name: 'first-SN7' });
    expect((await call(renamed)).node).toBe('renamed-SN7');
  });

  it('is for one of two names of a machine that ask at once, or for none', async () => {
    for (let i = 0; i < 10; i++) {
      const serial = `AT-${i}`;
      const asks = ['one', 'two'].map((label, at) => ({
        ...host,
        label,
        serial,
        productSerial: serial,
        machine: `f${i}`.repeat(16),
        networks: { management: { address: `10.3.${at}.${i + 1}` } },
        hostKeys: [],
      }));
      const call = (q: (typeof asks)[number]) => sut.as('provisioner').call('inventory.agents.enrol', q);
      const asked = await Promise.allSettled(asks.map(call));
      const within = asked.flatMap((a) => (a.status === 'fulfilled' ? [a.value.node] : []));
      const nodes = (await sut.as('inventory').bucket<NodeRecord>('nodes').list()).map((e) => e.value);
      expect(nodes.filter((n) => n.serial === serial).map((n) => n.name)).toEqual(within);
      expect(within.length).toBeLessThan(2);
      for (const a of asked)
        if (a.status === 'rejected')
          expect(a.reason).toMatchObject({ code: 'ALREADY_EXISTS', facts: { by: 'machine id' } });
      const [first, second] = asks;
      if (within.length === 0 && first && second) {
        expect((await call(first)).node).toBe(`one-${serial}`);
        await expect(call(second)).rejects.toMatchObject({ facts: { node: `one-${serial}` } });
      }
    }
  });
});

describe('a machine that is put on record under another name while it is enrolled', () => {
  const machine = 'e'.repeat(32);
  const ask = { ...host, label: 'mine', serial: 'E1', machine, networks: { management: { address: '10.4.0.1' } } };
  const call = () => sut.as('provisioner').call('inventory.agents.enrol', { ...ask, hostKeys: [] });
  const nodes = () => sut.as('inventory').bucket<NodeRecord>('nodes');
  const mine = async () => (await nodes().get('mine-E1'))?.value;
  const twin = () =>
    nodes().create('twin-E2', aNode('twin-E2', { machine, networks: { management: { address: '10.4.0.2' } } }));

  /** What another replica does after this one has looked whether the machine is another node, and after it has written. */
  const meanwhile = (looked: () => Promise<unknown>, written: () => Promise<unknown> = async () => {}): void => {
    vi.spyOn(NodeService.prototype, 'upsert').mockImplementationOnce(async function (this: NodeService, ...args) {
      await looked();
      const done = await this.upsert(...args);
      await written();
      return done;
    });
  };
  const refused = { code: 'ALREADY_EXISTS', facts: { node: 'twin-E2', by: 'machine id' } };

  afterEach(async () => {
    vi.restoreAllMocks();
    for (const name of ['mine-E1', 'twin-E2']) await nodes().delete(name);
  });

  it('is refused and not kept, also where another replica has issued it an agent as well', async () => {
    meanwhile(twin, () =>
      nodes().mutate('mine-E1', (n) => n && { ...n.value, agentKeys: ['U1', ...(n.value.agentKeys ?? [])] }),
    );
    await expect(call()).rejects.toMatchObject(refused);
    expect(await mine()).toBeUndefined();
  });

  it('is not kept where another replica writes to it just as it is deleted', async () => {
    meanwhile(twin);
    vi.spyOn(KvBucket.prototype, 'delete').mockImplementationOnce(async function (this: KvBucket<unknown>, ...args) {
      await nodes().mutate('mine-E1', (n) => n && { ...n.value, vars: { rack: 7 } });
      await this.delete(...args);
    });
    await expect(call()).rejects.toMatchObject(refused);
    expect(await mine()).toBeUndefined();
  });

  it('is left where its agent has come meanwhile, or where it was put on record anew', async () => {
    for (const change of [
      { awaited: undefined, enrolled: true },
      { agentKeys: ['U1'] },
      { status: 'Allocated' },
    ] as const) {
      meanwhile(twin, () => nodes().mutate('mine-E1', (n) => n && ({ ...n.value, ...change } as NodeRecord)));
      await expect(call()).rejects.toMatchObject(refused);
      expect(await mine()).toMatchObject(JSON.parse(JSON.stringify(change)));
      for (const name of ['mine-E1', 'twin-E2']) await nodes().delete(name);
    }
  });

  it('is refused where it is waited for already', async () => {
    await call();
    const before = await mine();
    meanwhile(twin);
    await expect(call()).rejects.toMatchObject(refused);
    expect(await mine()).toEqual(before);
  });

  it('is refused as the node that somebody has put on record for it, which becomes what it was', async () => {
    const before = aNode('mine-E1', { status: 'Unallocated', networks: ask.networks });
    await nodes().create('mine-E1', before);
    meanwhile(twin, () => nodes().mutate('mine-E1', (n) => n && { ...n.value, vars: { rack: 7 } }));
    await expect(call()).rejects.toMatchObject(refused);
    expect(await mine()).toEqual({ ...before, vars: { rack: 7 } });
    await nodes().delete('twin-E2');
    expect((await call()).node).toBe('mine-E1');
  });

  it('is refused as a node that was installed anew, which becomes what it was', async () => {
    const before = aNode('mine-E1', {
      status: 'Unallocated',
      state: 'Disappeared',
      networks: ask.networks,
      machine: 'd'.repeat(32),
      agentKeys: ['U1'],
    });
    await nodes().create('mine-E1', before);
    meanwhile(twin);
    await expect(call()).rejects.toMatchObject(refused);
    expect(await mine()).toEqual(before);
  });
});
