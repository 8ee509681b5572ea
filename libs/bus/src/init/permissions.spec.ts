import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { encodeUser } from '@nats-io/jwt';
import { createAccount, createUser } from '@nats-io/nkeys';
import { Buckets, inboxPrefix, Subjects, type ServiceName } from '#contracts';
import {
  addAgentUsers,
  connectBus,
  credentialsFile,
  issueAgentCredentials,
  readAgentsKey,
  readCredentials,
  type Bus,
  type BusCredentials,
} from '../index.js';
import { keyPair, seedOf } from '#contracts/keys/nkey.js';
import { connectPorts } from '../nats/connect.js';
import { connectionOf } from '../testing/connection-of.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { patient } from '../testing/patient.js';

let nats: TestNats;
let agent: Bus;
let inventory: Bus;
const open: Bus[] = [];

const as = async (user: string): Promise<Bus> => {
  const credentials = readCredentials(credentialsFile(nats.dir, user));
  const bus = patient(await connectBus({ name: user, servers: [nats.url], credentials }));
  open.push(bus);
  return bus;
};

/** What the server says when a subscription is refused; undefined when it stands. */
async function subscribes(bus: Bus, subject: string): Promise<string | undefined> {
  let refused: string | undefined;
  connectionOf(bus).subscribe(subject, { callback: (err) => void (refused = err?.message) });
  await bus.flushed();
  // The server refuses before it answers the ping of the flush.
  return refused;
}

const next = (bus: Bus, subject: string): Promise<string> =>
  new Promise((resolve) => bus.subscribe(subject, (text) => resolve(text)));

beforeAll(async () => {
  nats = await startTestNats({ users: true, agents: ['n.1', 'n2'] });
  inventory = await as('inventory');
  await inventory.createBuckets();
  agent = await as('agent=n.1');
});

afterAll(async () => {
  await Promise.all(open.map((bus) => bus.close()));
  await nats?.stop();
});

