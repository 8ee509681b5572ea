import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { lifePlace, type LifeSeen, type PingSign, type PortSign, type SshSign } from '#contracts';
import { askHost, LifeBaseline, type LivingNode } from './life-baseline.js';

const HOUR = 3_600_000;

describe('the looks at hosts that live', () => {
  let now: number;
  let shows: { ssh: SshSign; icmp: PingSign; port: PortSign };
  let asked: string[];
  let cannotLook: boolean;
  let tries: number;
  let endsAfter: number;
  let kept: [string, Omit<LifeSeen, 'at'>][];
  let keeps: () => Promise<void>;
  let nodes: Map<string, LivingNode>;
  let sut: LifeBaseline;

  const node = (host: string, o: Partial<LivingNode> = {}): LivingNode => ({
    target: { node: 'n', networks: { management: host }, port: 1, ssh: { host, port: 22 }, limit: 1, round: 1 },
    alive: true,
    waived: false,
    ...o,
  });
  const ask = <S>(host: string, sign: S): Promise<S> => (asked.push(host), Promise.resolve(sign));
  const make = (): LifeBaseline =>
    new LifeBaseline({
      clock: {
        ...systemClock,
        monotonicMs: () => now,
        // Between two tries: the time that it takes, and nothing else.
        after: (ms, fn) => ((now += ms), queueMicrotask(fn), { cancel: () => undefined }),
      },
      ask: async (...q) =>
        cannotLook || ++tries > endsAfter
          ? undefined
          : askHost({
              sshSign: (host) => ask(host, shows.ssh),
              ping: (host) => ask(host, shows.icmp),
              unusedPort: (host) => ask(host, shows.port),
            })(...q),
      random: () => 0.5,
      keep: (name, seen) => (kept.push([name, seen]), keeps()),
      failed: () => undefined,
    });
  const step = async (): Promise<void> => {
    asked = [];
    sut.step(nodes);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const weak = (): string[] => sut.conditions().map((c) => c.subject);

  beforeEach(() => {
    [now, kept, keeps, cannotLook] = [1_000, [], () => Promise.resolve(), false];
    [tries, endsAfter] = [0, Infinity];
    shows = { ssh: 'banner', icmp: 'reply', port: 'unreachable' };
    nodes = new Map([['a', node('10.0.0.1')]]);
    sut = make();
  });

  it('come when a node is first heard, then every six hours, and what changed is put on record', async () => {
    await step();
    expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
    expect(kept).toEqual([['a', { place: lifePlace('10.0.0.1', 22), channels: ['icmp', 'port', 'ssh'] }]]);
    now += 5 * HOUR;
    await step();
    expect(asked).toEqual([]);
    now += HOUR;
    await step();
    expect(asked.length).toBe(3);
  });

  it('count only what speaks: a connection without a banner, a closed port that is silent, do not', async () => {
    shows = { ssh: 'accepted', icmp: 'cannot', port: 'silent' };
    await step();
    expect([sut.spoke('a'), weak()]).toEqual([[], ['a']]);
    shows = { ssh: 'banner', icmp: 'cannot', port: 'silent' };
    now += 7 * HOUR;
    await step();
    expect([sut.spoke('a'), weak()]).toEqual([['ssh'], []]);
  });

  it('are taken again after 1, 5 and 30 minutes, then every six hours, where a channel did not speak', async () => {
    const minute = 60_000;
    const nextAfter = async (): Promise<number> => {
      await step();
      const from = now;
      do {
        now += minute;
        await step();
      } while (asked.length === 0);
      // Back to where it began: what the tries took is no wait.
      return Math.round((now - from) / minute);
    };
    shows.port = 'silent';
    expect([await nextAfter(), await nextAfter(), await nextAfter()]).toEqual([1, 5, 30]);
    expect([await nextAfter(), await nextAfter()]).toEqual([360, 360]);
    // One that speaks at last is known, and one that is lost later is looked for anew.
    shows.port = 'unreachable';
    now += 6 * HOUR;
    await step();
    expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
    shows.port = 'silent';
    now += 6 * HOUR;
    await step();
    expect(await nextAfter()).toBe(1);
  });

  it('are not taken at a node that is silent, and one that fell silent meanwhile takes nothing back', async () => {
    nodes.set('a', node('10.0.0.1', { alive: false }));
    await step();
    expect([asked, weak()]).toEqual([[], []]);
    nodes.set('a', node('10.0.0.1'));
    await step();
    now += 7 * HOUR;
    shows = { ssh: 'silent', icmp: 'silent', port: 'silent' };
    await step();
    // It may have been dying: what is less is believed at the second look.
    expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
    now += 60_000;
    await step();
    expect([sut.spoke('a'), weak(), kept.length]).toEqual([[], ['a'], 2]);
  });

  it('take nothing back where nobody could look, and are tried again after a minute', async () => {
    await step();
    now += 7 * HOUR;
    cannotLook = true;
    await step();
    now += 60_000;
    await step();
    expect([sut.spoke('a'), weak()]).toEqual([['icmp', 'port', 'ssh'], []]);
    cannotLook = false;
    shows = { ssh: 'silent', icmp: 'reply', port: 'silent' };
    now += 59_000;
    await step();
    expect(asked).toEqual([]);
    for (const ms of [1_000, 60_000]) {
      now += ms;
      await step();
    }
    expect(sut.spoke('a')).toEqual(['icmp']);
  });

  it('that ended after one try count what it found, take nothing back, and are taken again after a minute', async () => {
    shows = { ssh: 'banner', icmp: 'reply', port: 'silent' };
    endsAfter = 1;
    await step();
    expect(kept).toEqual([['a', { place: lifePlace('10.0.0.1', 22), channels: ['icmp', 'ssh'] }]]);
    shows = { ...shows, port: 'unreachable' };
    now += 60_000;
    [tries, endsAfter] = [0, Infinity];
    await step();
    expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
    shows = { ssh: 'silent', icmp: 'reply', port: 'silent' };
    now += 7 * HOUR;
    [tries, endsAfter] = [0, 1];
    for (let n = 0; n < 3; n++) {
      await step();
      expect(asked.length).toBe(3);
      expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
      now += 60_000;
      tries = 0;
    }
  });

  it('say nothing of another place, and tell no alarm where an admin has waived it', async () => {
    await step();
    nodes.set('a', node('10.0.0.2', { alive: false }));
    await step();
    expect(sut.spoke('a')).toEqual([]);
    shows = { ssh: 'silent', icmp: 'silent', port: 'silent' };
    nodes.set('a', node('10.0.0.2', { waived: true }));
    await step();
    expect([asked[0], sut.spoke('a'), weak()]).toEqual(['10.0.0.2', [], []]);
  });

  it('stand on record: the next process knows them at once, and looks within six hours', async () => {
    const stored: LifeSeen = { place: lifePlace('10.0.0.1', 22), channels: ['ssh'], at: 1 };
    nodes.set('a', node('10.0.0.1', { stored, alive: false }));
    await step();
    expect([sut.spoke('a'), asked]).toEqual([['ssh'], []]);
    nodes.set('b', node('10.0.0.3', { stored, alive: false }));
    await step();
    expect(sut.spoke('b')).toEqual([]);
  });

  it('are put on record again where that failed', async () => {
    keeps = () => Promise.reject(new Error('no inventory'));
    await step();
    expect(sut.spoke('a')).toEqual(['icmp', 'port', 'ssh']);
    keeps = () => Promise.resolve();
    now += 60_000;
    await step();
    expect(kept.length).toBe(2);
  });
});
