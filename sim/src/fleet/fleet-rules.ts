import { HandsRules } from '../hands/hands-oracle.js';

export const FleetRules = {
  ...HandsRules,
  'two-machines': 'never does a workload run on two machines at any instant',
  'unproven-start':
    'nothing starts elsewhere before the machine that it ran on was off or booted anew, or a person has confirmed it',
  'storm-off': 'no off in a storm that heals, but past it by a person',
  'intent-after-order':
    'no intent is written after a cancel or a deletion was acknowledged, and after a confirm only to power it on again',
  'on-in-quarantine': 'nothing is powered on while an off that was given may still be carried out',
  'cleaned-under-work': 'no cleanup of a node on which something runs',
  'generation-back': 'the generation of a workload never goes back, nor that of its assignment',
  'blind-for-ever': 'with faults over, the monitor sees where more than half of the machines that are on speak',
  'held-for-ever':
    'with faults over, no node is held by a job, a claim or an edit that is over, or of which there is no record',
  'return-stuck': 'with faults over, a node that has come back is checked, unless that is held',
  'drain-lost': 'with faults over, a node that is drained is empty, or an alarm says why it is not',
  'not-running': 'with faults over, what can run runs, unless something that is named stands against it',
  'plan-silent':
    'with faults over, the plan names each gate, hold and lack of room that stands against something, by its true reason',
  'on-told-early': 'a machine is told as powered on only where it is on',
  'alarm-untrue': 'with faults over, no alarm stands that is not so',
  'gate-untrue': 'with faults over, no gate holds an incident that is not so',
  'incident-stuck': 'with faults over, an incident is where something that is named holds it, or over',
} as const;
export type FleetRule = keyof typeof FleetRules;
/** Beside those of the hands. */
export type FleetOnly = Exclude<FleetRule, keyof typeof HandsRules>;

/** Where whoever judges writes down what it has found. */
export interface Findings {
  /** Virtual ms. */
  now: () => number;
  /** Something came near to what must not be, or was excused: counted. */
  probe: (name: string) => void;
  violate: (rule: FleetRule, what: string) => void;
}
