import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import type { LifeSigns } from '#contracts/wire/life-signs.js';
import type { LifeQuestion } from '#contracts/wire/life-question.js';
import type { PeerList } from '#contracts/wire/peers.js';
import { KnownPeers } from '../peers/known-peers.js';
import { PeerLifeProbes } from './peer-life-probes.js';

const nonce = '0123456789abcdef0123456789abcdef';
const ask = (target: string, o: Partial<LifeQuestion> = {}): LifeQuestion => ({
  nonce,
  target,
  sshPort: 22,
  withinMs: 2_000,
  ...o,
});
const names = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];

describe('the looks of an agent at its peers', () => {
  let now: number;
  let leaving: boolean;
  let asked: string[];
  let shows: LifeSigns;
  /** While set, nothing is answered. */
  let hold: Promise<void> | undefined;
  let timers: (() => void)[];
  let known: KnownPeers;
  let sut: PeerLifeProbes;

  const list = (peers: PeerList['peers']): PeerList => ({
    version: 1,
    cluster: 'spec',
    self: { name: 'a', networks: { management: '10.1.0.1', backend: '10.2.0.1' } },
    peers,
    port: 7946,
    detection: DetectionProfiles.lan,
  });
  const sign = async <S>(what: string, found: S): Promise<S> => {
    asked.push(what);
    await hold;
    return found;
  };
  const held = (): (() => void) => {
    let release = (): void => undefined;
    hold = new Promise((resolve) => (release = resolve));
    return release;
  };

  beforeEach(() => {
    [now, leaving, asked, hold, timers] = [1_000, false, [], undefined, []];
    shows = { ssh: 'banner', icmp: 'reply', port: 'unreachable', agentPort: 'unreachable' };
    known = new KnownPeers(['backend', 'management']);
    known.apply(
      list(names.map((name, i) => ({ name, networks: { management: `10.1.0.${i + 2}`, backend: `10.2.0.${i + 2}` } }))),
    );
    sut = new PeerLifeProbes({
      node: 'a',
      known,
      probes: {
        sshSign: (host, port) => sign(`ssh ${host} ${port}`, shows.ssh),
        ping: (host) => sign(`ping ${host}`, shows.icmp),
        unusedPort: (host, port) => sign(`udp ${host} ${port}`, shows.port),
        agentPort: (host, port) => sign(`agent ${host} ${port}`, shows.agentPort),
      },
      datagram: () => Buffer.alloc(64),
      isLeaving: () => leaving,
      clock: {
        ...systemClock,
        monotonicMs: () => now,
        after: (_ms, fn) => (timers.push(fn), { cancel: () => undefined }),
      },
    });
  });

  it('go over every network that both have, at the addresses that stand on the list', async () => {
    expect(await sut.answer(ask('b', { sshPort: 2_200 }))).toEqual({
      node: 'a',
      nonce,
      target: 'b',
      ageMs: 0,
      networks: { backend: { address: '10.2.0.2', ...shows }, management: { address: '10.1.0.2', ...shows } },
    });
    expect(asked.filter((a) => a.includes('10.1.')).sort()).toEqual([
      'agent 10.1.0.2 7946',
      'ping 10.1.0.2',
      'ssh 10.1.0.2 2200',
      'udp 10.1.0.2 9',
    ]);
  });

  it('that cannot be begun have found nothing, and the next question looks anew', async () => {
    hold = Promise.reject(new Error('spawn ENOMEM'));
    expect(await sut.answer(ask('b'))).toMatchObject({ networks: {} });
    hold = undefined;
    now += 20_000;
    expect((await sut.answer(ask('b'))).networks).toHaveProperty('management');
  });

  it('are taken at nobody who is not on the list, nor at a name that must be resolved', async () => {
    expect(await sut.answer(ask('z'))).toMatchObject({ unable: 'not-a-peer', networks: {} });
    expect(await sut.answer(ask('a'))).toMatchObject({ unable: 'not-a-peer', networks: {} });
    known.apply(list([{ name: 'b', networks: { management: 'b.example', backend: '10.2.0.2' } }]));
    expect(Object.keys((await sut.answer(ask('b'))).networks)).toEqual(['backend']);
    expect(asked.some((a) => a.includes('example'))).toBe(false);
    expect(await sut.answer(ask('c'))).toMatchObject({ unable: 'not-a-peer' });
  });

  it('answer again with their age for a second, and are then taken anew', async () => {
    await sut.answer(ask('b'));
    shows = { ...shows, ssh: 'silent' };
    now += 999;
    const again = await sut.answer(ask('b', { nonce: nonce.replaceAll('0', '1') }));
    expect([again.ageMs, again.nonce.startsWith('1'), again.networks['backend']?.ssh]).toEqual([999, true, 'banner']);
    // One peer, many ports: that is what a scan looks like.
    expect(await sut.answer(ask('b', { sshPort: 80 }))).toMatchObject({ unable: 'busy' });
    now += 1;
    expect((await sut.answer(ask('b'))).networks['backend']?.ssh).toBe('silent');
    expect(asked.length).toBe(16);
  });

  it('are shared by those who ask meanwhile, and are four at once and eight a second at most', async () => {
    const release = held();
    const first = names.slice(0, 4).map((name) => sut.answer(ask(name)));
    const copy = sut.answer(ask('b'));
    expect(await sut.answer(ask('f'))).toMatchObject({ unable: 'busy' });
    release();
    expect((await Promise.all([...first, copy])).map((a) => a.unable)).toEqual(Array(5).fill(undefined));
    expect(asked.length).toBe(4 * 8);
    for (const name of names.slice(4, 8)) expect((await sut.answer(ask(name))).unable).toBeUndefined();
    expect(await sut.answer(ask('j'))).toMatchObject({ unable: 'busy' });
    now += 1_000;
    expect((await sut.answer(ask('j'))).unable).toBeUndefined();
  });

  it('say of what was not found in time that it was not tried', async () => {
    held();
    const answer = sut.answer(ask('b'));
    timers.forEach((fire) => fire());
    const none = { ssh: 'not-tried', icmp: 'not-tried', port: 'not-tried', agentPort: 'not-tried' };
    expect((await answer).networks).toEqual({
      backend: { address: '10.2.0.2', ...none },
      management: { address: '10.1.0.2', ...none },
    });
  });

  it('take no silence for a word while the loop stood still, and keep what was found', async () => {
    shows = { ssh: 'refused', icmp: 'silent', port: 'silent', agentPort: 'silent' };
    const release = held();
    const answer = sut.answer(ask('b'));
    sut.stoodStill();
    release();
    expect((await answer).networks['backend']).toEqual({
      address: '10.2.0.2',
      ssh: 'refused',
      icmp: 'not-tried',
      port: 'not-tried',
      agentPort: 'not-tried',
    });
    now += 1_000;
    expect((await sut.answer(ask('b'))).networks['backend']?.icmp).toBe('silent');
  });

  it('are not taken by one that leaves', async () => {
    leaving = true;
    expect(await sut.answer(ask('b'))).toMatchObject({ unable: 'leaving' });
    expect(asked).toEqual([]);
  });
});
