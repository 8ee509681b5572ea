import type { FencingSettings, GateCode, IncidentPhase, JobKind, StormLimits } from '#contracts';
import type { BmcMood } from '../hands/bmc.js';
import type { ProgramFault } from '../process/program-faults.js';

/** `open` is a step of an incident's story, and the phase of no record: nothing could come after it. */
export type StoredPhase = Exclude<IncidentPhase, 'open'>;

interface At {
  /** Virtual ms. */
  at: number;
}

/** What an operator orders; refused or not, it is asked for once. */
export type Order =
  | { what: 'cancel' | 'cordon' | 'uncordon' | 'drain' | 'delete' | 'fence' | 'drill'; node: string }
  /** With force: whoever orders it knows that the machine is still heard, or that nobody sees it. */
  | { what: 'confirm' | 'release'; node: string; force?: true }
  | { what: 'pause'; forMs: number }
  | { what: 'observe' }
  | { what: 'enforce' }
  | { what: 'power-on' | 'power-off' | 'power-cycle' | 'power-soft'; node: string }
  | { what: 'edit'; node: string } /** Its power device has another address: nobody knows whose it is any more. */
  | { what: 'replace'; node: string } /** New hardware in its place, which has not come yet. */
  | { what: 'submit'; job: Exclude<JobKind, 'recover' | 'discover' | 'service-test'>; node: string; force?: boolean }
  | { what: 'claim' }
  | { what: 'cancel-job' } /** The last that has not ended, whoever ordered it. */
  /** Of a tool, by `muster.cmd.*`; who reads events asks for no node. */
  | { what: 'command'; command: 'check' | 'maintenance' | 'fence' | 'events'; node: string }
  | { what: 'storm-release' }
  | { what: 'storm-confirm'; force?: true };

/**
 * What happens to the world, or is asked of it. Processes by their names; `the leader` is the fencer, `the conductor` the
 * inventory that leads then.
 */
export type FleetEvent = At &
  (
    | ProgramFault
    | { kind: 'death'; node: string } /** Its system ends, its power stays on. */
    | { kind: 'hang'; node: string; forMs?: number } /** It stands still, what runs there holds on; and goes on then. */
    | { kind: 'wake'; node: string } /** It goes on where it stood, and is heard again. */
    | { kind: 'reset'; node: string } /** It boots by itself, or by a person. */
    | { kind: 'cut'; nodes: string[]; forMs: number; everyMs: number } /** They heal one after the other. */
    | { kind: 'unplugged'; node: string; forMs: number }
    | { kind: 'by-hand'; node: string; on: boolean } /** Its power switch. */
    | { kind: 'ends'; workload: string } /** By itself. */
    | { kind: 'ordered-again'; node: string } /** By a person, who runs the first playbook about its work once more. */
    | { kind: 'full'; node: string } /** Its disk: from now on it carries out no order about a workload. */
    | { kind: 'drift'; node: string } /** Its configuration is another. */
    | { kind: 'errs'; node: string; verdict: 'SUSPECT' | 'DEGRADED'; forMs: number } /** The monitor, of a node. */
    | { kind: 'monitor-away'; forMs: number }
    | {
        kind: 'told-again';
        node: string;
      } /** The last time that it was called dead is told once more, as it was then. */
    | { kind: 'bmc'; node: string; mood: BmcMood; takesMs?: number }
    | { kind: 'cut-off'; process: string; forMs: number; silentMs: number } /** Its way to NATS. */
    /** What it sends reaches NATS when that is over, also what it has given up since. */
    | { kind: 'held-up'; process: string; forMs: number; silentMs: number }
    | { kind: 'order'; order: Order }
    /** So long after the incident of a node is first in that phase; with a gate: is first held by it. */
    | { kind: 'after'; phase: StoredPhase; gate?: GateCode; node: string; inMs: number; does: FleetEvent }
  );

/** Everything that a run follows from. */
export interface FleetHistory {
  name: string;
  seed: number;
  nodes: string[];
  /** Workload → the node that it runs on when the history begins. */
  workloads: Readonly<Record<string, string>>;
  /**
   * Those of them that nobody has put a start gate before → when its unit is started at a boot, ms after its agent: one may
   * wait for a mount.
   */
  ungated: Readonly<Record<string, number>>;
  /** Those of them whose unit, where it runs when the history begins, is tried again for ever after a boot. */
  tireless: readonly string[];
  /** Nodes whose BMC says which machine's it is; of the others a drill has shown it. */
  tellGuid: readonly string[];
  /** Node → the one whose BMC its device truly reaches: the cables were moved since anybody has looked. */
  wires: Readonly<Record<string, string>>;
  /** How many may be silent, or be given a permit, before a gate stops them. */
  storm: StormLimits;
  /** What becomes of a host that hangs. */
  hung: FencingSettings['hung'];
  /** Node → its failure domain; who is not in it has one of its own. */
  domains: Readonly<Record<string, string>>;
  /** Hosts of the servers of the bus, as inventories have them in their settings. */
  brokers: readonly string[];
  inventories: string[];
  fencers: string[];
  provisioners: string[];
  events: FleetEvent[];
  /** When the last fault is over, ms. */
  quietFrom: number;
  /** Share of messages on the wire and of calls of the log whose answer is lost. */
  lostAnswers: number;
  server: '2.9.10' | '2.15.1';
  /** Chance of each port call of a product's process to be its last, until `quietFrom`. */
  crashes: number;
}
