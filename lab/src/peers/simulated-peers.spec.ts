import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { connectBus, credentialsFile, readCredentials, type Bus } from '#bus';
import { silentLog } from '../../../libs/bus/src/ports/types.js';
import {
  DatagramTypes,
  decodeDatagram,
  DetectionProfiles,
  encodeDatagram,
  parseReport,
  peerId,
  Subjects,
  type Peer,
  type PollAnswer,
  type Report,
} from '#contracts';
import { freeUdpPort } from '../../../libs/bus/src/testing/free-port.js';
import { startTestNats, type TestNats } from '../../../libs/bus/src/testing/nats.js';
import { issuePeersCredentials } from './peers-user.js';
import { SimulatedPeers } from './simulated-peers.js';

const keys = { cluster: 'spec', keys: [Buffer.alloc(32, 7)] };
const peer = (n: number): Peer => ({
  name: `p-${n}`,
  networks: { backend: `127.7.2.${n}`, management: `127.7.1.${n}` },
});
const all = [1, 2, 3].map(peer);

let nats: TestNats;
let inventory: Bus;
let detector: Bus;
let sut: SimulatedPeers;
let monitor: Socket;
let port: number;
const ears = new Set<(r: Report) => void>();

/** The first report from now on for which this holds. */
const report = (is: (r: Report) => boolean): Promise<Report> =>
  new Promise((resolve) => {
    const ear = (r: Report): void => {
      if (!is(r)) return;
      ears.delete(ear);
      resolve(r);
    };
    ears.add(ear);
  });
const missed = (r: Report, name: string): number => r.peers.find((p) => p[0] === name)?.[1][0]?.[0] ?? -1;

beforeAll(async () => {
  nats = await startTestNats({ users: true });
  const as = (user: string): Promise<Bus> =>
    connectBus({ name: user, servers: [nats.url], credentials: readCredentials(credentialsFile(nats.dir, user)) });
  [inventory, detector] = await Promise.all([as('inventory'), as('detector')]);
  port = await freeUdpPort();
  inventory.answer(Subjects.peers('*'), (_q, subject) => {
    const self = all.find((p) => Subjects.peers(p.name) === subject)!;
    const peers = all.filter((p) => p !== self);
    return { version: 1, cluster: 'spec', self, peers, port, detection: DetectionProfiles.fast };
  });
  detector.subscribe(Subjects.report('*'), (text) => {
    const heard = parseReport(text);
    if (heard !== undefined) for (const ear of ears) ear(heard);
  });
  await Promise.all([inventory.flushed(), detector.flushed()]);
  monitor = createSocket('udp4').bind(0, '127.0.0.1');
  await once(monitor, 'listening');
  const credentials = await issuePeersCredentials(join(nats.dir, 'keys', 'operator.key'));
  const wire = { cluster: keys.cluster, keys: keys.keys, port };
  sut = await SimulatedPeers.start({ peers: all, ...wire, servers: [nats.url], credentials, log: silentLog });
});

afterAll(async () => {
  monitor?.close();
  await sut?.close();
  await Promise.all([inventory?.close(), detector?.close()]);
  await nats?.stop();
});

const ask = (type: typeof DatagramTypes.PROBE | typeof DatagramTypes.HELLO, to: Peer): Buffer => {
  const nonce = randomBytes(16);
  const about = { from: peerId('monitor'), to: peerId(to.name), epoch: 1n, boot: 0, network: 1, listVersion: 0 };
  const question = { type, ...about, nonce };
  monitor.send(encodeDatagram(question, keys), port, to.networks['management']);
  return nonce;
};
const answered = async (): Promise<unknown> => decodeDatagram(((await once(monitor, 'message')) as [Buffer])[0], keys);
/** On a busy machine a peer abstains, or hears an echo too late: it is asked until it has heard the first target. */
async function poll(node: string, ...targets: Peer[]): Promise<PollAnswer> {
  for (;;) {
    const looked = await detector.ask<PollAnswer>(Subjects.poll(node), { targets, port }, { timeoutMs: 10_000 });
    if (!looked.abstain && (looked.targets[0]?.networks['backend']?.answered ?? 0) > 0) return looked;
  }
}

describe('simulated peers', () => {
  it('report each for itself, and hear one another', async () => {
    const heard = await Promise.all(
      all.map((p) => report((r) => r.node === p.name && r.peers.every(([, links]) => links.every((l) => l[1] >= 0)))),
    );
    expect(heard.map((r) => r.peers.length)).toEqual([2, 2, 2]);
    expect(new Set(heard.map((r) => r.bootId)).size).toBe(3);
    expect([sut.dead, sut.reporting]).toEqual([[], 3]);
  });

  it('answer probes and rejoin attempts at their own addresses', async () => {
    for (const [type, reply] of [
      [DatagramTypes.PROBE, DatagramTypes.ECHO],
      [DatagramTypes.HELLO, DatagramTypes.WELCOME],
    ] as const) {
      const answer = answered();
      const nonce = ask(type, all[1]!);
      expect(await answer).toMatchObject({ type: reply, from: peerId('p-2'), to: peerId('monitor'), nonce });
    }
  });

  it('are missed by the others and say nothing when they are killed, and are others after a boot', async () => {
    const before = await report((r) => r.node === 'p-3');
    const accused = Promise.all(
      ['p-1', 'p-2'].map((o) => report((r) => r.node === o && missed(r, 'p-3') >= DetectionProfiles.fast.misses)),
    );
    sut.kill(['p-3']);
    const answers: unknown[] = [];
    monitor.on('message', (bytes) => answers.push(decodeDatagram(bytes, keys)));
    ask(DatagramTypes.PROBE, all[2]!);
    await accused;
    let said = 0;
    ears.add((r) => (said += r.node === 'p-3' ? 1 : 0));
    // Meanwhile it would have reported twice, and answered.
    for (let i = 0; i < 3; i++) await report((r) => r.node === 'p-1');
    expect([said, answers, sut.dead]).toEqual([0, [], ['p-3']]);

    const looked = await poll('p-1', all[1]!, all[2]!);
    expect(looked.node).toBe('p-1');
    expect(looked.targets[1]?.networks['backend']?.answered).toBe(0);

    const back = report((r) => r.node === 'p-3');
    const heard = report((r) => r.node === 'p-1' && missed(r, 'p-3') === 0);
    sut.boot(['p-3']);
    expect((await back).epoch).toBe(before.epoch + 1);
    expect((await back).bootId).not.toBe(before.bootId);
    await heard;
  });

  it('are known by name alone', () => {
    expect(() => sut.kill(['p-9'])).toThrow('no simulated peer is called "p-9"');
  });
});
