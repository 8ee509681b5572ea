import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, credentialsFile, readCredentials, type Bus } from '#bus';
import { Subjects, type Beacon, type LifeObservation, type Verdict } from '#contracts';
import { quickest } from '#contracts/testing/quickest.js';
import { ServiceContext, startInContext, type RunningService } from '#service';
import { DetectorModule } from './detector.module.js';
import { detectorConfig } from './testing/played-fleet.js';
import { SmallFleet } from './testing/small-fleet.js';

const NAMES = ['red-1', 'green-2', 'blue-3'];
const MB = 1024 * 1024;

describe('three real agents, a real nats-server and the detector', () => {
  let fleet: SmallFleet;
  let detector: RunningService;
  let bus: Bus;
  /** Its journal. */
  const lines: { level: number; msg: string; node?: string; verdict?: string }[] = [];
  const log = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text) as never) });

  beforeAll(async () => {
    fleet = await SmallFleet.start(NAMES);
    const config = detectorConfig(fleet.nats, { users: true });
    const credentials = readCredentials(credentialsFile(fleet.nats.dir, 'detector'));
    bus = await connectBus({ name: 'detector-1', servers: [fleet.nats.url], credentials, log });
    detector = await startInContext(new ServiceContext(config, bus, log, 'detector'), DetectorModule);
    for (const name of NAMES) fleet.spawnAgent(name);
    await fleet.until({ 'red-1': 'UP', 'green-2': 'UP', 'blue-3': 'UP' }, 50_000);
  });

  afterAll(async () => {
    await detector?.close();
    await bus?.close();
    await fleet?.stop();
  });

  it('needs less than 60 MB for an agent, once what its start has left behind is collected', async () => {
    let most = Infinity;
    const end = performance.now() + 30_000;
    while (most >= 60 * MB && performance.now() < end) {
      most = Math.max(...NAMES.map((n) => fleet.rss(n)));
      await pause(200);
    }
    expect(most / MB).toBeLessThan(60);
  });

  it('says goodbye for an agent that is stopped, and welcomes it back', async () => {
    await fleet.kill('red-1', 'SIGTERM');
    await fleet.until({ 'red-1': 'LEFT' }, 20_000);
    fleet.spawnAgent('red-1');
    await fleet.until({ 'red-1': 'UP' }, 30_000);
  });

  it('calls a killed one DOWN within 4 s, on the word of both others, and tells who asks', async () => {
    const took = await quickest(4_000, async () => {
      // All members have echoed to each other again before.
      if (fleet.verdicts.findLast((v) => v.node === 'blue-3')?.verdict === 'DOWN') fleet.spawnAgent('blue-3');
      await fleet.until({ 'red-1': 'UP', 'green-2': 'UP', 'blue-3': 'UP' }, 30_000);
      const killed = performance.now();
      await fleet.kill('blue-3', 'SIGKILL');
      await fleet.until({ 'blue-3': 'DOWN' }, 20_000);
      return performance.now() - killed;
    });
    process.stderr.write(`killed to DOWN: ${Math.round(took)} ms\n`);
    expect(took).toBeLessThan(4_000);
    const said = fleet.verdicts.filter((v) => v.node === 'blue-3').map((v) => v.verdict);
    expect(said.slice(-2)).toEqual(['SUSPECT', 'DOWN']);
    // UP for another reason, as after a moment without an opinion, is told and not logged.
    const changes = said.filter((verdict, i) => verdict !== 'UP' || said[i - 1] !== 'UP');
    const logged = lines.filter((line) => line.level === 30);
    expect(logged.filter((line) => line.node === 'blue-3').map((line) => line.verdict)).toEqual(changes);
    expect(logged.filter((line) => line.msg !== 'verdict')).toEqual([]);

    const now = await fleet.inventory.ask<Verdict>(Subjects.currentVerdict(), { node: 'blue-3' });
    expect(now).toMatchObject({ verdict: 'DOWN', evidence: { accusers: 2, assigned: 2, members: 3 } });
    expect(now.evidence.ownProbe).toMatchObject({ echo: [], ssh: 'refused' });
    expect(now.evidence.ownReportAgeMs).toBeGreaterThanOrEqual(2_500);
  });

  it('asks the others too whether the host of a dead one lives', async () => {
    const looks = async (): Promise<LifeObservation[]> => {
      const { evidence } = await fleet.inventory.ask<Verdict>(Subjects.currentVerdict(), { node: 'blue-3' });
      const { lifeLooks = [] } = evidence;
      if (lifeLooks.length === 2) return lifeLooks;
      await nextBeacon(fleet);
      return looks();
    };
    // The kernel of this machine speaks for all of 127.x, so ping and the closed port are not asked there.
    const look = { ssh: 'refused', icmp: 'cannot', port: 'cannot', agentPort: 'unreachable', spoke: [] };
    expect((await looks()).sort((a, b) => a.by.localeCompare(b.by))).toEqual([
      { by: 'green-2', ...look },
      { by: 'red-1', ...look },
    ]);
  });

  it('names the dead in its beacon, and takes it back as UP when it returns', async () => {
    const beacon = await nextBeacon(fleet);
    expect(beacon).toMatchObject({ instance: 'detector-1', sighted: true, members: 3 });
    expect(Object.keys(beacon.notUp)).toEqual(['blue-3']);
    fleet.spawnAgent('blue-3');
    await fleet.until({ 'blue-3': 'UP' }, 30_000);
  });

  it('blames who reports under other names, and none of those', async () => {
    const servers = [fleet.nats.url];
    const credentials = readCredentials(credentialsFile(fleet.nats.dir, 'agent=green-2'));
    const forger = await connectBus({ name: 'forger', servers, credentials });
    const health = { abstain: false, sendErrors: {}, loopGapMs: 1 };
    const base = { v: 1, bootId: 'b', epoch: 1, seq: 1, listVersion: 1, networks: ['management'], peers: [], health };
    const told = async (): Promise<Beacon['conditions']> => {
      for (const node of ['red-1', 'nobody-0']) forger.publish(Subjects.report('green-2'), { ...base, node });
      const { conditions = [] } = await nextBeacon(fleet);
      const found = conditions.filter((c) => c.code === 'auth-failure');
      return found.length > 0 ? found : told();
    };
    try {
      expect((await told())?.map((c) => c.subject)).toEqual(['green-2']);
    } finally {
      await forger.close();
    }
  });

  it('remembers the peers on disk', () => {
    expect(existsSync(join(fleet.nats.dir, 'hosts', 'red-1', 'state', 'peers.json'))).toBe(true);
  });

  it('keeps still while the bus is gone, and says nothing wrong after it is back', async () => {
    const before = fleet.verdicts.length;
    await fleet.nats.kill();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    await fleet.nats.restart();
    expect((await nextBeacon(fleet)).notUp).toEqual({});
    await fleet.until({ 'red-1': 'UP', 'green-2': 'UP', 'blue-3': 'UP' }, 30_000);
    const said = fleet.verdicts.slice(before).map((v) => v.verdict);
    expect(said.filter((v) => v === 'DOWN' || v === 'SUSPECT')).toEqual([]);
  });
});

/** The next beacon. */
function nextBeacon(fleet: SmallFleet): Promise<Beacon> {
  return new Promise((resolve) => {
    const sub = fleet.inventory.subscribe(Subjects.beacon(), (text) => {
      resolve(JSON.parse(text) as Beacon);
      void sub.close();
    });
  });
}
