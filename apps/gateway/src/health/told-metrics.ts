import { Counter, Histogram, type Registry } from 'prom-client';
import {
  closedPhases,
  type EventMap,
  GateCodes,
  type IncidentPhase,
  type MusterEvent,
  type Verdict,
  VerdictKinds,
} from '#contracts';

/** A step is over in seconds, or waits for somebody. */
const STEP_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/**
 * What is told while this gateway runs, counted. A stop is all that is told of an incident's gates: which ones it
 * passed stands in its record alone.
 */
export class ToldMetrics {
  private readonly verdicts: Counter;
  private readonly gates: Counter;
  private readonly steps: Histogram;
  /** By node: the phase that its incident is in, and when (wall clock of the teller) it was told. */
  private readonly phases = new Map<string, { incident: string; phase: IncidentPhase; at: number }>();

  constructor(registry: Registry) {
    const registers = [registry];
    this.verdicts = new Counter({
      name: 'muster_verdicts_total',
      help: 'Verdicts that were told since this gateway began',
      labelNames: ['verdict'],
      registers,
    });
    this.gates = new Counter({
      name: 'muster_gate_decisions_total',
      help: 'Gates that stopped an incident (result="stop") since this gateway began; those that let it pass are not counted',
      labelNames: ['gate', 'result'],
      registers,
    });
    this.steps = new Histogram({
      name: 'muster_incident_step_seconds',
      help: 'How long incidents were in this phase, from its being told until the next was told',
      labelNames: ['step'],
      buckets: STEP_SECONDS,
      registers,
    });
    // From zero on: a rate must see the first of each.
    for (const verdict of VerdictKinds) this.verdicts.inc({ verdict }, 0);
    for (const gate of GateCodes) this.gates.inc({ gate, result: 'stop' }, 0);
  }

  verdict({ verdict }: Verdict): void {
    this.verdicts.inc({ verdict });
  }

  incident({ at, data }: MusterEvent<'incident'>): void {
    if (data.gate !== undefined) this.gates.inc({ gate: data.gate, result: 'stop' });
    this.step(data, at);
  }

  private step({ node, incident, phase }: EventMap['incident'], at: number): void {
    const before = this.phases.get(node);
    const same = before?.incident === incident;
    if (same && before.phase === phase) return;
    if (same) this.steps.observe({ step: before.phase }, Math.max(0, at - before.at) / 1000);
    if (closedPhases.includes(phase)) this.phases.delete(node);
    else this.phases.set(node, { incident, phase, at });
  }
}
