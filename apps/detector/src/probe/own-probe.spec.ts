import { createSocket, type Socket } from 'node:dgram';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { DatagramTypes, decodeDatagram, DetectionProfiles, encodeDatagram, type OwnProbe } from '#contracts';
import { sshSign } from '#probe/tcp-sign.js';
import { answerLimit, roundPeriod } from './limits.js';
import { OwnProbes, type ProbeTarget } from './own-probe.js';
import { ownProbeNet } from './own-probe-net.js';

/** The kernel refuses to send there: EACCES for datagrams, ENETUNREACH for TCP. */
const NOT_TO_BE_SENT_TO = '255.255.255.255';
const FRESHNESS = 2500;
/** Of what must come: a busy machine may let a process stand still for seconds. */
const LIMIT_MS = 20_000;

describe('the monitor’s own look', () => {
  let probes: OwnProbes;
  let faults: string[];
  let learnt: (() => void)[];
  let closedPort: number;
  const agents: Socket[] = [];
  const keys = { cluster: 'spec', keys: [randomBytes(32)] };
  let outdated: boolean;

  beforeEach(async () => {
    faults = [];
    learnt = [];
    outdated = false;
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    closedPort = (server.address() as { port: number }).port;
    server.close();
    await once(server, 'close');
    const tell = (): void => learnt.splice(0).forEach((go) => go());
    const probeKeys = {
      ...keys,
      get outdated() {
        return outdated;
      },
    };
    probes = new OwnProbes({
      instance: 'spec',
      keys: probeKeys,
      spoke: () => ['ssh'],
      changed: tell,
      failed: (reason) => {
        faults.push(reason);
        tell();
      },
      clock: systemClock,
      net: ownProbeNet(systemClock),
    });
  });
  afterEach(() => {
    probes.close();
    agents.splice(0).forEach((agent) => agent.close());
  });

  /** What a node listens with; closed after the test, however that ends. */
  async function anAgent(): Promise<Socket> {
    const agent = createSocket('udp4');
    agents.push(agent);
    agent.bind(0, '127.0.0.1');
    await once(agent, 'listening');
    return agent;
  }

  type Question = [Buffer, { port: number; address: string }];
  /** Of one round over one network: the one whose echo is waited for, and that to the agent's port alone. */
  function bothQuestions(agent: Socket): Promise<Question[]> {
    const asked: Question[] = [];
    return new Promise((resolve) =>
      agent.on('message', (...q) => {
        if (asked.push(q) === 2) resolve(asked);
      }),
    );
  }
  function echo(agent: Socket, [bytes, from]: Question): void {
    const probe = decodeDatagram(bytes, keys);
    if (typeof probe === 'string') throw new Error(probe);
    const answer = { ...probe, type: DatagramTypes.ECHO, from: probe.to, to: probe.from };
    agent.send(encodeDatagram(answer, keys), from.port, from.address);
  }

  const state = (): string => probes.state('n0', performance.now(), FRESHNESS);
  const look = (address: string, over: Partial<ProbeTarget> = {}): void =>
    probes.watch([
      {
        node: 'n0',
        networks: { management: address },
        port: closedPort,
        ssh: { host: '127.0.0.1', port: closedPort },
        limit: answerLimit(DetectionProfiles.lan),
        round: roundPeriod(DetectionProfiles.lan),
        ...over,
      },
    ]);
  async function until(what: () => boolean): Promise<void> {
    while (!what()) await new Promise<void>((resolve) => learnt.push(resolve));
  }

  it('is silent where nothing answers what was sent, for as long as that is fresh', async () => {
    look('127.0.0.1');
    expect(state()).toBe('unknown');
    await until(() => state() === 'silent');
    expect(probes.state('n0', performance.now() + FRESHNESS, FRESHNESS)).toBe('unknown');
  });

  it('knows nothing where we ourselves cannot send', async () => {
    look(NOT_TO_BE_SENT_TO);
    // Four rounds take longer than the limit of the first.
    await until(() => faults.length >= 4);
    expect(state()).toBe('unknown');
  });

  it('believes an echo that comes after it was given up: whoever answers late lives', async () => {
    const agent = await anAgent();
    const asked = bothQuestions(agent);
    look('127.0.0.1', { port: agent.address().port, limit: 1000, round: 60_000 });
    await until(() => state() === 'silent');
    // Clearly later than the moment in which it was given up.
    await pause(100);
    for (const question of await asked) echo(agent, question);
    await until(() => state() === 'echo');
    expect(probes.evidence('n0', performance.now(), FRESHNESS)?.echo).toEqual(['management']);
  });

  it('hears all of two hundred that answer at the same moment', async () => {
    const [count, networks] = [200, { backend: '127.0.0.1', management: '127.0.0.1' }];
    const agent = await anAgent();
    agent.setRecvBufferSize(4 * 1024 * 1024);
    const asked: [Buffer, { port: number; address: string }][] = [];
    const allAsked = new Promise<void>((resolve) =>
      agent.on('message', (bytes, from) => {
        // The echo's question, and that of the agent's port.
        if (asked.push([bytes, from]) === 4 * count) resolve();
      }),
    );
    const nodes = Array.from({ length: count }, (_, i) => `n${i}`);
    const { port } = agent.address();
    probes.watch(nodes.map((node) => ({ node, networks, port, limit: 60_000, round: 60_000 })));
    await allAsked;
    // Within one turn of the loop: the monitor is at something else while they come in.
    for (const [bytes, from] of asked) {
      const probe = decodeDatagram(bytes, keys);
      if (typeof probe === 'string') throw new Error(probe);
      const echo = { ...probe, type: DatagramTypes.ECHO, from: probe.to, to: probe.from };
      agent.send(encodeDatagram(echo, keys), from.port, from.address);
    }
    const heardOn = (node: string): string[] => probes.evidence(node, performance.now(), 60_000)?.echo ?? [];
    const heard = (): number => nodes.reduce((sum, node) => sum + heardOn(node).length, 0);
    const over = new AbortController();
    const limit = pause(LIMIT_MS, undefined, { signal: over.signal }).catch(() => undefined);
    await Promise.race([until(() => heard() === 2 * count), limit]);
    over.abort();
    expect(heard()).toBe(2 * count);
  });

  it('has not forgotten an echo where a node is suspected again a moment later', async () => {
    const agent = await anAgent();
    void bothQuestions(agent).then((asked) => asked.forEach((question) => echo(agent, question)));
    const oneRound = { port: agent.address().port, limit: 200, round: 60_000 };
    look('127.0.0.1', oneRound);
    await until(() => state() === 'echo');
    probes.watch([]);
    expect(state()).toBe('unknown');
    look('127.0.0.1', oneRound);
    expect(state()).toBe('echo');
  });

  it('has not lost an echo that came while nobody suspected the node', async () => {
    const agent = await anAgent();
    const asked = bothQuestions(agent);
    const oneRound = { port: agent.address().port, limit: 1000, round: 60_000 };
    look('127.0.0.1', oneRound);
    const questions = await asked;
    probes.watch([]);
    // Of two datagrams from one socket the second is not read first: its count tells that the echo has come.
    for (const [bytes, from] of questions) {
      echo(agent, [bytes, from]);
      const probe = decodeDatagram(bytes, keys);
      if (typeof probe === 'string') throw new Error(probe);
      const forged = encodeDatagram({ ...probe, type: DatagramTypes.ECHO }, { ...keys, keys: [randomBytes(32)] });
      agent.send(forged, from.port, from.address);
    }
    while (probes.forged === 0) await pause(5);
    look('127.0.0.1', { ...oneRound, port: closedPort });
    expect(state()).toBe('echo');
  });

  it('says nothing of who does not echo while its own keys are not those of the fleet, and nothing of that later', async () => {
    const agent = await anAgent();
    const asked = once(agent, 'message');
    outdated = true;
    look('127.0.0.1', { port: agent.address().port, limit: 100, round: 60_000 });
    await asked;
    outdated = false;
    await until(() => probes.evidence('n0', performance.now(), FRESHNESS)?.ssh === 'refused');
    await pause(200);
    expect(state()).toBe('unknown');
    look('127.0.0.1', { port: agent.address().port, limit: 100, round: 100 });
    probes.watch([]);
    look('127.0.0.1', { port: agent.address().port, limit: 100, round: 60_000 });
    await until(() => state() === 'silent');
  });

  it('counts what was not signed by this cluster, and believes none of it', async () => {
    const agent = await anAgent();
    agent.on('message', (bytes, from) => {
      bytes[63] = (bytes[63] as number) ^ 1;
      agent.send(bytes, from.port, from.address);
    });
    look('127.0.0.1', { port: agent.address().port, limit: 400, round: 60_000 });
    await until(() => state() === 'silent');
    expect(probes.forged).toBe(1);
  });

  it('keeps a banner in mind: one connection that fails is no death', async () => {
    const server = createServer((socket) => socket.end('SSH-2.0-spec\r\n')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    look('127.0.0.1', { ssh: { host: '127.0.0.1', port }, round: 50 });
    const ssh = (later = 0): string | undefined => probes.evidence('n0', performance.now() + later, FRESHNESS)?.ssh;
    await until(() => ssh() === 'banner');
    server.close();
    // Long enough for the banner to be old news: what was found last counts then.
    await until(() => ssh(10_000) === 'refused');
    expect(ssh()).toBe('banner');
  });

  it('waits for its first look no longer than the observers take to report down, in every profile', () => {
    for (const n of Object.values(DetectionProfiles)) {
      expect(answerLimit(n)).toBeLessThan(n.interval * (n.misses - n.suspectMisses));
      expect(answerLimit(n)).toBeGreaterThan(n.interval * 0.8);
      expect(answerLimit(n)).toBeLessThanOrEqual(1000);
      expect(roundPeriod(n)).toBeLessThanOrEqual(Math.min(500, n.interval));
    }
  });

  it('is not silent where ssh could not be tried, although a datagram was given up', async () => {
    look('127.0.0.1', { ssh: { host: NOT_TO_BE_SENT_TO, port: closedPort }, limit: 100, round: 60_000 });
    // Ssh could not be tried, and nothing echoed.
    const found = (): OwnProbe | undefined => probes.evidence('n0', performance.now(), FRESHNESS);
    await until(() => found()?.icmp !== 'not-tried' && found()?.agentPort !== 'not-tried');
    await pause(200);
    expect(state()).toBe('unknown');
  });

  it('counts an ssh that could not leave this host as not tried, and a closed port as an answer', async () => {
    expect(await sshSign(systemClock, NOT_TO_BE_SENT_TO, 22)).toBe('not-tried');
    expect(await sshSign(systemClock, '127.0.0.1', closedPort)).toBe('refused');
  });
});
