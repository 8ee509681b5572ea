import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BadRequestException, Controller, Inject, Module } from '@nestjs/common';
import { connectBus, type Bus } from '#bus';
import { connectionOf } from '#bus/testing/connection-of.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { patient } from '#bus/testing/patient.js';
import { MusterError, type RpcAnswer, type RpcRequest } from '#contracts';
import { buildConfig, Rpc, ServiceContext, startService, type RunningService } from './index.js';

let nats: TestNats;
let bus: Bus;
let service: RunningService;

const gate = { open: () => {}, entered: () => {}, wait: Promise.resolve() };
beforeEach(() => {
  gate.wait = new Promise((resolve) => (gate.open = resolve));
});

const LONG = JSON.stringify({ name: 'n-1', note: 'a "quoted" line\n'.repeat(1_000) });

@Controller()
class Handlers {
  constructor(@Inject(ServiceContext) private readonly context: ServiceContext) {}

  @Rpc('inventory.settings.get')
  settings(): RpcAnswer<'inventory.settings.get'> {
    return { cluster: this.context.config.cluster, revision: 7 } as RpcAnswer<'inventory.settings.get'>;
  }

  @Rpc('inventory.nodes.text')
  text(): RpcAnswer<'inventory.nodes.text'> {
    return { text: LONG, count: 1 };
  }

  @Rpc('inventory.nodes.get')
  get({ name }: RpcRequest<'inventory.nodes.get'>): never {
    if (name === 'plain') throw new Error('the disk is full');
    if (name === 'bad') throw new BadRequestException('no');
    throw new MusterError('NODE_UNKNOWN', `no node ${name}`, { name });
  }

  @Rpc('inventory.workers.list')
  async workers(): Promise<RpcAnswer<'inventory.workers.list'>> {
    gate.entered();
    await gate.wait;
    return { items: [] };
  }
}

@Module({ controllers: [Handlers] })
class HandlersModule {}

const start = (): Promise<RunningService> =>
  startService('inventory', HandlersModule, {
    config: buildConfig(
      { cluster: 'spec', instance: 'i1', nats: { servers: [nats.url] }, dataDir: '/nowhere', logLevel: 'silent' },
      undefined,
      'spec',
    ),
  });

beforeAll(async () => {
  nats = await startTestNats();
  bus = patient(await connectBus({ name: 'asker', servers: [nats.url] }));
  service = await start();
});

afterAll(async () => {
  await service?.close();
  await bus?.close();
  await nats?.stop();
});

describe('an RPC', () => {
  it('is answered by the handler of its verb, which has the context', async () => {
    expect(await bus.call('inventory.settings.get', {})).toEqual({ cluster: 'spec', revision: 7 });
  });

  it('has a long text behind the rest of its answer, but within for who asks as programs of before do', async () => {
    const pattern = 'muster.rpc.inventory.nodes.text';
    const asked = async (o: object): Promise<string> => {
      const answer = await connectionOf(bus).request(pattern, JSON.stringify({ pattern, data: {}, id: '1', ...o }));
      return answer.string();
    };
    expect(await bus.call('inventory.nodes.text', {})).toEqual({ text: LONG, count: 1 });
    expect((await asked({ trailing: true })).endsWith(`\n${LONG}`)).toBe(true);
    expect(JSON.parse(await asked({}))).toMatchObject({ response: { text: LONG, count: 1 }, id: '1' });
  });

  it('rejects with the error that the handler threw, code and facts included', async () => {
    await expect(bus.call('inventory.nodes.get', { name: 'n9' })).rejects.toMatchObject({
      code: 'NODE_UNKNOWN',
      message: 'no node n9',
      facts: { name: 'n9' },
    });
  });

  it('is not carried out where its answer is to go to no inbox', async () => {
    const heard: string[] = [];
    bus.subscribe('muster.elsewhere', (text) => heard.push(text));
    const pattern = 'muster.rpc.inventory.settings.get';
    connectionOf(bus).publish(pattern, JSON.stringify({ pattern, data: {}, id: '1' }), { reply: 'muster.elsewhere' });
    await bus.call('inventory.settings.get', {});
    await bus.flushed();
    expect(heard).toEqual([]);
  });

  it('brings a plain Error across as INTERNAL with its message', async () => {
    await expect(bus.call('inventory.nodes.get', { name: 'plain' })).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'the disk is full',
    });
    await expect(bus.call('inventory.nodes.get', { name: 'bad' })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('rejects with TIMEOUT while the responder is frozen', async () => {
    await expect(bus.call('inventory.workers.list', {}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    gate.open();
  });

  it('rejects at once with NO_RESPONDER where nobody listens', async () => {
    const begun = performance.now();
    await expect(bus.call('inventory.status', {}, { timeoutMs: 30_000 })).rejects.toMatchObject({
      code: 'NO_RESPONDER',
    });
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it('ends a request in work before the service is closed, and takes no new one', async () => {
    const entered = new Promise<void>((resolve) => (gate.entered = resolve));
    const answer = bus.call('inventory.workers.list', {});
    await entered;
    const closing = service.close();
    // Until the server knows, one may still be answered; none is lost.
    let refusal: unknown;
    while (refusal === undefined)
      refusal = await bus.call('inventory.settings.get', {}).then(
        () => undefined,
        (e: unknown) => e,
      );
    expect(refusal).toMatchObject({ code: 'NO_RESPONDER' });
    // Longer than a connection takes to be closed.
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.open();
    expect(await answer).toEqual({ items: [] });
    await closing;
    service = await start();
  });

  it('rejects quickly with BUS_UNAVAILABLE when NATS dies meanwhile, and while it is away', async () => {
    const entered = new Promise<void>((resolve) => (gate.entered = resolve));
    const answer = bus.call('inventory.workers.list', {}, { timeoutMs: 30_000 });
    answer.catch(() => undefined);
    await entered;
    const begun = performance.now();
    await nats.kill();
    await expect(answer).rejects.toMatchObject({ code: 'BUS_UNAVAILABLE' });
    await expect(bus.call('inventory.settings.get', {}, { timeoutMs: 30_000 })).rejects.toMatchObject({
      code: 'BUS_UNAVAILABLE',
    });
    // Before the limit of either of them.
    expect(performance.now() - begun).toBeLessThan(30_000);
    gate.open();
    const back = new Promise<void>((resolve) => {
      const off = bus.onStatus((s) => s === 'connected' && (off(), resolve()));
    });
    await nats.restart();
    await back;
    await expectAnswer();
  });
});

/** The service's own connection may come back a moment after ours. */
async function expectAnswer(): Promise<void> {
  for (let i = 0; ; i++) {
    try {
      expect(await bus.call('inventory.settings.get', {})).toMatchObject({ revision: 7 });
      return;
    } catch (e) {
      if (i === 400 || !(e instanceof MusterError) || e.code !== 'NO_RESPONDER') throw e;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
