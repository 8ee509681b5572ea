import type { IncidentRecord, JobRecord, PowerCommand, PowerVerb } from '#contracts';
import { isEndedJob } from '#contracts';
import type { LeaseRecord } from '#bus';
import type { Chassis } from './chassis.js';
import type { SentCommand } from './played-power.js';

/** A rule that was broken. */
export interface HandsViolation {
  /** ms of virtual time. */
  time: number;
  rule: HandsRule;
  what: string;
}

export const HandsRules = {
  'two-holders': 'never two valid holders of one lease',
  'token-back': 'a token never goes back',
  'no-intent': 'no command reaches a BMC that no intent of its fencer and epoch names',
  'two-fencers': 'no command of an earlier epoch leaves once a later one has begun',
  'false-proof': 'a proof of off stands only where the machine was off at both reads',
  'proof-undone': 'a machine that was proven off is not switched on by an order of before the proof',
  'living-off': 'no off leaves for a machine that lives and was heard again long before',
  'off-after-pause': 'no intent is written after a pause was acknowledged',
  'job-twice': 'a job is never run twice at once',
  'job-lost': 'an accepted job ends',
  'fencing-stuck': 'with faults over, a dead machine is fenced',
  failed: 'no program ends by an error of its own',
} as const;
export type HandsRule = keyof typeof HandsRules;

/** What counts of the promises; a mend tightens them. */
export interface HandsBounds {
  /** An off may leave for a machine that has been heard again for so long, ms: what the last look may be late. */
  staleLeaveMs: number;
  /** With faults over, so long after, ms, dead machines are fenced and accepted jobs have ended. */
  settledMs: number;
}

/** Freshness of the last look, 2 s, its own way, and the start of the command. */
export const presentBounds: HandsBounds = { staleLeaveMs: 3_000, settledMs: 120_000 };

interface Run {
  worker: string;
  step: string;
}

export interface HandsOracleParts {
  now: () => number;
  chassis: ReadonlyMap<string, Chassis>;
  bounds: HandsBounds;
  /** An `off` of the node was written. */
  intended: (node: string) => void;
}

/** Knows every chassis, command, record and run, and says which rule was broken. Times in virtual ms. */
export class HandsOracle {
  readonly violations: HandsViolation[] = [];
  /** How often something came near to what must not be: a rule that never met its case says nothing. */
  readonly probes = new Map<string, number>();
  private readonly incidents = new Map<string, IncidentRecord>();
  private readonly jobs = new Map<string, JobRecord>();
  private readonly leases = new Map<string, { process: string; holder: string; token: number }>();
  private readonly running = new Map<string, Set<Run>>();
  /** Reads that were answered: node → what was told, and what was so. */
  private readonly reads = new Map<string, { at: number; off: boolean }[]>();
  private readonly livesSince = new Map<string, number>();
  private readonly orderedOn = new Map<string, number>();
  /** By the device: not by the word of a person. */
  private readonly provenAt = new Map<string, number>();
  private pause: { sinceMs: number; untilMs: number } | undefined;

  readonly bounds: HandsBounds;
  private readonly now: () => number;
  private readonly chassis: ReadonlyMap<string, Chassis>;

  constructor(private readonly p: HandsOracleParts) {
    this.bounds = p.bounds;
    this.now = p.now;
    this.chassis = p.chassis;
  }

  probe(name: string): void {
    this.probes.set(name, (this.probes.get(name) ?? 0) + 1);
  }

  violate(rule: HandsRule, what: string): void {
    this.violations.push({ time: Math.round(this.now()), rule, what });
  }

  /** A write that the server has taken. `text` is empty where the key was deleted. */
  stored(bucket: string, key: string, text: string, revision: number): void {
    if (text === '') {
      if (bucket === 'jobs') this.jobs.delete(key);
      return;
    }
    if (bucket === 'incidents') this.incidentStored(key, JSON.parse(text) as IncidentRecord);
    else if (bucket === 'leases') this.leaseStored(key, JSON.parse(text) as LeaseRecord, revision);
    else if (bucket === 'jobs') this.jobStored(key, JSON.parse(text) as JobRecord);
  }

  /** Whoever wrote the lease last; empty: nobody holds it. */
  holderOf(lease: string): string {
    return this.leases.get(lease)?.holder ?? '';
  }

  /** Processes that hold the lease by their own judgement, now. */
  holders(lease: string, names: readonly string[]): void {
    if (names.length > 1) this.violate('two-holders', `${names.join(' and ')} hold ${lease}`);
  }

  /** A pause was acknowledged. */
  paused(untilMs: number): void {
    this.pause = { sinceMs: this.now(), untilMs };
  }

  /** A machine's system came up, or ended. */
  lives(node: string, is: boolean): void {
    if (!is) this.livesSince.delete(node);
    else if (!this.livesSince.has(node)) this.livesSince.set(node, this.now());
  }

  /** A command has left a fencer's host. */
  commandSent(node: string, c: SentCommand): void {
    if (c.verb === 'status') return;
    const intent = this.intentOf(node, c.fencer, c.device.id, c.verb);
    if (intent === undefined) {
      this.violate('no-intent', `${c.fencer} sent ${c.verb} to ${c.device.id} of ${node} without an intent`);
      return;
    }
    const epoch = this.leases.get('fencer')?.token ?? 0;
    if (intent.epoch < epoch)
      this.violate('two-fencers', `${c.fencer} of epoch ${intent.epoch} sent ${c.verb} to ${node} in epoch ${epoch}`);
    if (c.verb === 'on') this.orderedOn.set(node, this.now());
    if (c.verb === 'off') this.offSent(node, c.fencer);
  }

