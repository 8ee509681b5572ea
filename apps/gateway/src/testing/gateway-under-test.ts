import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { type Bus, connectBus, rpcSubject } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { MusterError, type NodeView, type RpcAnswer, type RpcRequest, type RpcVerb, type WireError } from '#contracts';
import { buildConfig, ServiceContext } from '#service';
import { startGateway, type RunningGateway } from '../gateway.js';

interface Envelope {
  data: unknown;
  id: string;
}

export interface Asked {
  verb: RpcVerb;
  request: unknown;
}

/** A gateway with a real NATS server, and an inventory of the spec's own making that answers on the RPC subjects. */
export class GatewayUnderTest {
  /** A request that overtook the subscription of its answer would find nobody: whoever sends one of its own waits for it. */
  subscribed: Promise<void> = Promise.resolve();
  /** What the gateway asked, in order. */
  readonly asked: Asked[] = [];
  private readonly dir = mkdtempSync(join(tmpdir(), 'muster-gateway-'));

  private constructor(
    readonly nats: TestNats,
    /** Another connection than the gateway's. */
    readonly bus: Bus,
    private readonly own: Bus,
  ) {}

  gateway!: RunningGateway;
  url = '';
  socket = '';

  /** `unix: false`: TCP alone is open. */
  static async start(
    o: {
      tokens?: unknown;
      log?: Logger;
      unix?: boolean;
      trustProxy?: string[];
      /** `compat.allowFrom` */
      allowFrom?: string[];
      /** Folder of NATS's store. */
      store?: string;
      /** Its server says that it is one of several. */
      cluster?: boolean;
      /** `http.tls` */
      tls?: { certificate: string; key: string };
    } = {},
  ): Promise<GatewayUnderTest> {
    const nats = await startTestNats();
    const bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await bus.createBuckets();
    const own = await connectBus({ name: 'gateway-1', servers: [nats.url] });
    if (o.cluster === true) {
      const serverInfo = { ...own.serverInfo, cluster: 'spec' };
      Object.defineProperty(own, 'serverInfo', { value: serverInfo });
    }
    const sut = new GatewayUnderTest(nats, bus, own);
    sut.socket = join(sut.dir, 'api.sock');
    const tokens = join(sut.dir, 'tokens.json');
    if (o.tokens !== undefined) writeFileSync(tokens, JSON.stringify(o.tokens));
    const http = {
      listen: `127.0.0.1:0${o.unix === false ? '' : `,unix:${sut.socket}`}`,
      ...(o.tokens !== undefined && { tokens }),
      ...(o.trustProxy !== undefined && { trustProxy: o.trustProxy }),
      ...(o.tls !== undefined && { tls: o.tls }),
    };
    const settings = {
      instance: 'gateway-1',
      dataDir: sut.dir,
      http,
      ...(o.allowFrom !== undefined && { compat: { allowFrom: o.allowFrom } }),
      ...(o.store !== undefined && { nats: { store: o.store } }),
    };
    const config = buildConfig(settings, undefined, 'spec');
    const context = new ServiceContext(config, own, o.log ?? pino({ level: 'silent' }), 'gateway');
    try {
      sut.gateway = await startGateway(context);
    } catch (refused) {
      await sut.end();
      throw refused;
    }
    const tcp = sut.gateway.addresses.find((a) => a.kind === 'tcp');
    sut.url = `http${o.tls === undefined ? '' : 's'}://127.0.0.1:${tcp?.port}`;
    return sut;
  }

  /** Inventory's side of one verb, until the next call for the same verb on another server. */
  answer<V extends RpcVerb>(verb: V, fn: (request: RpcRequest<V>) => RpcAnswer<V> | Promise<RpcAnswer<V>>): void {
    this.bus.wire.subscribe(rpcSubject(verb), {
      queue: 'inventory',
      onRefused,
      onMessage: (msg) => {
        const { data, id } = JSON.parse(msg.text) as Envelope;
        this.asked.push({ verb, request: data });
        void outcome(() => fn(data as RpcRequest<V>)).then((said) =>
          msg.respond(JSON.stringify({ id, isDisposed: true, ...said })),
        );
      },
    });
    this.subscribed = this.bus.flushed();
  }

  /** Inventory's side of single nodes, however many are asked for together. */
  answerNodes(fn: (name: string) => NodeView): void {
    this.answer('inventory.nodes.each', ({ names }) => {
      const nodes = names.map((name) => nodeOrRefusal(() => fn(name)));
      const shown = nodes.filter((node) => 'revision' in node);
      return {
        found: nodes.map((node) => ('revision' in node ? node.revision : node)),
        text: shown.map((node) => JSON.stringify(node)).join('\n'),
      };
    });
  }

  /** Inventory's side of every verb: each request is refused. */
  refuseAll(refusal: MusterError | ((verb: RpcVerb) => MusterError)): void {
    this.bus.wire.subscribe(rpcSubject('inventory.>' as RpcVerb), {
      queue: 'inventory',
      onRefused,
      onMessage: (msg) => {
        const { data, id } = JSON.parse(msg.text) as Envelope;
        const verb = msg.subject.replace(/^muster\.rpc\./, '') as RpcVerb;
        this.asked.push({ verb, request: data });
        const error = typeof refusal === 'function' ? refusal(verb) : refusal;
        msg.respond(JSON.stringify({ id, isDisposed: true, err: error.toJSON() }));
      },
    });
    this.subscribed = this.bus.flushed();
  }

  /** The newest request for a verb. */
  last<V extends RpcVerb>(verb: V): RpcRequest<V> | undefined {
    return this.asked.filter((a) => a.verb === verb).at(-1)?.request as RpcRequest<V> | undefined;
  }

  async get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    await this.subscribed;
    return fetch(this.url + path, { headers });
  }

  /** `body` as text goes out as it is; anything else as JSON. */
  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    await this.subscribed;
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    return fetch(this.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(text !== undefined && { body: text }),
    });
  }

  async stop(): Promise<void> {
    await this.gateway.close();
    await this.end();
  }

  private async end(): Promise<void> {
    await this.own.close();
    await this.bus.close();
    await this.nats.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function onRefused(error: Error): void {
  throw error;
}

function nodeOrRefusal(fn: () => NodeView): NodeView | WireError {
  try {
    return fn();
  } catch (error) {
    return MusterError.from(error).toJSON();
  }
}

async function outcome(fn: () => unknown): Promise<{ response: unknown } | { err: unknown }> {
  try {
    return { response: await fn() };
  } catch (error) {
    return { err: MusterError.from(error).toJSON() };
  }
}
