import { describe, expect, it } from 'vitest';
import { Bus, Lease, silentLog, WorkerRegistry } from '#bus';
import { anyJson } from '#bus/testing/any-json.js';
import { Streams, Subjects, type IncidentRecord, type RecordCodec } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { Dice } from '#contracts/testing/dice.js';
import { sharedRecords } from '../process/shared-records.js';
import { RealHandles } from '../time/real-handles.js';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { VirtualTime } from '../time/virtual-time.js';
import { clientOf, type PlayedClient } from './played-client.js';
import { CALM, PlayedFaults, type FaultRates } from './played-faults.js';
import { PlayedServer } from './played-server.js';

interface Process {
  bus: Bus;
  clock: VirtualClock;
  client: PlayedClient;
}

/** A played server, with the product's own storage on it. */
async function world(o: { seed?: number; rates?: FaultRates } = {}) {
  const time = new VirtualTime();
  const dice = new Dice(o.seed ?? 1);
  const faults = new PlayedFaults(dice);
  const server = new PlayedServer(time, { faults });
  const start = (name: string, codec: RecordCodec = anyJson): Process => {
    const clock = new VirtualClock(time, { name });
    const random = new SeededRandom(dice);
    const client = clientOf(server, name, clock, random);
    return { clock, client, bus: new Bus({ ...client, name, clock, random, log: silentLog, codec }) };
  };
  const inventory = start('inventory');
  await time.settle(inventory.bus.createBuckets());
  if (o.rates) faults.rates = o.rates;
  const run = <T>(work: Promise<T>): Promise<T> => time.settle(work);
  const until = async (holds: () => boolean, withinMs = 60_000): Promise<number> => {
    const begun = time.nowMs;
    if (!(await time.until(holds, withinMs))) throw new Error('it never came to be');
    return time.nowMs - begun;
  };
  return { time, server, faults, start, run, until, inventory };
}

