import { describe, expect, it } from 'vitest';
import type { DetectorCondition, VerdictKind } from '#contracts';
import {
  LOSSY_SILENT_HOLD_MS,
  MOST_NAMED,
  SILENT_HOLD_MS,
  silentAgents,
  type AgentVoice,
  type SilentFor,
} from './silent-agents.js';

const n = { freshness: 2500, bootGrace: 600_000 };
const voice = (name: string, over: Partial<AgentVoice> = {}): AgentVoice => ({
  name,
  verdict: 'UP',
  reportAgeMs: 500,
  hasReported: true,
  ...over,
});
const mute = (name: string, verdict: VerdictKind = 'UP'): AgentVoice => voice(name, { verdict, reportAgeMs: 60_000 });

/** A look a second at the same nodes, for so long. */
function after(
  ms: number,
  voices: readonly AgentVoice[],
  was: SilentFor = new Map(),
): [DetectorCondition[], SilentFor] {
  let found = silentAgents(voices, was, n, 0);
  for (let at = 1000; at <= ms; at += 1000) found = silentAgents(voices, found.silentFor, n, 1000);
  return [found.conditions, found.silentFor];
}
const subjects = (c: readonly DetectorCondition[]): string[] => c.map((x) => `${x.code}=${x.subject}`);

describe('agents whose reports have stopped although others hear them', () => {
  it('are named once that has lasted, and no longer than until the next report', () => {
    const others = ['a', 'b', 'c'].map((x) => voice(x));
    expect(after(SILENT_HOLD_MS - 1000, [...others, mute('d')])[0]).toEqual([]);
    const [conditions, silentFor] = after(SILENT_HOLD_MS, [...others, mute('d')]);
    expect(conditions).toEqual([
      {
        code: 'agent-health',
        subject: 'd',
        severity: 'warning',
        message: 'd: it has no vote: no report for more than 10 s, although others hear it',
      },
    ]);
    expect(after(0, [...others, voice('d')], silentFor)).toEqual([[], new Map()]);
  });

  it.each<[VerdictKind]>([['DOWN'], ['LEFT']])('are no news where the node itself is %s', (verdict) => {
    expect(after(2 * SILENT_HOLD_MS, [mute('d', verdict)])[0]).toEqual([]);
  });

  it('are no news of their own where the node is DEGRADED on all of its networks', () => {
    const gappy = { ...mute('d', 'DEGRADED'), heardWithGaps: true };
    expect(after(2 * SILENT_HOLD_MS, [gappy])[0]).toEqual([]);
    expect(subjects(after(SILENT_HOLD_MS, [mute('d', 'DEGRADED')])[0])).toEqual(['agent-health=d']);
  });

  it('are named later where the node loses probes: its reports are late, and it may get a verdict of its own', () => {
    const lossy = { ...mute('d'), loses: true };
    expect(after(LOSSY_SILENT_HOLD_MS - 1000, [lossy])[0]).toEqual([]);
    expect(subjects(after(LOSSY_SILENT_HOLD_MS, [lossy])[0])).toEqual(['agent-health=d']);
  });

  it.each<[VerdictKind]>([['UNKNOWN'], ['SUSPECT']])('stay as they were while the node is %s', (verdict) => {
    expect(after(5 * SILENT_HOLD_MS, [mute('d', verdict)])[0]).toEqual([]);
    const [, half] = after(SILENT_HOLD_MS - 1000, [mute('d')]);
    const [, unseen] = after(5 * SILENT_HOLD_MS, [mute('d', verdict)], half);
    expect(after(0, [mute('d')], unseen)[0]).toEqual([]);
    expect(subjects(after(1000, [mute('d')], unseen)[0])).toEqual(['agent-health=d']);
    const [, raised] = after(SILENT_HOLD_MS, [mute('d')]);
    expect(subjects(after(0, [mute('d', verdict)], raised)[0])).toEqual(['agent-health=d']);
  });

  it('have the time of a boot where they have never reported', () => {
    const { reportAgeMs: _, ...never } = voice('d', { hasReported: false });
    expect(after(n.bootGrace - 1000, [never])[0]).toEqual([]);
    expect(subjects(after(n.bootGrace, [never])[0])).toEqual(['agent-health=d']);
    // This detector has not heard it, but the registry knows its boot.
    expect(subjects(after(SILENT_HOLD_MS, [{ ...never, hasReported: true }])[0])).toEqual(['agent-health=d']);
  });

  it('are one alarm for the fleet where they are many', () => {
    const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `n${i + 10}`);
    expect(
      after(
        SILENT_HOLD_MS,
        names(MOST_NAMED).map((x) => mute(x)),
      )[0],
    ).toHaveLength(MOST_NAMED);
    const [conditions] = after(SILENT_HOLD_MS, [...names(MOST_NAMED + 1).map((x) => mute(x)), voice('a')]);
    expect(conditions).toEqual([
      {
        code: 'agent-health',
        subject: 'fleet',
        severity: 'warning',
        message: `${MOST_NAMED + 1} of ${MOST_NAMED + 2} agents have no vote: no report for more than 10 s, although others hear them: n10, n11, n12, n13, n14 and 6 more`,
      },
    ]);
  });
});
