import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { readLifeAnswer, type LifeAnswer } from '#contracts/wire/life-question.js';
import type { Peer, PeerList } from '#contracts/wire/peers.js';
import type { PollAnswer } from '#contracts/wire/poll.js';
import { parseReport, type Report } from '#contracts/wire/report.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { Subjects } from '#contracts/names/subjects.js';
import type { AgentStatus } from './control/agent-status.js';
import { AgentFleet, brisk } from './testing/fleet.js';

/** TCP: nobody listens there. */
const CLOSED_PORT = 1;
const allHeard = (s: AgentStatus): boolean => s.peers.every(([, links]) => links.every(([, rtt]) => rtt >= 0));

describe('agents with a real nats-server', () => {
  let nats: TestNats;
  let nc: NatsConnection;
  let fleet: AgentFleet;
  /** What inventory answers. */
  let lists: Record<string, PeerList>;

  beforeAll(async () => {
    nats = await startTestNats();
    nc = await connect({ servers: nats.url });
    nc.subscribe(Subjects.peers('*'), {
      callback: (e, m) => {
        const list = lists[m.subject.split('.').at(-1) as string];
        if (!e && list) m.respond(JSON.stringify(list));
      },
    });
    await nc.flush();
  });
  afterAll(async () => {
    await nc?.close();
    await nats?.stop();
  });

  const fleetOf = (names: string[]): Promise<AgentFleet> =>
    AgentFleet.create({ names, nats: { backend: [nats.url], management: [nats.url] } });
  beforeEach(async () => {
    lists = {};
    fleet = await fleetOf(['a', 'b', 'c']);
  });
  afterEach(() => fleet.stop());

  const target = (name: string): Peer => fleet.listOf('a', {}).peers.find((p) => p.name === name) as Peer;
  const poll = async (node: string, request: unknown): Promise<PollAnswer> =>
    JSON.parse(
      (await nc.request(Subjects.poll(node), JSON.stringify(request), { timeout: 5_000 })).string(),
    ) as PollAnswer;
  /** On a busy machine an agent abstains, or hears an echo too late: it is asked until its answer is as wanted. */
  const pollUntil = async (node: string, request: unknown, wanted: (p: PollAnswer) => boolean): Promise<PollAnswer> => {
    for (;;) {
      const answer = await poll(node, request);
      if (wanted(answer)) return answer;
    }
  };
  /** The next report that is as wanted. */
  const nextReport = (node: string, wanted: (r: Report) => boolean): Promise<Report> =>
    new Promise((resolve) => {
      const sub = nc.subscribe(Subjects.report(node), {
        callback: (e, m) => {
          const report = e ? undefined : parseReport(m.string());
          if (!report || !wanted(report)) return;
          sub.unsubscribe();
          resolve(report);
        },
      });
    });
  const told = async (node: string, list: PeerList): Promise<void> => {
    lists[node] = list;
    nc.publish(Subjects.peersChanged(node), '{}');
    await fleet.until(node, (s) => s.list?.version === list.version);
  };

  it('look at whom they are asked to, also at who is not on their list, and say who is silent', async () => {
    await fleet.startAll();
    for (const name of ['a', 'b', 'c']) await fleet.until(name, (s) => allHeard(s) && s.nats.length === 2);
    // `a` forgets `c`: in a large fleet most are on no list of ours.
    await told('a', fleet.listOf('a', { version: 2, peers: [target('b')] }));
    const request = { targets: [target('b'), target('c')], port: fleet.port };
    const hearsAll = (p: PollAnswer): boolean =>
      p.targets.every((t) => fleet.networks.every((n) => (t.networks[n]?.answered ?? 0) > 0));
    const heard = await pollUntil('a', request, (p) => !p.abstain && hearsAll(p));
    expect(heard).toMatchObject({ node: 'a', epoch: 1 });
    expect(heard.targets.map((t) => t.name)).toEqual(['b', 'c']);

    fleet.cut('c');
    const all = (p: PollAnswer): boolean => fleet.networks.every((n) => p.targets[0]?.networks[n]?.sent === 3);
    const silent = await pollUntil('a', { targets: [target('c')], port: fleet.port }, (p) => !p.abstain && all(p));
    expect(silent.targets).toEqual([
      { name: 'c', networks: { backend: { sent: 3, answered: 0 }, management: { sent: 3, answered: 0 } } },
    ]);
    expect(await poll('a', { targets: 'everybody' })).toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('look for life at a peer when they are asked, and at nobody else', async () => {
    await fleet.startAll();
    for (const name of ['a', 'b', 'c']) await fleet.until(name, (s) => allHeard(s) && s.nats.length === 2);
    const nonce = '0123456789abcdef0123456789abcdef';
    const ask = async (target: string): Promise<LifeAnswer | undefined> => {
      const question = { nonce, target, sshPort: CLOSED_PORT, withinMs: 5_000 };
      const said: unknown = (
        await nc.request(Subjects.life('a'), JSON.stringify(question), { timeout: 10_000 })
      ).json();
      return readLifeAnswer(said, 'a', question);
    };
    // On the loopback this machine's own kernel answers, and neither ping nor the closed port is asked.
    const look = { ssh: 'refused', icmp: 'cannot', port: 'cannot', agentPort: 'silent' };
    expect((await ask('b'))?.networks).toEqual(
      Object.fromEntries(fleet.networks.map((n) => [n, { address: fleet.relayAddress('b', n), ...look }])),
    );
    expect(await ask('somebody')).toMatchObject({ unable: 'not-a-peer', networks: {} });
    const said = await nc.request(Subjects.life('a'), '{"target":"b"}', { timeout: 10_000 });
    expect(said.json()).toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('answer a request once on each connection, for whoever listens longer than to the first', async () => {
    await fleet.start('a');
    await fleet.until('a', (s) => s.nats.length === 2);
    const inbox = '_INBOX.spec.both';
    const answers: PollAnswer[] = [];
    const both = new Promise<void>((resolve) => {
      nc.subscribe(inbox, {
        callback: (_e, m) => {
          answers.push(JSON.parse(m.string()) as PollAnswer);
          if (answers.length === 2) resolve();
        },
      });
    });
    await nc.flush();
    nc.publish(Subjects.poll('a'), JSON.stringify({ targets: [], port: fleet.port }), { reply: inbox });
    await both;
    expect(answers[0]).toMatchObject({ node: 'a', epoch: 1, targets: [] });
  });

  it('answer into no subject but an inbox', async () => {
    await fleet.start('a');
    await fleet.until('a', (s) => s.nats.length === 2);
    const heard: string[] = [];
    nc.subscribe('somewhere.else', { callback: (_e, m) => void heard.push(m.string()) });
    await nc.flush();
    nc.publish(Subjects.poll('a'), JSON.stringify({ targets: [], port: fleet.port }), { reply: 'somewhere.else' });
    await poll('a', { targets: [], port: fleet.port });
    await nc.flush();
    expect(heard).toEqual([]);
  });

  it('go to a server that their peer list names when the one that they were enrolled with is lost', async () => {
    const [first, other] = [await startTestNats(), await startTestNats()];
    const named = await connect({ servers: other.url });
    try {
      named.subscribe(Subjects.peers('*'), { callback: (e, m) => void (!e && m.respond(JSON.stringify(lists['a']))) });
      const heard = new Promise<void>((resolve) => {
        named.subscribe(Subjects.report('a'), { callback: () => resolve() });
      });
      await named.flush();
      await fleet.start('a', { nats: { management: [first.url], backend: [nats.url] } });
      await fleet.until('a', (s) => s.nats.length === 2);
      // By the other connection.
      await told('a', fleet.listOf('a', { version: 2, nats: { management: [first.url, other.url] } }));
      // It works, and so it stays.
      expect((await fleet.status('a')).nats).toHaveLength(2);
      await first.stop();
      await heard;
      await fleet.until('a', (s) => s.nats.length === 2);
    } finally {
      await named.close();
      await first.stop();
      await other.stop();
    }
  });

  it('start by the servers that the list on their disk names, and by their own where those do not answer', async () => {
    const nobody = [`nats://127.0.0.1:${CLOSED_PORT}`];
    fleet.cache('a', fleet.listOf('a', { nats: { management: [nats.url] } }));
    await fleet.start('a', { nats: { management: nobody } });
    await fleet.until('a', (s) => s.nats.length === 1);
    fleet.cache('b', fleet.listOf('b', { nats: { management: nobody } }));
    await fleet.start('b', { nats: { management: [nats.url] } });
    await fleet.until('b', (s) => s.nats.length === 1);
  });

  it('report their own counts with the first report and every few seconds', async () => {
    // On a busy machine the very first may go out before there is a connection: nobody hears it, and peers that do not
    // run would be lost by the next.
    await fleet.stop();
    fleet = await fleetOf(['a']);
    const first = nextReport('a', (r) => r.seq === 1 || r.health.metrics !== undefined);
    await nc.flush();
    await fleet.start('a');
    const { health } = await first;
    expect(health.metrics).toMatchObject({ rejoin: { lost: 0, lostNow: 0 }, dropped: {} });
    expect(health.metrics?.rssBytes).toBeGreaterThan(1_000_000);
    const without = await nextReport('a', (r) => r.health.metrics === undefined);
    const again = await nextReport('a', (r) => r.health.metrics !== undefined);
    expect(again.seq - without.seq).toBeGreaterThan(1);
    expect(again.health.metrics!.cpuMs).toBeGreaterThanOrEqual(health.metrics!.cpuMs);
  });

  it('tell at once that they abstain when their own loop has stood still, and count that', async () => {
    await fleet.start('a');
    await fleet.until('a', (s) => s.nats.length === 2);
    const before = (await fleet.status('a')).health.metrics!.standstills;
    const abstains = nextReport('a', (r) => r.health.abstain);
    await nc.flush();
    // All that runs in this process stands still, and longer than `loopGap`.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, brisk.loopGap + 100);
    const { health } = await abstains;
    expect(health).toMatchObject({ reason: 'its loop stood still' });
    expect(health.loopGapMs).toBeGreaterThan(brisk.loopGap);
    expect((await fleet.status('a')).health.metrics!.standstills).toBeGreaterThan(before);
  });

  it('take other numbers while they run, and keep no report of a silence that these would not make', async () => {
    await fleet.start('a');
    await fleet.start('b');
    await fleet.until('a', (s) => s.rejoin.lost.includes('c'));
    const slow = { ...DetectionProfiles.wan, interval: 2_000, reportPeriod: 80 };
    // Lost for about a second by now: no 20 s of silence.
    await told('a', fleet.listOf('a', { version: 2, detection: slow }));
    const links = (s: AgentStatus | Report): [number, number, number?][] => s.peers.find(([p]) => p === 'c')![1];
    const after = await fleet.status('a');
    expect(after.rejoin.lost).toEqual([]);
    for (const [misses] of links(after)) expect(misses).toBeLessThan(slow.misses);
    await told('a', fleet.listOf('a', { version: 3, detection: brisk }));
    await fleet.until('a', (s) => links(s).every(([misses]) => misses >= brisk.misses));
    const { list } = await fleet.status('a');
    expect(list?.detection).toEqual(brisk);
  });

  it('do not report a peer down at its new address of its silence at the old one', async () => {
    await fleet.start('a');
    // Heard by nobody who uses the way that is cut; the new address is its own, without a relay.
    fleet.cut('c');
    await fleet.start('c');
    await fleet.until('a', (s) => s.rejoin.lost.includes('c'));
    const moved = fleet.listOf('a', { version: 2 });
    const networks = Object.fromEntries(fleet.networks.map((n) => [n, fleet.address('c', n)]));
    moved.peers = moved.peers.map((p) => (p.name === 'c' ? { name: 'c', networks } : p));
    await told('a', moved);
    const { rejoin } = await fleet.until('a', (s) =>
      s.peers.find(([p]) => p === 'c')![1].every(([misses, rtt]) => misses === 0 && rtt >= 0),
    );
    expect(rejoin.lost).not.toContain('c');
    // A member again by the list itself, before anybody asked it to rejoin there.
    expect(rejoin.happenings.filter((h) => h.peer === 'c' && h.what === 'joined')).toEqual([]);
  });

  it('warn where another machine lives under their name', async () => {
    await fleet.start('a');
    // A clone of `a` with an address of its own: the registry has only the first one's.
    await fleet.startClone('a', 'b');
    const warned = (s: AgentStatus): boolean => (s.health.warnings ?? []).some((w) => w.startsWith('duplicate:'));
    const { health } = await fleet.until('a', warned);
    expect(health.warnings).toContain('duplicate: another machine speaks as a');
    expect(health.metrics?.dropped.own).toBeGreaterThan(0);
  });

  it.each([
    ['the older one has answered', undefined],
    ['the second has, which bears the same number in another boot', 1],
  ])('warn of two machines that speak under one name, once %s', async (_what, epoch) => {
    await fleet.start('a');
    await fleet.start('c');
    await fleet.startClone('a', 'b', epoch);
    const warned = (name: string, warning: string): Promise<AgentStatus> =>
      fleet.until(name, (s) => s.health.warnings?.includes(warning) === true);
    await warned('c', 'duplicate: two machines speak as a');
    await warned('a', 'duplicate: another machine speaks as a');
  });
});
