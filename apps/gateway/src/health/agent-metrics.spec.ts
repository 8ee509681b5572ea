import { beforeEach, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import type { AgentMetrics as Counts, AgentView } from '#contracts';
import { AgentMetrics } from './agent-metrics.js';

const told = (o: Partial<Counts> = {}): Counts => ({
  rssBytes: 50e6,
  cpuMs: 1500,
  standstills: 0,
  sent: 100,
  received: 90,
  dropped: { mac: 3 },
  rejoin: { runs: { timer: 2 }, lost: 1, greeted: 4, joined: 1, lostNow: 0 },
  ...o,
});
const agent = (o: Partial<AgentView> = {}): AgentView => ({
  node: 'a-1',
  fresh: true,
  epoch: 7,
  abstains: false,
  members: 4,
  lost: 1,
  metrics: told(),
  ...o,
});

describe('what agents say of themselves', () => {
  let registry: Registry;
  let sut: AgentMetrics;
  const lines = async (...names: string[]): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((l) => names.some((n) => l.startsWith(n)));

  beforeEach(() => {
    registry = new Registry();
    sut = new AgentMetrics(registry);
  });

  it('is figures of each node', async () => {
    sut.see([agent(), agent({ node: 'b-2', abstains: true })]);
    const text = await registry.metrics();
    for (const line of [
      'muster_agent_up{node="a-1"} 1',
      'muster_agent_abstaining{node="a-1"} 0',
      'muster_agent_abstaining{node="b-2"} 1',
      'muster_agent_members{node="a-1"} 4',
      'muster_agent_lost_peers{node="a-1"} 1',
      'muster_agent_rss_bytes{node="a-1"} 50000000',
      'muster_agent_cpu_seconds_total{node="a-1"} 1.5',
    ])
      expect(text).toContain(`${line}\n`);
    sut.see([agent({ metrics: told({ cpuMs: 1600 }) })]);
    expect(await lines('muster_agent_cpu', 'muster_agent_up')).toEqual([
      'muster_agent_up{node="a-1"} 1',
      'muster_agent_cpu_seconds_total{node="a-1"} 1.6',
    ]);
  });

  it('says of an agent that is not heard that it is not up, and nothing else of now', async () => {
    sut.see([agent({ fresh: false }), { node: 'b-2', fresh: false }]);
    expect(await lines('muster_agent_up', 'muster_agent_rss', 'muster_agent_members', 'muster_agent_abst')).toEqual([
      'muster_agent_up{node="a-1"} 0',
      'muster_agent_up{node="b-2"} 0',
    ]);
  });

  it('counts over all agents what they count from now on, also one that was started anew', async () => {
    sut.see([agent(), agent({ node: 'b-2' })]);
    const names = ['muster_agent_datagrams', 'muster_agent_rejoin', 'muster_agent_join', 'muster_agent_peers'];
    expect((await lines(...names)).filter((l) => !l.endsWith(' 0'))).toEqual([]);
    const more = told({
      sent: 110,
      unsent: 4,
      received: 95,
      standstills: 1,
      dropped: { mac: 5, stranger: 1 },
      rejoin: { runs: { timer: 3, nats: 1 }, lost: 2, greeted: 7, joined: 2, lostNow: 1 },
    });
    const anew = told({
      sent: 5,
      received: 0,
      dropped: {},
      rejoin: { runs: {}, lost: 0, greeted: 0, joined: 0, lostNow: 0 },
    });
    sut.see([agent({ metrics: more }), agent({ node: 'b-2', epoch: 8, metrics: anew })]);
    expect((await lines(...names, 'muster_agent_standstills')).filter((l) => !l.endsWith(' 0')).sort()).toEqual([
      'muster_agent_datagrams_dropped_total{reason="mac"} 2',
      'muster_agent_datagrams_dropped_total{reason="stranger"} 1',
      'muster_agent_datagrams_total{direction="received"} 5',
      'muster_agent_datagrams_total{direction="sent"} 15',
      'muster_agent_datagrams_total{direction="unsent"} 4',
      'muster_agent_join_attempts_total{result="joined"} 1',
      'muster_agent_join_attempts_total{result="unanswered"} 2',
      'muster_agent_peers_lost_total 1',
      'muster_agent_rejoin_runs_total{reason="nats"} 1',
      'muster_agent_rejoin_runs_total{reason="timer"} 1',
      'muster_agent_standstills_total 1',
    ]);
  });

  it('goes on counting after a scrape at which nobody could be asked', async () => {
    sut.see([agent()]);
    sut.see([]);
    sut.see([agent({ metrics: told({ sent: 130 }) })]);
    expect(await lines('muster_agent_datagrams_total{direction="sent"')).toEqual([
      'muster_agent_datagrams_total{direction="sent"} 30',
    ]);
  });

  it('makes no more series than there are reasons, whatever agents send', async () => {
    sut.see([agent()]);
    const dropped = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`r-${String.fromCharCode(97 + (i % 26))}${'x'.repeat(i % 20)}`, 1]),
    );
    sut.see([agent({ metrics: told({ dropped: { ...dropped, 'Not A "Reason"\n': 1 } }) })]);
    const made = await lines('muster_agent_datagrams_dropped_total');
    expect(made.length).toBeLessThanOrEqual(25);
    expect(made.some((l) => l.includes('reason="other"'))).toBe(true);
    expect(made.join()).not.toContain('Not A');
  });
});
