import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Bus, connectBus, Lease, systemClock, type Closable, type KvBucket } from '#bus';
import { connectPorts } from '#bus/nats/connect.js';
import { startTestNats } from '#bus/testing/nats.js';
import { anyJson } from '#bus/testing/any-json.js';
import { patient } from '#bus/testing/patient.js';
import { Buckets, Subjects, TOKEN_FLOOR_KEY, type Beacon, type BucketName, type WorkerRecord } from '#contracts';
import { buildConfig, ServiceContext, startInContext } from '#service';
import { startGateway } from '../../../gateway/src/gateway.js';
import { InventoryModule } from '../../../inventory/src/inventory.module.js';
import { until } from '../../../inventory/src/testing/until.js';

/** One write of a bucket, in the order in which they were made. The last line of a key is its value; null: deleted. */
export interface StoredLine {
  bucket: BucketName;
  key: string;
  /** In its bucket. Those between two lines were overwritten later. */
  revision: number;
  value: unknown;
}

/** A request with an Idempotency-Key that was answered before the store was recorded. */
export interface KeptRequest {
  path: string;
  key: string;
  body: unknown;
  answer: unknown;
}

/** What was asked of a stored fleet, and when: the wall clock stands at `at` while it answers. */
export interface RecordedAnswers {
  /** Wall clock, ms. */
  at: number;
  /** Of `store.ndjson`: a record that no answer shows must not change either. */
  sha256: string;
  /** What the played detector says. */
  beacon: Beacon;
  /** `GET /path`, `peers NODE` or `gate NODE WORKLOAD` → what is answered. */
  answers: Record<string, unknown>;
  kept: KeptRequest;
}

/** Key that seals the secrets of the fixture; of no other system. */
export const FIXTURE_SECRETS_KEY = '11'.repeat(32);
export const FIXTURE_CLUSTER = 'fixture';

/** Members that say how much time has passed since something, or count the seconds. */
const momentary = new Set(['ageMs', 'beaconAgeMs', 'beat']);
const MOMENT = '<moment>';
/** What every inventory keeps for itself, by when it was started and which tokens it has seen. */
const upkeep: readonly string[] = [`settings ${TOKEN_FLOOR_KEY}`, 'settings bucket-births'];
const BEAT_MS = 500;
/** The conductor's, by a holder that does nothing with it. */
const HOLDER = 'nobody-acts';

/** @throws SyntaxError */
export const readStoredLines = (text: string): StoredLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as StoredLine);

/**
 * Each line as one write, with the revision that it had: records name revisions. What was overwritten is written as
 * something that is overwritten. All stands as the lines have it, of whatever schema. The buckets have to be empty.
 */
export async function loadStore(url: string, lines: readonly StoredLine[]): Promise<void> {
  const bus = await connectBus({ name: 'loader', servers: [url], codec: anyJson });
  try {
    await bus.createBuckets();
    const buckets = [...new Set(lines.map((line) => line.bucket))];
    await Promise.all(buckets.map((name) => loadBucket(bus.bucket(name), name, lines)));
  } finally {
    await bus.close();
  }
}

async function loadBucket(bucket: KvBucket<unknown>, name: BucketName, all: readonly StoredLine[]): Promise<void> {
  const known = new Map<string, number>();
  let last = 0;
  const put = async (key: string, value: unknown): Promise<void> => {
    const before = known.get(key);
    last = await (before === undefined ? bucket.create(key, value) : bucket.update(key, value, before));
    known.set(key, last);
  };
  for (const { key, revision, value } of all.filter((line) => line.bucket === name)) {
    while (last < revision - 1) await put(key, value ?? {});
    if (value === null) {
      await bucket.delete(key, known.get(key));
      known.delete(key);
      last += 1;
    } else await put(key, value);
    if (last !== revision)
      throw new Error(`${name} ${key} got revision ${last} instead of ${revision}: it was not empty`);
  }
}

/** Last value of each key, as the lines say. */
export function lastValues(lines: readonly StoredLine[]): Record<string, unknown> {
  const last = new Map<string, unknown>();
  for (const { bucket, key, value } of lines) last.set(`${bucket} ${key}`, value);
  return Object.fromEntries([...last].filter(([, value]) => value !== null));
}

/**
 * A real inventory and a real gateway on a store of its own that holds these lines. Lease `conductor` is held by
 * another for as long as they run, so that nobody drives the records on; workers of the store are kept alive, and a
 * detector is played by its beacon. Their wall clock stands still; clocks that measure go on.
 */
export class StoredFleet {
  private constructor(
    readonly bus: Bus,
    private readonly url: string,
    private readonly ends: (() => Promise<unknown>)[],
  ) {}

