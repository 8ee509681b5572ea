import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#bus/system/system-clock.js';
import { systemRandom } from '#bus/system/system-random.js';
import type { PeerList } from '#contracts/wire/peers.js';
import { DetectionProfiles } from '#contracts/settings/settings.js';
import { checkConfig } from './config/agent-config.js';
import { KnownPeers } from './peers/known-peers.js';
import { Prober } from './prober.js';
import { freeUdpPort } from './testing/fleet.js';
import { DropCounters } from './wire/drop-counters.js';

const ADDRESS = '127.0.0.1';
/** A datagram for everybody does not leave a socket that was not made for it: EACCES. */
const NOT_TO_BE_SENT_TO = '255.255.255.255';

describe('what an agent prober', () => {
  let sut: Prober;
  let port: number;
  let known: KnownPeers;

  beforeEach(async () => {
    port = await freeUdpPort();
    const config = checkConfig({
      node: 'a',
      cluster: 'spec',
      networks: { backend: { bind: ADDRESS } },
      port,
      nats: { backend: ['nats://127.0.0.1:9'] },
      keys: '/dev/null',
      stateDir: '/nonexistent',
      socket: '/nonexistent/agent.sock',
    });
    known = new KnownPeers(['backend']);
    sut = new Prober(
      {
        config,
        keys: { cluster: config.cluster, keys: [Buffer.alloc(32, 7)] },
        epoch: 1,
        bootId: 'boot-1',
        known,
        counters: new DropCounters(),
        onOtherList: () => undefined,
        isLeaving: () => false,
        clock: systemClock,
        random: systemRandom,
        log: { info() {}, warn() {}, error() {} },
      },
      0,
    );
    await sut.open();
  });
  afterEach(() => sut.close());

  it.each([
    ['reports a peer down in a poll', 0],
    ['reports nobody down in a poll during which its loop stood still, although it is well again at the end', 400],
  ])('%s', async (_what, stoodStillFor) => {
    // Nobody answers: nothing of our own listens for `b`, and what we send to ourselves is not its echo.
    const said = sut.poll({ targets: [{ name: 'b', networks: { backend: ADDRESS } }], port }, 'one', 0);
    if (stoodStillFor > 0) sut.stoodStill(stoodStillFor, stoodStillFor);
    sut.step(60_000);
    expect(sut.links.abstains(60_000)).toBe(false);
    expect(await said).toMatchObject({ abstain: stoodStillFor > 0, targets: [{ name: 'b' }] });
  });

  describe('of its own sending', () => {
    const n = DetectionProfiles.lan;
    let now: number;
    beforeEach(() => {
      now = systemClock.monotonicMs();
    });

    /** Peers by address; each is probed so often. */
    const probing = async (addresses: Record<string, string>, rounds: number): Promise<void> => {
      const peers = Object.entries(addresses).map(([name, backend]) => ({ name, networks: { backend } }));
      const list: PeerList = {
        version: 1,
        cluster: 'spec',
        self: { name: 'a', networks: { backend: ADDRESS } },
        peers,
        port,
        detection: n,
      };
      sut.followList(list, known.apply(list), now);
      for (let i = 0; i < rounds; i++, now += n.interval) {
        sut.step(now);
        // What a send has come to is told after this turn of the loop.
        for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
        sut.step(now + n.interval - 1);
      }
    };

    it('wakes up for a probe that may be one more miss when it is due, and else by its step', async () => {
      expect(sut.untilNextStep(now)).toBe(40);
      await probing({ c: ADDRESS }, 2);
      sut.step(now);
      const { dueAt } = sut.links.link('c', 'backend')!.pending!;
      expect(sut.untilNextStep(dueAt - 7)).toBe(7);
    });

    it('knows whom it cannot send to, and that it can send to others', async () => {
      await probing({ b: NOT_TO_BE_SENT_TO, c: ADDRESS }, 5);
      expect(sut.links.unsentBy(['backend'], now)).toMatchObject({
        backend: { peers: ['b'], error: expect.stringContaining('EACCES') },
      });
      expect(sut.sendErrors(now)).toEqual({ backend: 0 });
      expect(sut.links.link('c', 'backend')!.misses).toBeGreaterThan(n.suspectMisses);
    });

    describe('to a lost peer', () => {
      let leaves: boolean;
      beforeEach(async () => {
        await probing({ b: ADDRESS }, 4 * n.misses + 2);
        const socket = sut.sockets.get('backend')!;
        vi.spyOn(socket, 'send').mockImplementation((_bytes, _address, _port, failed) => {
          if (!leaves) failed('EHOSTUNREACH');
        });
      });
      /** One attempt, and longer than it waits for its welcome. */
      const attempt = (does: 'leaves' | 'fails'): void => {
        leaves = does === 'leaves';
        sut.rejoinLost('nats', now);
        for (let i = 0; i < 3; i++, now += 1_500) sut.step(now);
      };

      it('says nothing of it any more once so many rejoin attempts did not leave, and examines it anew', () => {
        for (let i = 1; i < n.suspectMisses; i++) attempt('fails');
        expect(sut.links.unsentBy(['backend'], now)).toEqual({});
        expect(sut.links.silentFor('b', n.misses)).toBe(true);
        const { changes } = sut;
        attempt('fails');
        expect(sut.links.unsentBy(['backend'], now)).toMatchObject({
          backend: { peers: ['b'], error: 'EHOSTUNREACH' },
        });
        expect(sut.links.link('b', 'backend')!.misses).toBe(0);
        expect(sut.changes).toBeGreaterThan(changes);
        expect(sut.membership.lostPeers()).toEqual([]);
        leaves = true;
        for (let i = 0; i <= n.misses + 1; i++, now += n.interval) sut.step(now);
        expect(sut.links.silentFor('b', n.misses)).toBe(true);
        expect(sut.links.unsentBy(['backend'], now)).toEqual({});
      });

      it('goes on to report it down where one rejoin attempt left in between', () => {
        for (let i = 1; i < n.suspectMisses; i++) attempt('fails');
        attempt('leaves');
        for (let i = 1; i < n.suspectMisses; i++) attempt('fails');
        expect(sut.links.unsentBy(['backend'], now)).toEqual({});
        expect([sut.membership.lostPeers(), sut.links.silentFor('b', 4 * n.misses)]).toEqual([['b'], true]);
      });
    });

    it('knows that nothing leaves on a network, says so at once, and that it does again', async () => {
      const { changes } = sut;
      await probing({ b: NOT_TO_BE_SENT_TO, c: NOT_TO_BE_SENT_TO }, 5);
      expect(sut.sendErrors(now)['backend']).toBeGreaterThan(n.suspectMisses);
      expect(sut.links.unsentBy(['backend'], now)['backend']!.peers).toEqual(['b', 'c']);
      expect(sut.changes).toBeGreaterThan(changes);
      await probing({ b: ADDRESS, c: ADDRESS }, 2);
      expect(sut.sendErrors(now)).toEqual({ backend: 0 });
      expect(sut.links.unsentBy(['backend'], now)).toEqual({});
    });
  });
});
