import { Counter, Histogram, type Registry } from 'prom-client';
import {
  closedPhases,
  type EventMap,
  type GateCode,
  GateCodes,
  type IncidentPhase,
  type MusterEvent,
  type Verdict,
  VerdictKinds,
} from '#contracts';

/** A step is over in seconds, or waits for somebody. */
const STEP_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

/**
 * Verdicts and incidents that are published while this gateway runs, counted. Gates are asked in their order, so a stop says that those before it let
 * the incident through (or were released), and phase `fencing` that all did.
 */
export class EventMetrics {
  private readonly verdicts: Counter;
  private readonly gates: Counter;
  private readonly steps: Histogram;
  /** By node: the phase that its incident is in, and when (wall clock of the publisher) it was published. */
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
      help: 'Gates that stopped an incident (result="stop"), or let it through since they passed or were released (result="pass"), since this gateway began',
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
    for (const gate of GateCodes) for (const result of ['stop', 'pass']) this.gates.inc({ gate, result }, 0);
  }

  verdict({ verdict }: Verdict): void {
    this.verdicts.inc({ verdict });
  }

  incident({ at, data }: MusterEvent<'incident'>): void {
    if (data.gate !== undefined) this.gates.inc({ gate: data.gate, result: 'stop' });
    for (const gate of passedBy(data)) this.gates.inc({ gate, result: 'pass' });
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

function passedBy({ phase, gate }: EventMap['incident']): readonly GateCode[] {
  if (phase === 'fencing') return GateCodes;
  return gate === undefined ? [] : GateCodes.slice(0, GateCodes.indexOf(gate));
}