  static async start(lines: readonly StoredLine[], at: number, beacon: Beacon): Promise<StoredFleet> {
    const ends: (() => Promise<unknown>)[] = [];
    try {
      const nats = await startTestNats();
      ends.push(() => nats.stop());
      const dir = await mkdtemp(join(tmpdir(), 'muster-stored-'));
      ends.push(() => rm(dir, { recursive: true, force: true }));
      await writeFile(join(dir, 'secrets.key'), FIXTURE_SECRETS_KEY);
      const connect = async (name: string): Promise<Bus> => {
        const bus = await connectBus({ name, servers: [nats.url] });
        ends.push(() => bus.close());
        return bus;
      };
      const bus = patient(await connect('spec'));
      await loadStore(nats.url, lines);
      const lease = new Lease(bus, { name: 'conductor', holder: HOLDER });
      ends.push(() => lease.stop());
      lease.start();
      await lease.whenHeld();
      const context = async (service: 'inventory' | 'gateway'): Promise<ServiceContext> => {
        const values = {
          cluster: FIXTURE_CLUSTER,
          instance: `${service}-2`,
          dataDir: dir,
          keys: { secrets: join(dir, 'secrets.key') },
          ansible: { playbooks: '/etc/muster/playbooks', extraVars: { from: 'configuration' } },
          http: { listen: '127.0.0.1:0' },
          nats: { servers: [nats.url] },
        };
        const config = buildConfig(values, undefined, 'spec');
        const ports = await connectPorts({ name: `${service}-2`, servers: [nats.url] });
        const own = new Bus({ ...ports, clock: { ...systemClock, wallMs: () => at } });
        ends.push(() => own.close());
        return new ServiceContext(config, own, pino({ level: 'silent' }), service);
      };
      const inventory = await startInContext(await context('inventory'), InventoryModule);
      ends.push(() => inventory.close());
      const gateway = await startGateway(await context('gateway'));
      ends.push(() => gateway.close());
      const played = playLife(bus, beacon, workersIn(lines));
      ends.push(() => played.close());
      const [address] = gateway.addresses;
      const fleet = new StoredFleet(bus, `http://127.0.0.1:${address?.kind === 'tcp' ? address.port : 0}`, ends);
      await fleet.awaitLife(lines);
      return fleet;
    } catch (e) {
      for (const end of ends.reverse()) await end();
      throw e;
    }
  }

  /** What is answered to each of these questions, without what depends on the moment. */
  async answers(questions: readonly string[]): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {};
    for (const question of questions) answers[question] = timeless(await this.ask(question));
    return answers;
  }

  /** Sends a request again that has an Idempotency-Key. */
  async sendAgain({ path, key, body }: Omit<KeptRequest, 'answer'>): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key };
    const answer = await fetch(this.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.json();
  }

  /** Last value of each key, but of those who live: leases, workers, and {@link upkeep}. */
  async stored(): Promise<Record<string, unknown>> {
    const kept = Buckets.filter((bucket) => bucket !== 'leases' && bucket !== 'workers');
    const all = await Promise.all(
      kept.map(async (bucket) => (await this.bus.bucket(bucket).list()).map((e) => [`${bucket} ${e.key}`, e.value])),
    );
    const lasting = (all.flat() as [string, unknown][]).filter(([key]) => !upkeep.includes(key));
    return Object.fromEntries(lasting);
  }

  async stop(): Promise<void> {
    for (const end of this.ends.splice(0).reverse()) await end();
  }

  private async ask(question: string): Promise<unknown> {
    const [what = '', first = '', second = ''] = question.split(' ');
    if (what === 'peers') return this.bus.ask(Subjects.peers(first), {});
    if (what === 'gate') {
      const node = await this.bus.call('inventory.nodes.get', { name: first });
      return this.bus.ask(Subjects.gate(first), { workload: second, bootId: node.bootId ?? '' });
    }
    const answer = await fetch(this.url + first);
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    return { status: answer.status, body: isJson ? (JSON.parse(text) as unknown) : text };
  }

  /** Until what is played is seen: all workers of the store and the detector. */
  private async awaitLife(lines: readonly StoredLine[]): Promise<void> {
    const workers = workersIn(lines).length;
    await until(async () => {
      const status = await this.bus.call('inventory.status', {});
      return status.workers.length === workers && status.detector.sighted;
    }, `${workers} workers and the detector are seen`);
  }
}

const WORKERS = 'workers ';
const workersIn = (lines: readonly StoredLine[]): string[] =>
  Object.keys(lastValues(lines)).flatMap((key) => (key.startsWith(WORKERS) ? [key.slice(WORKERS.length)] : []));

/** The detector's beacon and the heartbeat of each of these workers. */
function playLife(bus: Bus, beacon: Beacon, workers: readonly string[]): Closable {
  const bucket = bus.bucket<WorkerRecord>('workers');
  const failures: unknown[] = [];
  let beating: Promise<void> | undefined;
  const beat = async (): Promise<void> => {
    bus.publish(Subjects.beacon(), beacon);
    for (const key of workers) await bucket.mutate(key, (w) => w && { ...w.value, beat: w.value.beat + 1 });
  };
  const tick = (): void => {
    beating ??= beat()
      .catch((e: unknown) => void failures.push(e))
      .finally(() => (beating = undefined));
  };
  tick();
  const timer = setInterval(tick, BEAT_MS);
  return {
    close: async () => {
      clearInterval(timer);
      await beating;
      if (failures.length > 0) throw failures[0];
    },
  };
}

function timeless(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(timeless);
  if (typeof answer !== 'object' || answer === null) return answer;
  if ('holder' in answer && answer.holder === HOLDER) return { ...answer, token: MOMENT, ageMs: MOMENT };
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [name, momentary.has(name) ? MOMENT : timeless(value)]),
  );
}
