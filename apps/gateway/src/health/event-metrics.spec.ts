import { beforeEach, describe, expect, it } from 'vitest';
import { Registry } from 'prom-client';
import type { EventMap, IncidentPhase, MusterEvent, Verdict } from '#contracts';
import { EventMetrics } from './event-metrics.js';

describe('what is told, counted', () => {
  let registry: Registry;
  let sut: EventMetrics;

  const tell = (phase: IncidentPhase, seconds: number, more: Partial<EventMap['incident']> = {}): void => {
    const data = { node: 'a-1', incident: 'i1', phase, detail: '', ...more };
    const event: MusterEvent<'incident'> = {
      id: `${phase}${seconds}`,
      kind: 'incident',
      key: data.node,
      at: seconds * 1000,
      source: 'inventory-1',
      data,
    };
    sut.incident(event);
  };

  beforeEach(() => {
    registry = new Registry();
    sut = new EventMetrics(registry);
  });

  it('has each verdict and each gate at zero before the first', async () => {
    sut.verdict({ verdict: 'DOWN' } as Verdict);
    const text = await registry.metrics();
    expect(text).toContain('muster_verdicts_total{verdict="DOWN"} 1');
    expect(text).toContain('muster_verdicts_total{verdict="SUSPECT"} 0');
    expect(text).toContain('muster_gate_decisions_total{gate="QUORUM",result="stop"} 0');
  });

  it('counts the gate that stopped an incident, those before it that did not, and all when none did', async () => {
    const count = async (gate: string, result: string): Promise<string | undefined> =>
      (await registry.metrics()).match(new RegExp(`gate="${gate}",result="${result}"} (\\d+)`))?.[1];
    tell('suppressed', 1, { gate: 'BRAKE' });
    expect([await count('BRAKE', 'stop'), await count('BRAKE', 'pass')]).toEqual(['1', '0']);
    expect([await count('LIFE_SIGN', 'pass'), await count('DOMAIN', 'pass')]).toEqual(['1', '0']);
    tell('fencing', 2);
    expect([await count('LIFE_SIGN', 'pass'), await count('BRAKE', 'pass'), await count('FLAPPING', 'pass')]).toEqual([
      '2',
      '1',
      '1',
    ]);
  });

  it('measures each phase until another is told, however often it is told', async () => {
    tell('fencing', 10);
    tell('fencing', 12);
    tell('open', 13, { node: 'b-2', incident: 'i2' });
    tell('fenced', 14);
    tell('recovered', 14.5);
    tell('closed', 100);
    const text = await registry.metrics();
    expect(text).toContain('muster_incident_step_seconds_sum{step="fencing"} 4\n');
    expect(text).toContain('muster_incident_step_seconds_count{step="fencing"} 1\n');
    expect(text).toContain('muster_incident_step_seconds_sum{step="fenced"} 0.5\n');
    expect(text).toContain('muster_incident_step_seconds_sum{step="recovered"} 85.5\n');
    expect(text).not.toMatch(/step="(closed|open)"/);
  });

  it('measures nothing from one incident of a node to its next', async () => {
    tell('suppressed', 1, { gate: 'PAUSED' });
    tell('open', 500, { incident: 'i2' });
    tell('cancelled', 501, { incident: 'i2' });
    tell('open', 900, { incident: 'i3' });
    const text = await registry.metrics();
    expect(text).toContain('muster_incident_step_seconds_sum{step="open"} 1\n');
    expect(text).not.toContain('step="suppressed"');
  });
});
