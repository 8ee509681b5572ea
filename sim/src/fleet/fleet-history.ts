import type { BucketName, IncidentPhase, JobKind } from '#contracts';
import type { BmcMood } from '../hands/bmc.js';

interface At {
  /** Virtual ms. */
  at: number;
}

/** What an operator orders; refused or not, it is asked for once. */
export type Order =
  | { what: 'confirm' | 'release' | 'cancel' | 'cordon' | 'uncordon' | 'drain' | 'delete' | 'fence'; node: string }
  | { what: 'pause'; forMs: number }
  | { what: 'resume' }
  | { what: 'observe' }
  | { what: 'enforce' }
  | { what: 'power-on'; node: string }
  | { what: 'submit'; job: Exclude<JobKind, 'recover' | 'discover' | 'service-test'>; node: string; force?: boolean }
  | { what: 'claim' }
  | { what: 'storm-release' };

/**
 * What happens to the world, or is asked of it. Processes by their names; `the leader` is the fencer, `the conductor` the
 * inventory that leads then.
 */
export type FleetEvent = At &
  (
    | { kind: 'death'; node: string } /** Its system ends, its power stays on. */
    | { kind: 'hang'; node: string; forMs?: number } /** It stands still, what runs there holds on; and goes on then. */
    | { kind: 'reset'; node: string } /** It boots by itself, or by a person. */
    | { kind: 'cut'; nodes: string[]; forMs: number; everyMs: number } /** They heal one after the other. */
    | { kind: 'unplugged'; node: string; forMs: number }
    | { kind: 'ends'; workload: string } /** By itself. */
    | { kind: 'drift'; node: string } /** Its configuration is another. */
    | { kind: 'errs'; node: string; verdict: 'SUSPECT' | 'DEGRADED'; forMs: number } /** The monitor, of a node. */
    | { kind: 'monitor-away'; forMs: number }
    | { kind: 'bmc'; node: string; mood: BmcMood; takesMs?: number }
    | { kind: 'crash'; process: string }
    | { kind: 'stop'; process: string } /** In good order; its supervisor starts it again. */
    | { kind: 'pause'; process: string; forMs: number }
    | { kind: 'cut-off'; process: string; forMs: number; silentMs: number } /** Its way to NATS. */
    | { kind: 'server-restart'; forMs: number; lost?: Readonly<Record<string, number>> } /** Of each stream so many. */
    | { kind: 'bucket-anew'; bucket: BucketName }
    | { kind: 'wall-jump'; process: string; ms: number }
    | { kind: 'order'; order: Order }
    /** So long after the incident of a node is first in that phase. */
    | { kind: 'after'; phase: IncidentPhase; node: string; inMs: number; does: FleetEvent }
  );

/** Everything that a run follows from. */
export interface FleetHistory {
  name: string;
  seed: number;
  nodes: string[];
  /** Workload → the node that it runs on when the history begins. */
  workloads: Readonly<Record<string, string>>;
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

const names = (what: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${what}-${i + 1}`);

/** One quiet fleet, into which a history puts its events: each node but the last runs one workload. */
export function quietFleet(
  name: string,
  seed: number,
  o: Partial<FleetHistory> & { size?: number } = {},
): FleetHistory {
  const { size = 4, ...more } = o;
  const nodes = names('n', size);
  return {
    name,
    seed,
    nodes,
    workloads: Object.fromEntries(nodes.slice(0, -1).map((node, i) => [`w${i + 1}`, node])),
    inventories: names('inventory', 2),
    fencers: names('fencer', 2),
    provisioners: names('provisioner', 2),
    events: [],
    quietFrom: 60_000,
    lostAnswers: 0,
    server: '2.15.1',
    crashes: 0,
    ...more,
  };
}
