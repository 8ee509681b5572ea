import type { DeviceDenial } from '../hardware/power-identity.js';
import type { Verdict, VerdictKind } from '../verdict/verdict.js';

export const IncidentPhases = [
  'open',
  'investigating',
  'fencing',
  'fenced',
  'recovering',
  'recovered',
  'closed',
  'suppressed',
  'failed',
  'survived',
  'cancelled',
] as const;
export type IncidentPhase = (typeof IncidentPhases)[number];

/** Ended for good; a new incident of the node may replace the value. */
export const closedPhases: readonly IncidentPhase[] = ['closed', 'survived', 'cancelled'];
export const isOpenIncident = (i: { phase: IncidentPhase }): boolean => !closedPhases.includes(i.phase);

export const GateCodes = [
  'BLIND',
  'NOT_FENCEABLE',
  'ALREADY_OPEN',
  'LIFE_SIGN',
  'BRAKE',
  'DOMAIN',
  'CAP',
  'QUORUM',
  'PAUSED',
  'OBSERVE',
  'FLAPPING',
] as const;
/** Gates in the order in which they are asked. */
export type GateCode = (typeof GateCodes)[number];

export interface GateResult {
  gate: GateCode;
  pass: boolean;
  /** One sentence with the figures that decided. */
  detail: string;
}

/** `soft` asks the system to shut down (ACPI): whether it did is another question, and never a proof of off. */
export type PowerVerb = 'off' | 'on' | 'soft' | 'status';

/**
 * One BMC command. `off`, `on` and `soft` are written, by compare-and-set on the revision that was decided on, *before* they
 * are given: such an entry without `endedAt` may have been carried out, or may yet be (see POWER_QUARANTINE_MS).
 * Reads change nothing and are written with their result, together with what follows from them.
 */
export interface PowerCommand {
  n: number;
  /** Fencing token of the leader (or of the fencer it handed the command to). */
  epoch: number;
  fencer: string;
  /** The incident's attempt that it belongs to: offs of an earlier one do not count against the next. */
  attempt?: number;
  level: number;
  device: string;
  verb: PowerVerb;
  at: number;
  endedAt?: number;
  /** ms from start to end, monotonic. */
  tookMs?: number;
  result?: { ok: boolean; power?: 'on' | 'off' | 'unknown'; code?: string; detail?: string };
}

/**
 * What speaks against a proof of off. While it stands, nothing that was taken from the node is started anywhere, whoever
 * conducts: the machine may be on. A new proof has none.
 */
export interface ProofDoubt {
  at: number;
  /** The node has spoken in this boot, which was to have ended. */
  bootId?: string;
  /** This device, by whose word the node is off, was found to be another machine's. */
  device?: string;
}

/** Proof of off. */
export interface OffProof {
  kind: 'read-back' | 'already-off' | 'manual';
  at: number;
  /** `manual`: who said so, and why. */
  by?: string;
  reason?: string;
  level?: number;
  /** It goes with the proof, or once the node has spoken in another boot. */
  doubt?: ProofDoubt;
}

/** One step of the story, for people and for the timeline. */
export interface IncidentStep {
  phase: IncidentPhase;
  at: number;
  detail: string;
}

/**
 * What has become of a workload of a node that was proven off, by the workload's own record. `to`: where it is assigned
 * since; the node itself where that has come back, and has kept it.
 */
export interface RecoveryAssignment {
  workload: string;
  from: string;
  to?: string;
  generation?: number;
  job?: string;
  state: 'waiting' | 'starting' | 'running' | 'held' | 'no-room' | 'skipped';
  detail?: string;
}

/** Its node has come back, and has it like any other: nobody has started it anywhere else. */
export const isKept = (r: Pick<RecoveryAssignment, 'from' | 'to'>): boolean => r.to === r.from;

/**
 * An operator's order to the power devices outside of fencing. The fencing leader carries it out under its lease, with
 * each command written into the same value before it is given. It waits until the node's incident is recovered or over; an
 * incident that is opened anew replaces it. Off is never ordered so: that is a fencing.
 */
export interface PowerOrder {
  action: 'on' | 'soft';
  by: string;
  reason: string;
  at: number;
  /** Highest number of a command before it: those above belong to it. */
  after: number;
  /** The boot that the node ran, by its record, when it was ordered: `soft` means that one, `on` awaits another. */
  bootId?: string;
  /** It was dealt with. */
  done?: boolean;
  /** With `done`. `on`: the power was read back as on. `soft`: the device took the command, which says no more. */
  ok?: boolean;
  detail?: string;
}

/**
 * Bucket `incidents`, key = node: the whole truth about its last fencing, beside the log of its BMC and an order to its
 * power. At most one is open per node.
 */