describe("an agent's NATS user", () => {
  it('publishes its own report', async () => {
    const heard = next(inventory, Subjects.report('*'));
    await inventory.flushed();
    agent.publish(Subjects.report('n.1'), { node: 'n.1' });
    expect(JSON.parse(await heard)).toEqual({ node: 'n.1' });
  });

  it('asks for its own peers and its own gate', async () => {
    const peers = inventory.answer(Subjects.peers('*'), () => ({ version: 1 }), { queue: 'inventory' });
    const gate = inventory.answer(Subjects.gate('*'), () => ({ allowed: false, reason: 'no' }));
    await inventory.flushed();
    expect(await agent.ask(Subjects.peers('n.1'), {})).toEqual({ version: 1 });
    expect(await agent.ask(Subjects.gate('n.1'), { workload: 'w' })).toMatchObject({ allowed: false });
    await expect(agent.ask(Subjects.peers('n2'), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.ask(Subjects.gate('n2'), { workload: 'w' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await peers.close();
    await gate.close();
  });

  it('cannot have its answer written where it may not write itself', async () => {
    let asked = 0;
    const peers = inventory.answer(Subjects.peers('*'), () => ({ version: ++asked }));
    await inventory.flushed();
    for (const reply of ['$KV.settings.x', Subjects.rpc('inventory', 'x'), Subjects.event('in-service', 'n2')])
      connectionOf(agent).publish(Subjects.peers('n.1'), '{}', { reply });
    expect(await agent.ask(Subjects.peers('n.1'), {})).toEqual({ version: 1 });
    expect(await inventory.bucket('settings').get('x')).toBeUndefined();
    await peers.close();
  });

  it('hears that its own peers have changed', async () => {
    const heard = next(agent, Subjects.peersChanged('n.1'));
    await agent.flushed();
    inventory.publish(Subjects.peersChanged('n.1'), {});
    expect(await heard).toBe('{}');
  });

  it("cannot publish another's report", async () => {
    const heard: string[] = [];
    inventory.subscribe(Subjects.report('n2'), (text) => heard.push(text));
    await inventory.flushed();
    const told = new Promise<string>((resolve) => {
      void (async () => {
        for await (const s of connectionOf(agent).status()) if (s.type === 'error') return resolve(s.error.message);
      })();
    });
    agent.publish(Subjects.report('n2'), { node: 'n2' });
    expect(await told).toMatch(/Permissions Violation for Publish to "muster\.report\.n2"/);
    await inventory.flushed();
    expect(heard).toEqual([]);
  });

  it('cannot call an RPC, and no event, verdict, command or log is taken from it', async () => {
    await expect(agent.call('inventory.nodes.list', {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.emit('in-service', 'n.1', { node: 'n.1' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.ask(Subjects.verdict('n2'), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.ask(Subjects.command('fence'), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.appendLog('j', 'x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.ask(Subjects.currentVerdict(), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('cannot read a bucket or write to one', async () => {
    await expect(agent.bucket('nodes').get('n.1')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(agent.bucket('secrets').get('x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    for (const subject of ['$KV.nodes.n2', '$JS.API.CONSUMER.CREATE.KV_nodes', '$JS.API.STREAM.PURGE.KV_nodes'])
      await expect(agent.ask(subject, {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it("cannot listen to others' reports, answers, peers, events or records", async () => {
    for (const subject of [
      '>',
      Subjects.report('*'),
      Subjects.report('n2'),
      Subjects.peersChanged('n2'),
      `${inboxPrefix('inventory')}.>`,
      `${inboxPrefix('agent=n2')}.>`,
      '_INBOX.>',
      '$KV.nodes.>',
      Subjects.rpc('inventory', '>'),
      Subjects.beacon(),
    ])
      expect(await subscribes(agent, subject)).toMatch(/Permissions Violation for Subscription/);
    expect(await subscribes(agent, `${inboxPrefix('agent=n.1')}.x`)).toBeUndefined();
  });
});

describe("the services' NATS users", () => {
  it('are refused without the right key', async () => {
    const wrong = readCredentials(credentialsFile(nats.dir, 'agent=n2'));
    await expect(connect({ servers: [nats.url] })).rejects.toThrow(/Authorization/);
    const agent2 = await connectBus({ name: 'x', servers: [nats.url], credentials: { ...wrong, user: 'inventory' } });
    open.push(agent2);
    await expect(agent2.bucket('nodes').get('x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('read and write what their work needs, and nothing else', async () => {
    const can: Record<ServiceName, { reads: string[]; writes: string[] }> = {
      detector: { reads: ['nodes', 'settings', 'leases'], writes: [] },
      inventory: {
        reads: ['nodes', 'incidents', 'jobs', 'secrets', 'admission', 'alarms', 'workers', 'workloads'],
        writes: ['nodes', 'incidents', 'jobs', 'secrets', 'admission', 'alarms', 'settings', 'workloads'],
      },
      provisioner: {
        reads: ['nodes', 'settings', 'workloads', 'jobs', 'workers', 'leases'],
        writes: ['jobs', 'workers', 'leases'],
      },
      fencer: {
        reads: ['nodes', 'settings', 'incidents', 'workers', 'leases', 'secrets'],
        writes: ['incidents', 'workers'],
      },
      gateway: { reads: ['tokens', 'idempotency'], writes: ['idempotency'] },
    };
    const buckets = Buckets.filter((bucket) => bucket !== 'alarms');
    for (const [service, { reads, writes }] of Object.entries(can)) {
      if (service === 'inventory') continue;
      const credentials = readCredentials(credentialsFile(nats.dir, service));
      const { wire, messages } = await connectPorts({ name: service, servers: [nats.url], credentials });
      const may = (work: Promise<unknown>): Promise<boolean> =>
        work.then(
          () => true,
          (e: { code?: string }) => {
            if (e.code === 'FORBIDDEN') return false;
            throw e;
          },
        );
      for (const bucket of buckets) {
        const what = `${service} ${bucket}`;
        const read = may(messages.last(`KV_${bucket}`, `$KV.${bucket}.none`));
        expect([what, 'reads', await read]).toEqual([what, 'reads', reads.includes(bucket)]);
        const write = may(wire.request(`$KV.${bucket}.x-${service}`, '{}', { timeoutMs: 8_000 }));
        expect([what, 'writes', await write]).toEqual([what, 'writes', writes.includes(bucket)]);
      }
      await wire.close();
    }
  });

  it('let each service do its work over the bus', async () => {
    const [detector, provisioner, fencer, gateway] = await Promise.all([
      as('detector'),
      as('provisioner'),
      as('fencer'),
      as('gateway'),
    ]);
    const view = await detector.bucket('nodes').view();
    expect(view.live).toBe(true);
    await view.close();
    expect(await fencer.bucket('workers').create('fencer=f1', {})).toBeGreaterThan(0);
    await provisioner.appendLog('j1', 'hello');
    await provisioner.endLog('j1');
    const read: string[] = [];
    for await (const { text } of gateway.readLog('j1', { follow: true })) read.push(text);
    expect(read).toEqual(['hello']);

    const consumed = new Promise<string>((resolve) => {
      const consumer = inventory.consume('inventory', [Subjects.event('*', '*')], (subject) => {
        resolve(subject);
        return Promise.resolve(void consumer);
      });
      open.unshift({ close: () => consumer.close() } as Bus);
    });
    const followed = new Promise<string>((resolve) => {
      const reader = gateway.follow([Subjects.event('*', '*')], { fromSeq: 1 }, (subject) => resolve(subject));
      open.unshift({ close: () => reader.close() } as Bus);
    });
    await fencer.emit('in-service', 'n2', { node: 'n2' });
    expect(await consumed).toBe('muster.event.in-service.n2');
    expect(await followed).toBe('muster.event.in-service.n2');

    detector.answer(Subjects.currentVerdict(), () => ({ verdict: 'UP' }));
    await detector.flushed();
    expect(await inventory.ask(Subjects.currentVerdict(), { node: 'n2' })).toEqual({ verdict: 'UP' });
    await expect(fencer.ask(Subjects.currentVerdict(), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(gateway.bucket('secrets').get('x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(detector.call('fencer.power.read', { node: 'n2' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(detector.call('inventory.nodes.list', {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    for (const worker of [provisioner, fencer])
      for (const verb of ['inventory.tokens.create', 'inventory.nodes.power', 'inventory.incidents.confirm'] as const)
        await expect(worker.call(verb, {} as never)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const recheck = { node: 'n2', incident: 'i', epoch: 1 };
    // nats-server 2.9 does not tell that nobody listens in another account.
    const refused = { code: expect.stringMatching(/^(NO_RESPONDER|TIMEOUT)$/) as string };
    await expect(fencer.call('inventory.incidents.recheck', recheck)).rejects.toMatchObject(refused);
  });
});

describe('a user that was issued while NATS runs', () => {
  const connectAs = async (credentials: BusCredentials): Promise<Bus> => {
    const bus = await connectBus({ name: credentials.user, servers: [nats.url], credentials });
    open.push(bus);
    return bus;
  };

  it('is let in at once, and may do what an agent may', async () => {
    const key = readAgentsKey(join(nats.dir, 'keys', 'agents.key'));
    const n3 = await connectAs(await issueAgentCredentials(key, 'n.3'));
    await expect(n3.ask(Subjects.peers('n2'), {})).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(n3.ask(Subjects.peers('n.3'), {})).rejects.toMatchObject({ code: 'NO_RESPONDER' });
    await addAgentUsers(nats.dir, ['n4']);
    expect((await as('agent=n4')).connected).toBe(true);
    expect(inventory.connected).toBe(true);
  });

  it('is refused when a foreign key has signed it', async () => {
    const { account } = readAgentsKey(join(nats.dir, 'keys', 'agents.key'));
    const foreign = { account, seed: seedOf(createAccount()) };
    await expect(connectAs(await issueAgentCredentials(foreign, 'n3'))).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it("is refused when the agents' key has signed it for more than an agent", async () => {
    const { account, seed } = readAgentsKey(join(nats.dir, 'keys', 'agents.key'));
    const pair = createUser();
    const jwt = await encodeUser('inventory', pair, account, { pub: { allow: ['>'] } }, { signer: keyPair(seed) });
    const credentials = { user: 'inventory', seed: seedOf(pair), jwt };
    await expect(connectAs(credentials)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });
});