describe('the product on the played nats-server', () => {
  it('creates its storage twice, and refuses one of another shape', async () => {
    const { run, start, inventory } = await world();
    const other = start('other');
    await run(other.bus.createBuckets());
    expect((await run(inventory.client.messages.info('KV_leases'))).config.max_msgs_per_subject).toBe(1);
    await expect(run(other.bus.createBuckets({ replicas: 3 }))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('writes what a lost answer hides once, and finds it again', async () => {
    const { run, start, faults } = await world();
    const nodes = start('a').bus.bucket<{ n: number }>('nodes');
    await run(nodes.create('first', { n: 0 }));
    faults.once('unanswered', { what: '$KV.nodes.k' });
    const revision = await run(nodes.create('k', { n: 1 }));
    expect(await run(nodes.get('k'))).toEqual({ key: 'k', value: { n: 1 }, revision });
    faults.once('lost', { what: '$KV.nodes.k' });
    expect(await run(nodes.update('k', { n: 2 }, revision))).toBe(revision + 1);
    faults.once('twice', { what: '$KV.nodes.k' });
    expect(await run(nodes.update('k', { n: 3 }, revision + 1))).toBe(revision + 2);
    await expect(run(nodes.update('k', { n: 9 }, revision))).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
    expect(await run(nodes.list())).toHaveLength(2);
  });

  it('stores what a world has in common as the product does, and not as its programs see it', async () => {
    const { run, start } = await world();
    const incident = anIncident('n-1', { epoch: 3 });
    const incidents = start('fencer', sharedRecords()).bus.bucket<IncidentRecord>('incidents');
    await run(incidents.create('n-1', incident));
    const stored = await run(start('who looks').bus.bucket('incidents').get('n-1'));
    expect(stored?.value).toMatchObject({
      schema: 2,
      log: { epoch: 3, commands: [] },
      incident: { id: incident.id },
    });
    expect((await run(incidents.get('n-1')))?.value).toEqual(incident);
  });

  it('keeps a view current over a broken connection, a restart that lost the newest, and a bucket made anew', async () => {
    const { run, until, start, server, time } = await world();
    const writer = start('writer').bus.bucket<{ n: number }>('nodes');
    const reader = start('reader');
    await run(writer.create('a', { n: 1 }));
    const view = await run(reader.bus.bucket<{ n: number }>('nodes').view());
    expect(view.get('a')?.value.n).toBe(1);

    reader.client.connection.break({ forMs: 2000 });
    await until(() => !view.live);
    await run(writer.mutate('a', () => ({ n: 2 })));
    await until(() => view.live);
    expect(view.get('a')?.value.n).toBe(2);

    await time.advance(130_000);
    const stays = (await run(writer.get('a')))?.revision ?? 0;
    await run(writer.mutate('a', () => ({ n: 3 })));
    await run(writer.create('b', { n: 1 }));
    await until(() => view.get('b') !== undefined);
    server.restart({ downMs: 500, lost: { KV_nodes: 2 } });
    await until(() => !view.live);
    await until(() => view.live);
    expect(view.entries()).toEqual([{ key: 'a', value: { n: 2 }, revision: stays }]);

    server.recreateStream('KV_nodes');
    await until(() => !view.live);
    await until(() => view.live);
    expect(view.entries()).toEqual([]);
    expect(await run(writer.create('c', { n: 1 }))).toBe(1);
    await until(() => view.get('c') !== undefined);
  });

  it('shows two buckets at different times, each in its own order', async () => {
    const { run, until, start, faults } = await world();
    const { bus } = start('a');
    const told: string[] = [];
    for (const name of ['nodes', 'incidents'] as const)
      bus.bucket<number>(name).watch({ onChange: (key, value) => told.push(`${name}/${key}=${value}`) });
    faults.setLag('KV_nodes', 700);
    await run(bus.bucket<number>('nodes').create('k', 1));
    await run(bus.bucket<number>('incidents').create('k', 1));
    await until(() => told.length === 2);
    expect(told).toEqual(['incidents/k=1', 'nodes/k=1']);
  });

  it('lists all that was acknowledged, also from a replica that has not got the newest', async () => {
    const { run, start, faults } = await world();
    const writer = start('writer').bus.bucket<{ n: number }>('nodes');
    const reader = start('reader').bus.bucket<{ n: number }>('nodes');
    const first = await run(writer.create('a', { n: 1 }));
    await run(writer.create('b', { n: 1 }));
    await run(writer.update('a', { n: 2 }, first));
    for (const behind of [1, 3]) {
      faults.setReplicaBehind('KV_nodes', behind, 800);
      const listed = await run(reader.list());
      expect(Object.fromEntries(listed.map(({ key, value }) => [key, value.n]))).toEqual({ a: 2, b: 1 });
    }
  });

  it('reads the newest events, on and back, also from a replica that has not got them', async () => {
    const { run, start, faults } = await world();
    const { bus } = start('a');
    for (const node of ['a-1', 'b-1', 'a-1']) await run(bus.emit('in-service', node, { node }));
    for (const behind of [1, 2, 3]) {
      faults.setReplicaBehind(Streams.events.name, behind, 800);
      const filters = [Subjects.event('*', 'a-1')];
      const on = await run(bus.readOn(filters, { after: 0, count: 10 }));
      expect([on.items.map((e) => e.seq), on.last]).toEqual([[1, 3], 3]);
      const back = await run(bus.readBack(filters, { count: 10, keep: () => true }));
      expect(back.items.map((e) => e.seq)).toEqual([3, 1]);
    }
  });

  it('lists a bucket whose newest values are gone', async () => {
    const { run, start } = await world();
    const bucket = start('a').bus.bucket<{ n: number }>('nodes');
    await run(bucket.create('a', { n: 1 }));
    await run(bucket.delete('a'));
    expect(await run(bucket.list())).toEqual([]);
  });

  it('keeps a view current over a bucket made anew, also where a message of the old one is still on its way', async () => {
    const { run, until, start, server, faults, time } = await world();
    const view = await run(start('reader').bus.bucket<{ n: number }>('nodes').view());
    const nodes = start('writer').bus.bucket<{ n: number }>('nodes');
    faults.rates = { ...CALM, lagging: 1, lagMs: [400, 400] };
    await run(nodes.create('late', { n: 1 }));
    // The server has read it by then, and the reader has not.
    await time.advance(390);
    expect(view.get('late')).toBeUndefined();
    server.recreateStream('KV_nodes');
    faults.rates = CALM;
    await run(nodes.create('new', { n: 2 }));
    await until(() => view.get('new') !== undefined);
    expect(view.entries().map((e) => e.key)).toEqual(['new']);
  });

  it('gives a lease to one of two, and to the other one when the first is gone, not before ttl × 1.25', async () => {
    const { until, start, time } = await world();
    const [one, two] = [start('one'), start('two')];
    const leases = [one, two].map(({ bus }, n) => new Lease(bus, { name: 'fencer', holder: `fencer-${n}` }));
    const [first, second] = leases as [Lease, Lease];
    first.start();
    await until(() => first.held);
    second.start();
    await time.advance(60_000);
    expect([first.held, second.held]).toEqual([true, false]);
    const { token } = first;
    one.clock.end();
    one.client.connection.vanish();
    const took = await until(() => second.held);
    // Counted from the last renewal that the other one has read.
    expect(took).toBeGreaterThan(5000 * 1.25 - 5000 / 3);
    expect(took).toBeLessThan(5000 * 1.25 + 1000);
    expect(second.token).toBeGreaterThan(token);
  });

  it('ends a lease by its own clock where the server is away, and at once where its process was stopped', async () => {
    const { until, start, time } = await world();
    const one = start('one');
    const lease = new Lease(one.bus, { name: 'fencer', holder: 'fencer-1' });
    lease.start();
    await until(() => lease.held);
    one.client.connection.break({ forMs: 60_000 });
    await time.advance(0.85 * 5000);
    expect(lease.held).toBe(false);
    await until(() => lease.held, 120_000);
    one.clock.pause();
    await until(() => !lease.held);
    expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
    one.clock.resume();
    await until(() => lease.held);
  });

  it('knows its workers, and that one is gone', async () => {
    const { run, until, start } = await world();
    const view = await run(WorkerRegistry.watch(start('inventory-2').bus));
    const fencer = start('fencer');
    const at = { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'] } as const;
    await run(WorkerRegistry.announce(fencer.bus, { ...at, drivers: [...at.drivers] }));
    await until(() => view.offers('fencer', 'ipmitool'));
    fencer.clock.end();
    fencer.client.connection.vanish();
    await until(() => view.live().length === 0);
    expect(view.offers('fencer', 'ipmitool')).toBe(false);
  });

  it('tells that a worker is gone right when its time is over, and not of one that beats', async () => {
    const { run, until, start, time } = await world();
    const view = await run(WorkerRegistry.watch(start('inventory-2').bus));
    const at = { service: 'fencer', drivers: ['ipmitool'] } as const;
    const [lives, dies] = [start('lives'), start('dies')];
    for (const { bus } of [lives, dies])
      await run(WorkerRegistry.announce(bus, { ...at, id: bus.name, drivers: [...at.drivers] }));
    await time.advance(3_900);
    dies.clock.end();
    dies.client.connection.vanish();
    let told = 0;
    view.onChange(() => told++);
    await until(() => told > 0);
    // Its last beat was 1.9 s ago when it died.
    expect(time.nowMs).toBeLessThan(8_020);
    expect(view.live().map((w) => w.id)).toEqual(['lives']);
    await time.advance(60_000);
    expect(told).toBe(1);
    expect(view.live().map((w) => w.id)).toEqual(['lives']);
    await run(view.close());
    const { events } = time;
    lives.clock.end();
    await time.advance(60_000);
    expect(told).toBe(1);
    expect(time.events - events).toBeLessThan(20);
  });

  it('tells at once that nobody knows who lives, and who does when it is known again', async () => {
    const { run, until, start, faults } = await world();
    const worker = start('fencer');
    await run(WorkerRegistry.announce(worker.bus, { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'] }));
    const { bus, client } = start('inventory-2');
    // The snapshot comes, and the word that it does not.
    faults.once('unanswered', { what: 'read KV_workers' });
    const view = await run(WorkerRegistry.watch(bus));
    const told: string[] = [];
    view.onChange(() =>
      told.push(
        view.stale
          ? 'stale'
          : view
              .live()
              .map((w) => w.id)
              .join(),
      ),
    );
    await until(() => told.length === 2);
    expect(told).toEqual(['stale', 'fencer-1']);
    client.connection.break({ forMs: 60_000, silentMs: 0 });
    expect(await until(() => told.length === 3)).toBeLessThan(10);
    await until(() => told.length === 4, 120_000);
    expect(told.slice(2)).toEqual(['stale', 'fencer-1']);
  });

  it('counts nobody as dead for beats that came while its own process stood still', async () => {
    const { run, until, start, time } = await world();
    const worker = start('fencer');
    const { bus, clock } = start('inventory-2');
    const view = await run(WorkerRegistry.watch(bus));
    await run(WorkerRegistry.announce(worker.bus, { service: 'fencer', id: 'fencer-1', drivers: ['ipmitool'] }));
    await until(() => view.live().length === 1);
    clock.pause();
    await time.advance(60_000);
    clock.resume();
    await time.advance(10);
    expect(view.live()).toHaveLength(1);
    let told = 0;
    view.onChange(() => told++);
    await time.advance(60_000);
    expect([told, view.live().length]).toEqual([0, 1]);
  });

  it('brings each event to one of two consumers, again where it was refused, and to a new life of who died with it', async () => {
    const { run, until, start, inventory } = await world();
    const seen: string[] = [];
    let refused = false;
    const two = ['one', 'two'].map((name) => {
      const process = start(name);
      process.bus.consume('audit', ['muster.event.dead-letter.>'], async (subject, _value, { deliveries }) => {
        seen.push(`${name} ${subject.split('.').at(-1)} ${deliveries}`);
        if (!refused) {
          refused = true;
          throw new Error('not yet');
        }
        if (subject.endsWith('.dies') && deliveries === 1) await new Promise(() => undefined);
      });
      return process;
    });
    const letter = { consumer: 'x', subject: 's', value: 1, error: 'e', seq: 1, deliveries: 5 };
    await run(inventory.bus.emit('dead-letter', 'k', letter));
    await until(() => seen.length === 2);
    expect(seen.map((s) => s.slice(4))).toEqual(['k 1', 'k 2']);
    await run(inventory.bus.emit('dead-letter', 'dies', letter));
    await until(() => seen.length === 3);
    const died = two.find((p) => seen[2]?.startsWith(p.bus.name));
    died?.clock.end();
    died?.client.connection.vanish();
    await until(() => seen.length === 4);
    expect(seen[3]).toMatch(/dies 2$/);
  });

  it('answers calls, and says at once that nobody does', async () => {
    const { run, start } = await world();
    const [asker, answerer] = [start('asker'), start('answerer')];
    answerer.bus.answer<{ n: number }, { n: number }>('muster.peers.*', ({ n }) => ({ n: n + 1 }));
    await run(answerer.bus.wire.flush());
    expect(await run(asker.bus.ask('muster.peers.n1', { n: 1 }))).toEqual({ n: 2 });
    await expect(run(asker.bus.ask('muster.gate.n1', {}))).rejects.toMatchObject({ code: 'NO_RESPONDER' });
    answerer.clock.pause();
    await expect(run(asker.bus.ask('muster.peers.n1', { n: 1 }))).rejects.toMatchObject({ code: 'TIMEOUT' });
  });
});

const ROUGH: FaultRates = {
  ...CALM,
  latencyMs: [0.1, 20],
  lost: 0.02,
  unanswered: 0.02,
  twice: 0.02,
  copyMs: [1, 5000],
  lagging: 0.2,
  lagMs: [10, 2000],
};

/** Three contend for a lease for so long, on a server that does all that servers do. */
async function contend(seed: number, seconds: number) {
  const { time, server, start, inventory } = await world({ seed, rates: ROUGH });
  const dice = new Dice(seed + 1);
  const processes = ['one', 'two', 'three'].map((name) => start(name));
  const leases = processes.map(({ bus }, n) => new Lease(bus, { name: 'fencer', holder: `fencer-${n}` }));
  for (const lease of leases) lease.start();
  const tokens: number[] = [];
  const violations: string[] = [];
  for (const [n, lease] of leases.entries())
    lease.on((event, token) => {
      time.trace(`${n} ${event} ${token}`);
      if (event === 'acquired' && token <= (tokens.at(-1) ?? 0))
        violations.push(`token ${token} after ${tokens.at(-1)}`);
      if (event === 'acquired') tokens.push(token);
    });
  for (let ms = 0; ms < seconds * 1000; ms += 500) {
    await time.advance(500);
    const holders = leases.filter((lease, n) => !processes[n]?.clock.paused && lease.held);
    if (holders.length > 1) violations.push(`two holders at ${time.nowMs}`);
    const process = processes[dice.below(3)] as Process;
    if (dice.chance(0.01)) process.client.connection.break({ forMs: dice.below(10_000), silentMs: dice.below(3000) });
    if (dice.chance(0.01)) {
      process.clock.pause();
      time.schedule(dice.below(20_000) * 1e6, 'resume', () => process.clock.resume());
    }
    if (dice.chance(0.002)) server.restart({ downMs: 2000, streamsAwayMs: dice.below(2000) });
  }
  return { violations, tokens, hash: time.hash, events: time.events, connected: inventory.bus.connected };
}

describe('a thousand virtual seconds of three contenders', () => {
  it('never has two holders, and tokens only grow; the same seed gives the same events', async () => {
    const handles = new RealHandles();
    const first = await contend(7, 1000);
    expect(first.violations).toEqual([]);
    expect(first.tokens.length).toBeGreaterThan(3);
    expect((await contend(7, 1000)).hash).toBe(first.hash);
    expect((await contend(8, 1000)).hash).not.toBe(first.hash);
    handles.assertNone('three contenders');
  });
});
