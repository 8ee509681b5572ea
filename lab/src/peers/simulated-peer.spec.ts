import { describe, expect, it } from 'vitest';
import { DetectionProfiles, type Peer, type PeerList, type Report, type RunningWorkload } from '#contracts';
import { RTT_US, SimulatedPeer } from './simulated-peer.js';

const { interval, misses, suspectMisses, reportPeriod } = DetectionProfiles.lan;
const STEP = 20;
const peer = (name: string): Peer => ({ name, networks: { management: `10.0.1.${name}`, backend: `10.0.2.${name}` } });
const list = (self: string, ...peers: string[]): PeerList => ({
  version: 1,
  cluster: 'c',
  self: peer(self),
  peers: peers.map(peer),
  port: 7946,
  detection: DetectionProfiles.lan,
});

/** `1` watches `2`, which is simulated, and `9`, which is real; time begins at 1000. */
class World {
  now = 1000;
  dead = new Set<string>();
  readonly said: { at: number; report: Report }[] = [];
  readonly probed: { at: number; network: string }[] = [];
  readonly sut: SimulatedPeer;

  constructor(
    readonly realAnswers = true,
    runs?: RunningWorkload[],
  ) {
    const fate = (name: string) => (name === '9' ? undefined : this.dead.has(name) ? 'dead' : 'alive');
    this.sut = new SimulatedPeer(peer('1'), 0.5, 'boot-1', fate, this.now, runs);
    this.sut.accept(list('1', '2', '9'), this.now);
  }

  run(ms: number): this {
    for (const end = this.now + ms; this.now < end; this.now += STEP) {
      const { probes, report } = this.sut.step(this.now, STEP);
      for (const [i, p] of probes.entries()) {
        const nonce = `${this.now}.${i}`;
        this.probed.push({ at: this.now, network: p.network });
        this.sut.links.sent(p.peer, p.network, nonce, this.now);
        if (this.realAnswers) this.sut.links.echo(p.peer, p.network, nonce, this.now);
      }
      if (report !== undefined) this.said.push({ at: this.now, report });
    }
    return this;
  }

  kill(name: string): number {
    this.dead.add(name);
    this.sut.notice(name, this.now);
    return this.now;
  }

  /** What is said of `name` at last. */
  seen(name: string): [number, number][] | undefined {
    return this.said.at(-1)?.report.peers.find((p) => p[0] === name)?.[1] as [number, number][];
  }

  /** When it was first said that so much was missed. */
  saidAt(name: string, missed: number): number {
    const first = this.said.find((s) => (s.report.peers.find((p) => p[0] === name)?.[1][0]?.[0] ?? 0) >= missed);
    return first?.at ?? Infinity;
  }
}

describe('a simulated peer', () => {
  it('hears the others of its kind without a datagram, and real machines by probes on every network', () => {
    const w = new World().run(5000);
    expect(w.seen('2')).toEqual([
      [0, RTT_US],
      [0, RTT_US],
    ]);
    expect(w.seen('9')?.map(([m]) => m)).toEqual([0, 0]);
    for (const network of ['management', 'backend'])
      expect(w.probed.filter((p) => p.network === network)).toHaveLength(5000 / interval);
  });

  it('reports each period, its boot and its networks by name', () => {
    const w = new World().run(10_000);
    const { at, report } = w.said.at(-1)!;
    expect(at - w.said.at(-2)!.at).toBe(reportPeriod);
    expect(report).toMatchObject({ node: '1', bootId: 'boot-1', epoch: 1, networks: ['backend', 'management'] });
    expect(w.said.map((s) => s.report.seq)).toEqual(w.said.map((_, i) => i + 1));
  });

  it('counts the misses of one that was killed as an agent would, and says at once when it is suspect and silent', () => {
    const w = new World().run(3000);
    const died = w.kill('2');
    w.run(6000);
    for (const missed of [suspectMisses, misses]) {
      // The first probe after its death leaves within an interval, and is due after 0.8 of one.
      const after = w.saidAt('2', missed) - died;
      expect(after).toBeGreaterThanOrEqual((missed - 1 + 0.8) * interval - STEP);
      expect(after).toBeLessThanOrEqual((missed + 0.8) * interval + 2 * STEP);
    }
    const [backend] = w.seen('2')!;
    expect(backend![0]).toBeGreaterThan(misses);
    expect(backend![1]).toBe(-1);
  });

  it('misses a real machine that answers nothing, and hears one of its kind again from its next probe on', () => {
    const w = new World(false).run(5000);
    expect(w.seen('9')?.every(([m, rtt]) => m >= misses && rtt === -1)).toBe(true);
    w.kill('2');
    w.run(5000);
    w.dead.delete('2');
    w.sut.notice('2', w.now);
    w.run(interval + 3 * STEP);
    expect(w.seen('2')?.[0]).toEqual([0, RTT_US]);
  });

  it('says nothing when it is dead, and after its boot is another that knows nothing yet', () => {
    const w = new World().run(3000);
    w.sut.die();
    const before = w.said.length;
    w.run(5000);
    expect(w.said).toHaveLength(before);
    w.sut.boot('boot-2', w.now);
    w.run(STEP);
    expect(w.said.at(-1)?.report).toMatchObject({ bootId: 'boot-2', epoch: 2, seq: 1 });
    expect(w.seen('9')).toEqual([
      [0, -1],
      [0, -1],
    ]);
    w.run(2000);
    expect(w.seen('2')?.[0]).toEqual([0, RTT_US]);
  });

  it('names what runs there until it boots, and tells nothing of it where it has no lister', () => {
    const runs = [{ name: 'db', generation: 1, gated: true }];
    const w = new World(true, runs).run(3000);
    expect(w.said.at(-1)?.report.workloads).toEqual(runs);
    w.sut.die();
    w.sut.boot('boot-2', w.now);
    w.run(STEP);
    expect(w.said.at(-1)?.report.workloads).toEqual([]);
    expect(new World().run(3000).said.at(-1)?.report).not.toHaveProperty('workloads');
  });

  it('reports nobody down for what was not sent while its process stood still, and abstains for a while', () => {
    const w = new World().run(3000);
    w.kill('2');
    w.now += 10_000;
    w.sut.stoodStill(10_000, w.now);
    w.run(STEP);
    expect(w.said.at(-1)?.report.health.abstain).toBe(true);
    expect(w.seen('2')?.[0]?.[0]).toBe(0);
    w.run(6000);
    expect(w.said.at(-1)?.report.health.abstain).toBe(false);
    expect(w.seen('2')?.[0]?.[0]).toBeGreaterThanOrEqual(misses);
  });
});
