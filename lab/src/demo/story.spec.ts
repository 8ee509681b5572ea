import { describe, expect, it } from 'vitest';
import { deviations, moveOf, Steps, type Seen } from './story.js';

const good = (): Seen => ({
  mode: 'netns',
  seed: 1,
  nodes: 5,
  external: false,
  timeline: Steps.filter((event) => event !== 'check_passed').map((event, n) => ({ event, ms: n * 700 })),
  workloads: [{ name: 'w', from: 'host2', to: 'host3', gap_ms: 6000, overlap_ms: 0 }],
  bmc: { off_commands: 1 },
  act2: { cut_ms: 10_000, degraded: true, off_commands: 0, check: 'pass', files_changed: [], processes_restarted: [] },
  audit: { ok: true, violations: [] },
});

describe('what makes a demo fail', () => {
  it('is nothing in a story that went as it should', () => {
    expect(deviations(good())).toEqual([]);
  });

  it('is no check that passes and no missing audit on another’s Muster, which may have no services', () => {
    const without = (s: Seen): Seen => ({
      ...s,
      timeline: Steps.filter((step) => !/^(check_failed|resetup_done)$/.test(step)).map((event, n) => ({
        event,
        ms: n * 700,
      })),
    });
    expect(deviations({ ...without(good()), external: true, audit: null })).toEqual([]);
    expect(deviations({ ...good(), external: true })).toEqual([]);
    expect(deviations(without(good()))).toEqual(['check_failed was not seen', 'resetup_done was not seen']);
  });

  const faults: [string, (s: Seen) => void][] = [
    ['a step that was not seen', (s) => s.timeline.splice(4, 1)],
    ['a verdict after its bound', (s) => ((s.timeline[2] as { ms: number }).ms = 4001)],
    ['steps out of order', (s) => s.timeline.reverse() && s.timeline.forEach((t, n) => (t.ms = n))],
    ['a second off', (s) => (s.bmc.off_commands = 2)],
    ['an overlap', (s) => ((s.workloads[0] as { overlap_ms: number }).overlap_ms = 1)],
    ['no workload that moved', (s) => (s.workloads = [])],
    ['a power command in act 2', (s) => ((s.act2 as { off_commands: number }).off_commands = 1)],
    ['a file changed in act 2', (s) => s.act2?.files_changed.push('/etc/x')],
    ['no audit', (s) => (s.audit = null)],
    ['a failed audit', (s) => (s.audit = { ok: false, violations: [] })],
  ];
  for (const [what, plant] of faults)
    it(`is ${what}`, () => {
      const seen = good();
      plant(seen);
      expect(deviations(seen)).not.toEqual([]);
    });
});

describe('where a workload went', () => {
  it('is told by the ledger: from its last beat before to its first beat after the death', () => {
    const run = (host: string, fromNs: number, toNs: number) => ({ host, boot: host, fromNs, toNs, beats: 1 });
    const h = {
      workload: 'w',
      runs: [run('a', 0, 5e9), run('b', 11e9, 12e9)],
      longestOverlapMs: 0,
      longestGapMs: 6000,
    };
    expect(moveOf(h, 'a', 5.01e9)).toEqual({ name: 'w', from: 'a', to: 'b', gap_ms: 6000, overlap_ms: 0 });
    expect(moveOf({ ...h, runs: h.runs.slice(0, 1) }, 'a', 5.01e9)).toBeUndefined();
  });
});