export interface IncidentRecord {
  id: string;
  node: string;
  phase: IncidentPhase;
  /** `auto`: by a verdict; `manual`: by an operator's order. */
  cause: 'auto' | 'manual';
  by?: string;
  /**
   * It was opened by a verdict, and a person has ordered it too, wall clock: from then on it is an order by hand, with
   * that person's reason. The verdict's own stands in its steps.
   */
  orderedAt?: number;
  /** Opened by the policy that treats a node as DOWN that stays DEGRADED: it stands while that is so. */
  degraded?: true;
  reason: string;
  openedAt: number;
  updatedAt: number;
  /** The verdict that it rests on. */
  verdict?: Verdict;
  /** Boot that is to be ended. From its recovery on: the one that was, which may have begun since. */
  bootId?: string;
  gates: GateResult[];
  /** `suppressed`: the gate that stopped it. */
  gate?: GateCode;
  /** Token of the conductor that decided last; workers refuse lower ones. */
  conductor: number;
  /** Token of the fencing leader that owns the commands. */
  epoch?: number;
  level: number;
  attempt: number;
  /** Wall clock: not to be tried again before (backoff after `failed`). */
  retryAt?: number;
  /** `failed`: drivers that could not be used by any fencer then. With one of them back it is tried again at once. */
  lacking?: string[];
  commands: PowerCommand[];
  /** The power devices that the order to fence names, see `devicesMark`: with others nothing is given or proven. */
  devices?: string;
  /** Commands up to this number went to devices as they were before an edit: of those of now they say nothing. */
  devicesAfter?: number;
  /**
   * An `on` of the record that this one took the place of, which nobody has read back: it may still be carried out, so
   * for the time of the power quarantine no read as off proves anything.
   */
  onBefore?: { incident: string; n: number };
  /**
   * Power devices that said they are another machine's, by their id: such a one is given nothing, whatever it refuses to
   * say since, until it has said to the fencing leader that it is the node's.
   */
  denied?: Record<string, DeviceDenial>;
  proof?: OffProof;
  recovery: RecoveryAssignment[];
  /**
   * A drill: it powers a serving node off and on to learn whose its power devices are. `level`: the fencing level that it
   * begins with, and the only one that it proves, from 0; the first when absent. `result`: what it has shown.
   */
  drill?: { at: number; level?: number; result?: { ok: boolean; at: number; detail: string } };
  /** Nodes that were not heard when its power-off was ordered: the off has not silenced them. */
  silentBefore?: string[];
  /**
   * Other nodes that fell silent after an `off` by a device that is not proven: the proof is held until each has spoken
   * in this boot or a person confirms. Once the device is proven the proof is void, and the node powered off anew.
   */
  collateral?: { at: number; nodes: { node: string; bootId?: string }[] };
  /** This proof of off was found to prove nothing, by its doubt: the last one. */
  contradiction?: {
    at: number;
    proof?: OffProof;
    /** The power devices then, see `devicesMark`: while they are the same and not proven since, nothing is tried anew. */
    devices: string;
    /** What had been taken from the node, as it stood then. */
    recovery: RecoveryAssignment[];
  };
  /**
   * What the order to fence rests on and no other process has seen: the power devices' answer at suspicion, and for how
   * long (ms, on the conductor's own clock) the host had been hung.
   */
  evidence?: { power?: 'on' | 'off' | 'unknown'; hungForMs?: number };
  /** Power-on after recovery: wanted by the conductor, carried out by the fencing leader after the power quarantine. */
  powerOn?: {
    wanted: boolean;
    requestedAt: number;
    /** The fencing leader has dealt with it. */
    done?: boolean;
    /** With `done`: the power was read back as on; false: given up, `detail` says why. */
    ok?: boolean;
    detail?: string;
  };
  /** By hand, outside of fencing. Of a node without an incident it is shown in one that is closed. */
  order?: PowerOrder;
  /**
   * An operator released a suppressed incident past these gates, and no others. `force`: knowing that the node still
   * shows signs of life, or that the detector cannot see: then a life sign no longer ends it before the first command.
   */
  released?: { by: string; reason: string; at: number; gates: GateCode[]; force: boolean };
  /**
   * The verdict when a person wanted it last (ordered it, ordered it too, released it); UNKNOWN where no detector
   * answered. Was the node not heard then, and is heard now, what it was wanted for is over.
   */
  wantedAt?: VerdictKind;
  /**
   * An operator cancelled it before the first command: none is opened by itself for as long as the node is not heard
   * again. `over`: it was.
   */
  takenBack?: { by: string; reason: string; at: number; over?: true };
  steps: IncidentStep[];
  /** Why the stored record cannot be read: this one stands in for it, and all that it says is that one is open. */
  unreadable?: string;
}

/** How its last attempt ended, where that failed. Notes that were added since do not count. */
export const lastFailure = (i: Pick<IncidentRecord, 'steps'>): IncidentStep | undefined =>
  i.steps.findLast((s, k) => s.phase === 'failed' && i.steps[k - 1]?.phase !== 'failed');

/** When that was, by the clock of the fencer that says so. */
export const failedAt = (i: Pick<IncidentRecord, 'steps' | 'updatedAt'>): number => lastFailure(i)?.at ?? i.updatedAt;
