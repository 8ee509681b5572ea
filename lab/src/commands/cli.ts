import type { Command } from 'commander';
import type { LabFolder } from '../folder.js';
import type { HostPlan, LabPlan } from '../plan.js';
import type { Processes } from '../processes.js';

/** What every command of the lab has at hand. */
export interface Cli {
  program: Command;
  folder: () => LabFolder;
  /** One line of JSON where that was asked for, else the text. */
  answer: (value: unknown, text?: string) => void;
  /** A lab that runs, and the host that a command is about. NODE_UNKNOWN */
  at: (name: string) => { lab: LabFolder; plan: LabPlan; host: HostPlan; processes: Processes };
  /** The moment of a fault: CLOCK_MONOTONIC ns, and wall clock ms. */
  now: () => { ns: number; at: number };
}
