import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { connectBus, credentialsFile, readCredentials, sealSecret, type Bus, type SealedSecret } from '#bus';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  Subjects,
  type Beacon,
  type IncidentRecord,
  type NodeRecord,
  type PowerCommand,
  type Verdict,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { startBmc, type TestBmc } from '../../fencer/src/testing/bmc.js';
import { anOwnProbe, aVerdict } from '../../inventory/src/testing/records.js';
import { until } from '../../inventory/src/testing/until.js';

const NODES = ['red-1', 'green-2', 'blue-3'];
const DEAD = 'blue-3';
/** A minute in which nothing happens has no line. */
const QUIET_MS = 60_000;
const INFO = 30;
const WARN = 40;

interface Line {
  level: number;
  service: string;
  msg: string;
  node?: string;
}

/**
 * Inventory and fencer as their units run them, at the default log level, and a real BMC. The detector is played: that
 * each verdict is one line of its own journal is asked where real agents are, in the detector's spec.
 */
describe("the operator's journal of a fencing", () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-journal-'));
  const services: Daemon[] = [];
  const lines: Line[] = [];
  const notJournal: string[] = [];
  let nats: TestNats;
  let bus: Bus;
  let detector: Bus;
  let bmc: TestBmc;
  let beacons: NodeJS.Timeout;
  let seq = 0;
  const now = new Map<string, Verdict>();
  const notUp: Beacon['notUp'] = {};

  const beat = (): void => {
    const beacon: Beacon = { epoch: 1, seq, instance: 'spec', sighted: true, members: 3, sightedReporters: 3, notUp };
    detector.publish(Subjects.beacon(), beacon);
  };
  async function verdict(node: string, is: Verdict['verdict']): Promise<void> {
    seq += 1;
    const { evidence } = aVerdict(node);
    const looked = { ...evidence, assigned: 2, accusers: 2, ownReportAgeMs: 3_000, ownProbe: anOwnProbe() };
    const said: Verdict = {
      ...aVerdict(node),
      verdict: is,
      epoch: 1,
      seq,
      at: Date.now(),
      reason: 'both others have no echo',
      evidence: is === 'UP' ? evidence : looked,
    };
    now.set(node, said);
    await detector.publishVerdict(said);
    if (is === 'UP') delete notUp[node];
    else notUp[node] = { verdict: is, seq };
    beat();
  }
  const incident = async (): Promise<IncidentRecord | undefined> =>
    (await bus.bucket<IncidentRecord>('incidents').get(DEAD))?.value;
  const states = async (): Promise<(string | undefined)[]> =>
    Promise.all(NODES.map(async (n) => (await bus.bucket<NodeRecord>('nodes').get(n))?.value.state));

  function run(service: 'inventory' | 'fencer', more: Record<string, string>): void {
    const config = {
      cluster: 'spec',
      instance: `${service}-1`,
      nats: { servers: [nats.url] },
      credentials: credentialsFile(nats.dir, service),
      keys: Object.fromEntries(
        Object.entries({ secrets: 'secrets', ...more }).map(([k, f]) => [k, join(nats.dir, 'keys', `${f}.key`)]),
      ),
      agents: { nats: { management: [nats.url] } },
      dataDir: join(dir, service),
      initial: { fencing: { mode: 'enforce' } },
    };
    mkdirSync(config.dataDir);
    const file = join(dir, `${service}.yaml`);
    writeFileSync(file, stringify(config));
    const main = fileURLToPath(new URL(`../../../dist/apps/${service}/src/main.js`, import.meta.url));
    // No MUSTER_LOG_LEVEL: what the default is, is asked.
    const env = { PATH: process.env['PATH'], MUSTER_CONFIG: file };
    const child = daemon(process.execPath, [main], { stdio: ['ignore', 'ignore', 'pipe'], env });
    let rest = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts)
        if (part.startsWith('{')) lines.push(JSON.parse(part) as Line);
        else notJournal.push(part);
    });
    services.push(child);
  }

  const started = (service: string): Promise<unknown> =>
    until(() => lines.some((l) => l.msg === 'started' && l.service === service), `${service} to have started`, {
      timeoutMs: 120_000,
    });

  beforeAll(async () => {
    nats = await startTestNats({ users: true });
    bmc = await startBmc();
    const connect = (name: 'inventory' | 'detector'): Promise<Bus> =>
      connectBus({
        name: `spec-${name}`,
        servers: [nats.url],
        credentials: readCredentials(credentialsFile(nats.dir, name)),
      });
    [bus, detector] = [await connect('inventory'), await connect('detector')];
    await bus.createBuckets();
    const key = Buffer.from(readFileSync(join(nats.dir, 'keys', 'secrets.key'), 'utf8').trim(), 'hex');
    await bus.bucket<SealedSecret>('secrets').create('spec=bmc', sealSecret(key, 's3cret'));
    for (const [i, name] of NODES.entries()) {
      const networks = { management: { address: `192.0.2.${i + 1}` } };
      const powerLevels = name === DEAD ? [[bmc.device]] : [];
      await bus.bucket<NodeRecord>('nodes').create(name, aNode(name, { label: name, networks, powerLevels }));
    }
    run('inventory', { datagram: 'datagram', agents: 'agents', revoker: 'revoker' });
    await until(
      () => lines.some((l) => l.msg === 'started' && l.service === 'inventory'),
      'inventory to have started',
      {
        timeoutMs: 60_000,
      },
    );
    run('fencer', {});
    detector.answer<{ node: string }, Verdict>(Subjects.currentVerdict(), ({ node }) => now.get(node)!);
    beat();
    beacons = setInterval(beat, 500);
    for (const name of NODES) await verdict(name, 'UP');
    await started('fencer');
    await until(async () => (await states()).every((s) => s === 'Discovered'), 'the nodes to be seen');
  }, 180_000);
  afterAll(async () => {
    clearInterval(beacons);
    for (const service of services) {
      service.kill('SIGTERM');
      await service;
    }
    await Promise.all([bus?.close(), detector?.close()]);
    await bmc?.stop();
    await nats?.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 60_000);

  /** What came since, of one service, in its order. */
  const since = (at: number, service: string): string[] =>
    lines.slice(at).flatMap((l) => (l.service === service ? [`${l.level} ${l.msg}`] : []));

  it('has no line in a minute in which nothing happens', async () => {
    const at = lines.length;
    await pause(QUIET_MS);
    expect(lines.slice(at)).toEqual([]);
  }, 120_000);

  it('has one line for each decision, command and result of a death, and nothing else', async () => {
    const at = lines.length;
    await verdict(DEAD, 'SUSPECT');
    await verdict(DEAD, 'DOWN');
    const ended = await until(
      async () => {
        const i = await incident();
        return i?.phase === 'recovered' && i.powerOn?.done === true && i;
      },
      'the node to be fenced, recovered from, and powered on again',
      { timeoutMs: 90_000 },
    );
    // The last line follows its write.
    await until(() => lines.slice(at).some((l) => l.msg === ended.powerOn?.detail), 'the last line');
    // What is told late, or twice, is told by a turn of the conductor.
    await pause(5_000);

    // On a busy machine a gate may hold it for a moment.
    const phases = ended.steps.map((s) => s.phase).filter((phase) => phase !== 'suppressed');
    expect(phases).toEqual(['open', 'investigating', 'fencing', 'fenced', 'recovering', 'recovered']);
    const loud = new Set(['open', 'suppressed', 'fencing', 'fenced']);
    expect
      .soft(since(at, 'inventory'))
      .toEqual(ended.steps.map((s) => `${loud.has(s.phase) ? WARN : INFO} ${DEAD}: incident ${s.phase}: ${s.detail}`));
    const orders = ended.commands.filter((c): c is PowerCommand => c.verb !== 'status');
    expect(orders.map((c) => c.verb)).toEqual(
      bmc.log().flatMap((l) => (l === 'set power 0' ? ['off'] : l === 'set power 1' ? ['on'] : [])),
    );
    expect
      .soft(since(at, 'fencer'))
      .toEqual([
        ...orders.flatMap((c) => [`${INFO} power ${c.verb} is given`, `${INFO} power ${c.verb} ended`]),
        `${INFO} Powered on, and read back as on.`,
      ]);
    expect(lines.slice(at).filter((l) => l.node !== DEAD)).toEqual([]);
    expect(notJournal).toEqual([]);
  }, 180_000);
});