  readAnswered(node: string, power: 'on' | 'off'): void {
    const known = this.reads.get(node) ?? [];
    this.reads.set(node, known);
    known.push({ at: this.now(), off: this.chassis.get(node)?.on === false });
    if (power === 'on') return;
    this.probe('read as off');
  }

  /** The power of a machine was changed by a command of so long ago. */
  switched(node: string, on: boolean, sentMs: number, by: string): void {
    const proven = this.provenAt.get(node);
    if (!on || proven === undefined || sentMs >= proven) return;
    const agoMs = Math.round(proven - sentMs);
    this.violate('proof-undone', `${node} is on: ${by} had ordered it ${agoMs} ms before it was proven off`);
  }

  /** A playbook of a job begins on its nodes; returns what tells its end. */
  runBegins(job: string, worker: string, step: string): () => void {
    const runs = this.running.get(job) ?? new Set();
    this.running.set(job, runs);
    for (const other of runs)
      this.violate('job-twice', `${worker} runs ${step} of ${job} while ${other.worker} runs ${other.step} of it`);
    const run = { worker, step };
    runs.add(run);
    return () => runs.delete(run);
  }

  /** Every accepted job has ended, and no dead machine waits for its power-off. */
  get isSettled(): boolean {
    return this.openJobs().length === 0 && this.stuckIncidents().length === 0;
  }

  /** With faults over for {@link HandsBounds.settledMs}: what has not come to its end. */
  judgeEnd(): void {
    for (const job of this.openJobs())
      this.violate('job-lost', `${job.id} is ${job.status}, taken ${job.generation} times`);
    for (const i of this.stuckIncidents())
      this.violate('fencing-stuck', `the incident of ${i.node} is ${i.phase}: ${i.steps.at(-1)?.detail ?? ''}`);
  }

  private openJobs(): JobRecord[] {
    return [...this.jobs.values()].filter((job) => !isEndedJob(job));
  }

  private stuckIncidents(): IncidentRecord[] {
    return [...this.incidents.values()].filter(
      (i) => (i.phase === 'fencing' || i.phase === 'failed') && this.chassis.get(i.node)?.lives !== true,
    );
  }

  private intentOf(node: string, fencer: string, device: string, verb: PowerVerb): PowerCommand | undefined {
    return this.incidents
      .get(node)
      ?.commands.findLast(
        (c) => c.verb === verb && c.device === device && c.fencer === fencer && c.endedAt === undefined,
      );
  }

  private offSent(node: string, fencer: string): void {
    const since = this.livesSince.get(node);
    if (since === undefined) return;
    this.probe('off sent to a machine that lives again');
    const forMs = this.now() - since;
    if (forMs > this.bounds.staleLeaveMs)
      this.violate('living-off', `${fencer} sent off to ${node}, which has lived again for ${Math.round(forMs)} ms`);
  }

  private incidentStored(node: string, i: IncidentRecord): void {
    const before = this.incidents.get(node);
    this.incidents.set(node, i);
    const known = before?.id === i.id ? before.commands.length : 0;
    const fresh = i.commands.slice(known).filter((c) => c.verb === 'off' && c.endedAt === undefined);
    if (fresh.length > 0) this.p.intended(node);
    const { pause } = this;
    if (fresh.length > 0 && pause !== undefined && this.now() < pause.untilMs)
      this.violate(
        'off-after-pause',
        `an off of ${node} was written ${Math.round(this.now() - pause.sinceMs)} ms after a pause was acknowledged`,
      );
    if (i.phase !== 'fenced' || before?.phase === 'fenced') return;
    this.probe(`fenced: ${i.proof?.kind ?? 'no proof'}`);
    if (i.proof === undefined || i.proof.kind === 'manual') return;
    this.provenAt.set(node, this.now());
    const last = (this.reads.get(node) ?? []).slice(-2);
    if (last.length < 2 || last.some((r) => !r.off))
      this.violate('false-proof', `${node} is fenced (${i.proof.kind}), and was on at one of its last two reads`);
    const chassis = this.chassis.get(node);
    // What a person does after the second read is known to nobody.
    const switched = chassis?.changes.at(-1);
    const byHand = switched?.by === 'by hand' && switched.atMs >= (last.at(-1)?.at ?? Infinity);
    if (chassis?.on === true && !byHand) this.violate('false-proof', `${node} is fenced (${i.proof.kind}), and is on`);
    if ((this.orderedOn.get(node) ?? -Infinity) > this.now() - 16_000) this.probe('fenced soon after an on');
  }

  private leaseStored(key: string, r: LeaseRecord, revision: number): void {
    const before = this.leases.get(key);
    const process = r.nonce.split('.')[0] ?? '';
    // The token of a new term is raised to the revision of the write that took it; renewals carry it.
    const renews = process === before?.process && r.token === before.token;
    const token = renews ? r.token : Math.max(r.token, revision);
    if (before !== undefined && token < before.token)
      this.violate('token-back', `lease ${key}: token ${token} after ${before.token}`);
    if (before !== undefined && token > before.token) this.probe('a lease changed hands');
    this.leases.set(key, { process, holder: r.holder, token: Math.max(token, before?.token ?? 0) });
  }

  private jobStored(id: string, job: JobRecord): void {
    const before = this.jobs.get(id);
    this.jobs.set(id, job);
    if (before === undefined) return;
    if (job.generation < before.generation)
      this.violate('job-twice', `${id} went back from generation ${before.generation} to ${job.generation}`);
    if (isEndedJob(before) && !isEndedJob(job))
      this.violate('job-twice', `${id} had ended, and is ${job.status} again`);
    if (job.generation > 1 && job.generation > before.generation) this.probe('a job was taken over');
  }
}
