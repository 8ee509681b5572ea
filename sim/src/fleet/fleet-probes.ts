import {
  isOpenIncident,
  type IncidentRecord,
  type JobRecord,
  type NodeRecord,
  type Permits,
  type Reservations,
} from '#contracts';
import type { ReadOutcome, SentCommand } from '../hands/played-power.js';
import type { Sender } from '../nats/played-server.js';
import { isOffInDoubt } from './proof-truth.js';
import { kindOf, Writers } from './writers.js';

export interface ProbedWorld {
  /** Virtual ms. */
  now: () => number;
  probe: (name: string) => void;
  /** The last of each node. */
  incidents: ReadonlyMap<string, IncidentRecord>;
  /** Whoever wrote the lease last; empty: nobody holds it. */
  holderOf: (lease: string) => string;
}

/** Reads of one proof are not so far apart, ms. */
const SECOND_READ_MS = 4_000;
/** What follows from the end of an incident is written within this, ms. */
const JUST_CLOSED_MS = 1_000;

/**
 * What is counted, and breaks no rule: a case that never came about was never tried. Exclusions that a rule grants are
 * counted where it is judged. Times in virtual ms.
 */
export class FleetProbes {
  /** Incident → when it was closed. */
  private readonly closedMs = new Map<string, number>();
  private readonly lastReads = new Map<string, { told: ReadOutcome['told']; fencer: string; atMs: number }>();
  private readonly writers = new Writers();

  constructor(private readonly w: ProbedWorld) {}

  /** A process ends, whichever way. */
  programEnded(service: string): void {
    for (const i of this.w.incidents.values()) {
      const isJustClosed =
        i.phase === 'closed' && this.w.now() - (this.closedMs.get(i.id) ?? -Infinity) < JUST_CLOSED_MS;
      if (isOpenIncident(i) || isJustClosed) this.w.probe(`${service} ends while an incident is ${i.phase}`);
    }
  }

  /** A write that the server has refused, since somebody else had written. */
  writeRefused(bucket: string, key: string, from: Sender): void {
    // By such a write, which is always refused, each program asks at its start whether the stream answers.
    if (key === '=') return;
    this.w.probe(`a compare-and-set is lost: ${bucket}`);
    if (bucket === 'leases') return;
    const { isLate, ofTwoConductors } = this.writers.factsOf(`${bucket}/${key}`, from);
    if (isLate) this.w.probe(`a late write is refused: ${kindOf(from.client)}`);
    if (ofTwoConductors) this.w.probe(`two conductors write one record: ${bucket}`);
  }

  /** A write that the server has taken. */
  writeTaken(bucket: string, key: string, from: Sender): void {
    if (bucket === 'leases') return this.writers.leads(key, this.w.holderOf(key), this.w.now());
    if (this.writers.factsOf(`${bucket}/${key}`, from).isLate)
      this.w.probe(`a late write is taken: ${kindOf(from.client)}`);
    this.writers.wrote(`${bucket}/${key}`, from);
  }

  /** A program has said that an act of its own has failed so. */
  coded(process: string, code: string): void {
    if (code === 'STALE_TOKEN') this.w.probe(`a stale token at ${kindOf(process)}`);
    if (code === 'LEASE_LOST') this.w.probe(`an act is ended by its lost lease: ${kindOf(process)}`);
  }

  readEnded(node: string, fencer: string, outcome: ReadOutcome): void {
    const before = this.lastReads.get(node);
    const isProof = this.w.incidents.get(node)?.phase === 'fencing' && before?.fencer === fencer;
    const isSecond = isProof && this.w.now() - before.atMs < SECOND_READ_MS;
    if (isSecond && before.told === 'off' && outcome.told === 'on') this.w.probe('a second read disagrees');
    this.lastReads.set(node, { told: outcome.told, fencer, atMs: this.w.now() });
  }

  commandSent(node: string, { verb }: SentCommand): void {
    // What is read from now on is of after it.
    if (verb === 'on') this.lastReads.delete(node);
  }

  /** The system of a node speaks, or does not any more. */
  speaks(node: string, is: boolean): void {
    if (!is) {
      const isTarget = (i: IncidentRecord): boolean =>
        i.phase === 'recovering' && i.recovery.some((r) => r.to === node && r.state !== 'running');
      if ([...this.w.incidents.values()].some(isTarget)) this.w.probe('a target falls silent during a recovery');
      return;
    }
    const phase = this.w.incidents.get(node)?.phase;
    if (phase === 'fencing' || phase === 'failed') this.w.probe('a return during a fencing');
  }

  /** A host has refused an order as older than what it knows. */
  refusedStale(): void {
    this.w.probe('a stale generation at a host');
  }

  jobWritten(job: JobRecord | undefined): void {
    if (job?.outranked !== undefined) this.w.probe('a job of a conductor that was replaced is refused');
  }

  nodeWritten(was: NodeRecord | undefined, node: NodeRecord | undefined): void {
    if (was !== undefined && node !== undefined && node.status !== was.status)
      this.w.probe(`${was.status} → ${node.status}`);
  }

  reservationsWritten(was: Reservations | undefined, now: Reservations | undefined): void {
    for (const id of Object.keys(was?.claims ?? {}))
      if (now?.claims?.[id] === undefined) this.w.probe('a claim is over');
    for (const id of Object.keys(was?.edits ?? {}))
      if (now?.edits?.[id] === undefined) this.w.probe('an edit of several nodes is over');
  }

  permitsWritten(was: Permits | undefined, now: Permits | undefined): void {
    const known = new Set((was?.trips ?? []).map((t) => t.id));
    const stands = new Set((now?.trips ?? []).map((t) => t.id));
    for (const id of stands) if (!known.has(id)) this.w.probe('a storm is tripped');
    for (const id of known) if (!stands.has(id)) this.w.probe('a storm is over');
  }

  incidentWritten(i: IncidentRecord, before: IncidentRecord | undefined): void {
    if (i.phase === 'closed' && before?.phase !== 'closed') this.closedMs.set(i.id, this.w.now());
    for (const name of incidentProbes(i, before)) this.w.probe(name);
  }
}

/** @param before the last of its node as it stood before this write */
function incidentProbes(i: IncidentRecord, before: IncidentRecord | undefined): string[] {
  const known = before?.id === i.id ? before : undefined;
  const found: string[] = [];
  if (i.contradiction !== undefined && before?.contradiction?.at !== i.contradiction.at)
    found.push(`a contradiction voids a proof: ${i.contradiction.proof?.kind ?? 'none'}`);
  if (known !== undefined && isOffInDoubt(known) && !isOffInDoubt(i))
    found.push(`a collateral hold is over: ${i.phase}`);
  if (known?.phase === i.phase && known.gate === i.gate) return found;
  found.push(i.phase === 'suppressed' ? `stopped by ${i.gate ?? 'no gate'}` : `incident ${i.phase}`);
  if (known === undefined || known.phase === 'fencing' || i.phase !== 'fencing') return found;
  if (known.phase === 'suppressed') found.push(`past ${known.gate ?? 'no gate'}`);
  for (const gate of i.released?.gates ?? []) found.push(`released past ${gate}`);
  return found;
}
