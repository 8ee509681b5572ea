import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import { systemRandom } from '#bus/system/system-random.js';
import {
  agentObserver,
  defaultSettings,
  Subjects,
  type LifeSigns,
  type LifeQuestion,
  type LifeSeen,
  type NodeRecord,
  type Report,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { FleetView, type Records } from '../fleet/fleet-view.js';
import { ReportBook } from '../observers/report-book.js';
import { LifeObservers } from './life-observers.js';

const names = ['a-1', 'b-1', 'c-1', 'x-1'];
const networks = ['backend', 'management'];
const addressOf = (name: string, network: string): string => `10.${networks.indexOf(network)}.0.${names.indexOf(name)}`;
const living: LifeSigns = { ssh: 'banner', icmp: 'reply', port: 'unreachable', agentPort: 'silent' };
const silent: LifeSigns = { ssh: 'silent', icmp: 'silent', port: 'silent', agentPort: 'silent' };

describe('the nodes that look for life beside the monitor', () => {
  const { detection } = defaultSettings('spec');
  let now: number;
  let seq: number;
  let records: Map<string, NodeRecord>;
  let reports: ReportBook;
  let asked: { observer: string; q: LifeQuestion }[];
  /** What an agent answers about `x-1`; undefined: nothing. */
  let answer: (observer: string, q: LifeQuestion) => unknown;
  let kept: Record<string, Omit<LifeSeen, 'at'>>;
  let sut: LifeObservers;

  const view = <T>(values: () => Map<string, T>): Records<T> => ({
    live: true,
    get: (key) => (values().has(key) ? { value: values().get(key) as T } : undefined),
    entries: () => [...values()].map(([key, value]) => ({ key, value, revision: 1 })),
    onChange: () => () => undefined,
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const good =
    (look: LifeSigns) =>
    (observer: string, q: LifeQuestion): unknown => ({
      node: observer,
      nonce: q.nonce,
      target: q.target,
      ageMs: 0,
      networks: Object.fromEntries(networks.map((n) => [n, { address: addressOf(q.target, n), ...look }])),
    });
  /** All of these hear each other, and nobody else. */
  const report = (...heard: string[]): void => {
    seq++;
    for (const node of heard) {
      const peers: Report['peers'] = names
        .filter((n) => n !== node)
        .map((n) => [n, networks.map(() => (heard.includes(n) ? [0, 300] : [9, -1]))]);
      const health = { abstain: false, sendErrors: {}, loopGapMs: 1 };
      const head = { v: 1 as const, node, bootId: 'boot', epoch: 1, seq, listVersion: 1 };
      reports.hear({ ...head, networks, peers, workloads: [], health }, now, detection);
    }
  };
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    report('a-1', 'b-1', 'c-1');
    sut.step(true);
    await turn();
  };
  const make = (): void => {
    const node = (name: string): NodeRecord =>
      aNode(name, { networks: Object.fromEntries(networks.map((n) => [n, { address: addressOf(name, n) }])) });
    records = new Map(names.map((name) => [name, node(name)]));
    sut = new LifeObservers({
      clock: { ...systemClock, monotonicMs: () => now },
      random: systemRandom,
      fleet: new FleetView(
        view(() => records),
        view(() => new Map()),
        'spec',
      ),
      reports,
      send: async (subject, q) => {
        const observer = names.find((n) => Subjects.life(n) === subject) as string;
        asked.push({ observer, q });
        const said = answer(observer, q);
        if (said === undefined) throw new Error('no responders');
        return said;
      },
      keep: async (name, observer, seen) => void (kept[`${observer} ${name}`] = seen),
      changed: () => undefined,
      log: { debug: () => undefined, warn: () => undefined },
    });
  };
  const die = async (): Promise<void> => {
    now += 3_000;
    report('a-1', 'b-1', 'c-1');
    asked = [];
    sut.watch([{ node: 'x-1' }]);
    await turn();
  };

  beforeEach(async () => {
    [now, seq, asked, kept, reports] = [10_000, 0, [], {}, new ReportBook()];
    answer = good(living);
    make();
    report(...names);
    sut.step(true);
    await turn();
  });

  it('have seen each host that lives, which is put on record by address', () => {
    expect(
      asked
        .filter(({ q }) => q.target === 'x-1')
        .map((a) => a.observer)
        .sort(),
    ).toEqual(['a-1', 'b-1', 'c-1']);
    expect(asked[0]?.q).toMatchObject({ sshPort: 22, nonce: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect(kept[`${agentObserver('a-1')} x-1`]).toEqual({
      place: '10.0.0.3 10.1.0.3 22',
      channels: ['icmp', 'port', 'ssh'],
    });
    expect(sut.areEnough('x-1')).toBe(true);
  });

  it('find it silent when it dies, by what spoke to them before', async () => {
    answer = good(silent);
    await die();
    const look = { ...silent, spoke: ['icmp', 'port', 'ssh'] };
    expect(sut.observations('x-1', now).sort((a, b) => a.by.localeCompare(b.by))).toEqual(
      ['a-1', 'b-1', 'c-1'].map((by) => ({ by, ...look })),
    );
    expect(sut.observations('a-1', now)).toEqual([]);
  });

  it('know from the record what spoke to them, after a takeover too, and nothing of another place', async () => {
    for (const place of ['10.0.0.3 10.1.0.3 22', '10.0.0.9 10.1.0.3 22']) {
      make();
      const lifeSeen = { [agentObserver('a-1')]: { place, channels: ['ssh' as const], at: 1 } };
      records.set('x-1', { ...(records.get('x-1') as NodeRecord), lifeSeen });
      answer = good(silent);
      await die();
      const spoke = sut.observations('x-1', now).find((l) => l.by === 'a-1')?.spoke;
      expect(spoke).toEqual(place.startsWith('10.0.0.3') ? ['ssh'] : []);
      expect(sut.areEnough('x-1')).toBe(false);
    }
  });

  it.each<[string, (observer: string, q: LifeQuestion) => unknown]>([
    ['no answer: an agent of an earlier Muster', () => undefined],
    ['a refusal', () => ({ code: 'BAD_REQUEST', message: 'no' })],
    ['an answer of another', (_o, q) => good(silent)('c-9', q)],
    ['an answer to an earlier question', (o, q) => good(silent)(o, { ...q, nonce: '0'.repeat(32) })],
    [
      'an agent that does not know the node',
      (o, q) => ({ ...(good(silent)(o, q) as object), networks: {}, unable: 'not-a-peer' }),
    ],
  ])('are no word of the host by %s', async (_what, said) => {
    answer = said;
    await die();
    expect(sut.observations('x-1', now)).toEqual([]);
  });

  it('are not asked where they hear nobody else, nor when they have not reported', async () => {
    answer = good(silent);
    now += 3_000;
    report('a-1', 'b-1');
    asked = [];
    sut.watch([{ node: 'x-1' }]);
    await turn();
    expect(asked.map((a) => a.observer).sort()).toEqual(['a-1', 'b-1']);
  });

  it('have proven nothing where they were cut off before they answered', async () => {
    answer = (o, q) => {
      seq++;
      // From now on it hears nobody.
      report(o);
      return good(silent)(o, q);
    };
    await die();
    expect(sut.observations('x-1', now)).toEqual([]);
  });

  it('are asked about the living by the detector that leads alone', async () => {
    make();
    asked = [];
    sut.step(false);
    await turn();
    expect(asked).toEqual([]);
    await pass(5_000);
    expect(new Set(asked.map(({ q }) => q.target))).toEqual(new Set(['a-1', 'b-1', 'c-1']));
  });
});
