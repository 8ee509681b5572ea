import { createSocket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { keyId, type KeysQuestion } from '#contracts/wire/datagram-key-set.js';
import { DatagramTypes, encodeDatagram, peerId } from '#contracts/wire/datagram.js';
import { sealTo } from '#contracts/keys/sealed-to.js';
import { Subjects } from '#contracts/names/subjects.js';
import { AgentFleet, wire } from '../testing/fleet.js';

const NAMES = ['a', 'b', 'c'];
const [OLD, NEW] = [wire.keys[0] as Buffer, Buffer.alloc(32, 9)];

describe('agents whose key is exchanged', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let fleet: AgentFleet;
  /** What inventory has for each. */
  let sets: Record<string, { version: number; keys: Buffer[] }>;

  beforeEach(async () => {
    nats = await startTestNats();
    nc = await connect({ servers: nats.url });
    fleet = await AgentFleet.create({ names: NAMES, networks: ['management'], nats: { management: [nats.url] } });
    sets = {};
    nc.subscribe(Subjects.peers('*'), {
      callback: (e, m) => {
        const node = m.subject.split('.').at(-1) as string;
        const { box, holds } = m.json<Required<KeysQuestion>>();
        const set = sets[node];
        if (e) return;
        const list = fleet.listOf(
          node,
          set && { version: set.version, keys: { version: set.version, keys: set.keys.map(keyId) } },
        );
        const lacks = set && String(set.keys.map(keyId)) !== String(holds);
        const given = lacks && JSON.stringify({ version: set.version, keys: set.keys.map((k) => k.toString('hex')) });
        m.respond(JSON.stringify({ ...list, ...(given && { sealedKeys: sealTo(box, given) }) }));
      },
    });
    await nc.flush();
    await fleet.startAll();
  });
  afterEach(async () => {
    await fleet.stop();
    await nc.close();
    await nats.stop();
  });

  const told = async (name: string, version: number, keys: Buffer[]): Promise<void> => {
    sets[name] = { version, keys };
    nc.publish(Subjects.peersChanged(name), '{}');
    await fleet.until(name, (s) => String(s.keys) === String(keys.map(keyId)));
  };
  const allHeard = async (): Promise<void> => {
    for (const name of NAMES)
      await fleet.until(
        name,
        (s) => s.peers.length === 2 && s.peers.every(([, [link]]) => link?.[0] === 0 && link[1] >= 0),
      );
  };

  it('hear each other all the time, one after the other at each step, and then no more who has the old one', async () => {
    await allHeard();
    const steps = [[OLD, NEW], [NEW, OLD], [NEW]];
    for (const [i, keys] of steps.entries())
      for (const name of NAMES) {
        await told(name, i + 2, keys);
        await allHeard();
      }
    for (const name of NAMES) {
      const { health, rejoin } = await fleet.status(name);
      expect([rejoin.lost, health.metrics?.dropped['mac'] ?? 0, health.metrics?.rejoin.lost]).toEqual([[], 0, 0]);
    }
    const forged = encodeDatagram(
      {
        type: DatagramTypes.PROBE,
        from: peerId('b'),
        to: peerId('a'),
        epoch: 1n,
        boot: 0,
        network: 0,
        listVersion: 4,
        nonce: Buffer.alloc(16, 1),
      },
      { ...wire, keys: [OLD] },
    );
    const socket = createSocket('udp4');
    socket.send(forged, fleet.port, fleet.address('a', 'management'));
    const { health } = await fleet.until('a', (s) => (s.health.metrics?.dropped['mac'] ?? 0) > 0);
    expect(health.metrics?.dropped['mac']).toBe(1);
    socket.close();
  });

  it('have what they were given after a restart, also where nobody answers', async () => {
    for (const name of NAMES) await told(name, 2, [NEW]);
    for (const agent of fleet.agents.values()) await agent.stop('stop');
    await nc.close();
    await fleet.startAll();
    await allHeard();
    expect((await fleet.status('a')).keys).toEqual([keyId(NEW)]);
  });
});
