import type { IncidentRecord, JobRecord, NodeRecord, PowerCommand, PowerDevice } from '#contracts';
import { decodeIncident, identityBasis, identityStanding, isEndedJob, isOpenIncident } from '#contracts';
import type { LeaseRecord } from '#bus';
import { IDENTITY_FRESH_MS, isProvenByWords } from '#domain/power/whose-device.js';
import type { Chassis } from './chassis.js';
import type { GuardEnd } from './played-guard.js';
import type { ReadOutcome, SentCommand } from './played-power.js';

/** A rule that was broken. */
export interface HandsViolation<Rule extends string = HandsRule> {
  /** ms of virtual time. */
  time: number;
  rule: Rule;
  what: string;
}

export const HandsRules = {
  'two-holders': 'never two valid holders of one lease',
  'token-back': 'a token never goes back',
  'no-intent': 'no command reaches a BMC that no intent of its fencer and epoch names',
  'wrong-machine':
    'no command but a read is given to a device that switches another machine, where anybody can know it',
  'unread-off': 'no off is given to a device that was proven, unless it has said who it is shortly before',
  'two-fencers': 'no command of an earlier epoch leaves once a later one has begun',
  'after-deadline': 'no command leaves at or past its deadline, nor under a deadline that outlives the lease',
  'false-proof': 'a proof of off stands only where the machine was off at both reads of its fencer, and stays so',
  'proof-undone': 'a machine that was proven off is not switched on by an order of before the proof',
  'living-off': 'no off is given to a machine that lives and was heard again long before',
  'intent-after-pause': 'no intent, of off, on or soft, is written after a pause was acknowledged',
  'job-twice': 'a job is never run twice at once',
  'job-lost': 'an accepted job ends',
  'fencing-stuck': 'with faults over, a dead machine is fenced',
  'on-stuck': 'with faults over, a power-on that is wanted, or an order, is dealt with',
  failed: 'no program ends by an error of its own',
} as const;
export type HandsRule = keyof typeof HandsRules;

/** What counts of the promises; a mend tightens them. */
export interface HandsBounds {
  /** An off may be given to a machine that has been heard again for so long, ms: what the recheck may be late. */
  staleRecheckMs: number;
  /** With faults over, so long after, ms, dead machines are fenced and accepted jobs have ended. */
  settledMs: number;
}

/** A recheck's answer counts for 500 ms, by the fencer's clock; what the guard needs to start comes after it was given. */
export const presentBounds: HandsBounds = { staleRecheckMs: 510, settledMs: 120_000 };

/** Of its ttl, a lease is valid from the moment at which its last write was sent. */
const VALID = 0.85;
/** A clock may be so much slower than ours, and what reaches the server took so long at most, ms. */
export const SLOWEST = 0.99;
const LATENCY_MS = 50;

/** Takes a takeover after the guard has ended what the former holder had begun, ms. */
const JUST_MS = 8_000;

/** A device as it is: at another address it is another one. */
const placeOf = (d: PowerDevice): string => `${d.id} ${identityBasis(d)}`;

/** A command as the record of its incident names it. */
type Intent = PowerCommand & { key: string };

/** Of a server that lost its last writes, a number is given again: to another intent, of a later moment. */
export const intentKey = (incident: string | undefined, c: PowerCommand): string => `${incident}/${c.n} of ${c.at}`;

/**
 * Intents that this write of a node's record has brought, of what changes its power. A new incident goes on with the log
 * of the one before.
 */
export const freshIntents = (before: IncidentRecord | undefined, now: IncidentRecord): PowerCommand[] => {
  const known = new Set((before?.commands ?? []).map((c) => `${c.n} of ${c.at}`));
  return now.commands.filter((c) => c.verb !== 'status' && c.endedAt === undefined && !known.has(`${c.n} of ${c.at}`));
};

interface Run {
  worker: string;
  step: string;
}

/** A device's word to the fencing leader that it is another machine's. */
interface Denial {
  node: string;
  /** Of the leader's term. */
  epoch: number;
  /** That leader has ended an attempt, or a level, since: with that it is on record. */
  isKnown: boolean;
}

/** The last write of a lease. */
interface LeaseWrite {
  process: string;
  /** Empty: released, or deleted. */
  holder: string;
  token: number;
  revision: number;
  atMs: number;
  ttlMs: number;
}

export interface HandsOracleParts {
  now: () => number;
  chassis: ReadonlyMap<string, Chassis>;
  bounds: HandsBounds;
  /** Its BMC has yet to carry out an `on`. */
  owesOn: (node: string) => boolean;
  /** An `off` of the node was written. */
  intended: (node: string) => void;
}

/** Its node is to be powered on, or a person has ordered so or a shutdown, and nobody has dealt with that yet. */
export const isPowerOwed = ({ phase, powerOn, order }: IncidentRecord): boolean =>
  (phase === 'recovered' && powerOn?.wanted === true && powerOn.done !== true) ||
  (order !== undefined && order.done !== true);

/**
 * Knows every chassis, command, record and run, and says which rule was broken. Times in virtual ms.
 * @typeParam More rules of who knows more of the world
 */
export class HandsOracle<More extends string = never> {
  readonly violations: HandsViolation<HandsRule | More>[] = [];
  /** How often something came near to what must not be: a rule that never met its case says nothing. */
  readonly probes = new Map<string, number>();
  /** As last written. */
  protected readonly incidents = new Map<string, IncidentRecord>();
  /** Node → its incident before, as it was when the present one took its place. */
  private readonly replaced = new Map<string, IncidentRecord>();
  protected readonly jobs = new Map<string, JobRecord>();
  private readonly leases = new Map<string, LeaseWrite>();
  /** When each fencer last wrote that it leads. */
  private readonly ledAt = new Map<string, LeaseWrite>();
  /** Intents, by {@link intentKey}: when each was written, and which were sent. */
  private readonly intents = new Map<string, number>();
  private readonly sent = new Set<string>();
  /** Of leases that the oracle was told were acquired: the last token. */
  private readonly acquired = new Map<string, number>();
  private readonly running = new Map<string, Set<Run>>();
  /** Fencer → node → the reads whose outcome it has. */
  private readonly reads = new Map<string, Map<string, ReadOutcome[]>>();
  /** Fencers and jobs: when the guard last ended a command, or a playbook, of it. */
  private readonly cutAt = new Map<string, number>();
  /** As last written, like the incidents; of one that was deleted the last. */
  private readonly nodes = new Map<string, NodeRecord>();
  /** Device, see {@link placeOf} → when it was last asked who it is, and did not say. */
  private readonly unsaidAt = new Map<string, number>();
  /** Device, see {@link placeOf} → that it has denied it, and has not said since that it is its node's. */
  private readonly denials = new Map<string, Denial>();
  /** Nodes whose off went to another machine, and nobody could know. */
  private readonly astray = new Set<string>();
  /** Node → when its own device was last asked who it is, and said so. */
  private readonly identifiedAt = new Map<string, number>();
  private readonly livesSince = new Map<string, number>();
  private readonly orderedOn = new Map<string, number>();
  /** By the device: not by the word of a person. */
  private readonly provenAt = new Map<string, number>();
  private pause: { sinceMs: number; untilMs: number } | undefined;

  readonly bounds: HandsBounds;
  protected readonly now: () => number;
  private readonly chassis: ReadonlyMap<string, Chassis>;

  constructor(private readonly p: HandsOracleParts) {
    this.bounds = p.bounds;
    this.now = p.now;
    this.chassis = p.chassis;
  }

  probe(name: string): void {
    this.probes.set(name, (this.probes.get(name) ?? 0) + 1);
  }

  violate(rule: HandsRule | More, what: string): void {
    this.violations.push({ time: Math.round(this.now()), rule, what });
  }

  /** A write that the server has taken. `text` is empty where the key was deleted. */
  stored(bucket: string, key: string, text: string, revision: number): void {
    if (text === '') return this.deleted(bucket, key);
    if (bucket === 'incidents') this.incidentStored(key, decodeIncident(key, text));
    else if (bucket === 'leases') this.leaseStored(key, JSON.parse(text) as LeaseRecord, revision);
    else if (bucket === 'jobs') this.jobStored(key, JSON.parse(text) as JobRecord);
    else if (bucket === 'nodes') this.nodes.set(key, JSON.parse(text) as NodeRecord);
  }

  /** A bucket was deleted and made anew. */
  madeAnew(bucket: string): void {
    if (bucket === 'leases') for (const key of this.leases.keys()) this.deleted(bucket, key);
  }

  private deleted(bucket: string, key: string): void {
    const lease = this.leases.get(key);
    // Of a job's lease no record has the token: it may begin anew.
    const isOfJob = key.startsWith('job=');
    if (bucket === 'leases' && lease !== undefined)
      this.leases.set(key, { ...lease, holder: '', ...(isOfJob && { token: 0 }) });
    const job = this.jobs.get(key);
    if (bucket !== 'jobs' || job === undefined) return;
    if (!isEndedJob(job)) this.violate('job-lost', `${key} was deleted, and is ${job.status}`);
    this.jobs.delete(key);
  }

  /** A process begins: what was known to an earlier one of its name, it does not know. */
  born(process: string): void {
    this.reads.delete(process);
  }

  /** Whoever wrote the lease last; empty: nobody holds it. */
  holderOf(lease: string): string {
    return this.leases.get(lease)?.holder ?? '';
  }

  /** A process was told that it holds the lease. @param others hold it by their own judgement, now */
  leaseAcquired(lease: string, name: string, token: number, others: readonly string[]): void {
    if (others.length > 0) this.violate('two-holders', `${name} and ${others.join(' and ')} hold ${lease}`);
    const before = this.acquired.get(lease) ?? 0;
    if (token <= before) this.violate('token-back', `${name} holds ${lease} with token ${token} after ${before}`);
    this.acquired.set(lease, token);
  }

  /** A pause was acknowledged. */
  paused(untilMs: number): void {
    if ([...this.incidents.values()].some(isOpenIncident)) this.probe('a pause acknowledged with an incident open');
    this.pause = { sinceMs: this.now(), untilMs };
  }

  /** Somebody asks for another end. It may count before it is acknowledged. */
  pauseMayEnd(untilMs: number): void {
    if (this.pause !== undefined) this.pause.untilMs = Math.min(this.pause.untilMs, untilMs);
  }

  /** Somebody asks for its end. */
  resumed(): void {
    this.pause = undefined;
  }

  /** A machine's system came up, or ended. */
  lives(node: string, is: boolean): void {
    if (!is) this.livesSince.delete(node);
    else if (!this.livesSince.has(node)) this.livesSince.set(node, this.now());
  }

  /** The guard has ended a command of this fencer, or refused it. */
  commandCut(fencer: string): void {
    this.cutAt.set(fencer, this.now());
  }

  /** A command has left a fencer's host. */
  commandSent(node: string, c: SentCommand): void {
    if (c.verb === 'status') return;
    if (c.machine !== node) this.judgeMachine(node, c);
    this.judgeDeadline(node, c);
    const intent = this.intentOf(node, c);
    if (intent === undefined) {
      this.violate('no-intent', `${c.fencer} sent ${c.verb} to ${c.device.id} of ${node} without an intent`);
      return;
    }
    const { key } = intent;
    if (this.sent.has(key)) this.violate('no-intent', `${c.fencer} sent ${c.verb} to ${node}: ${key} is given twice`);
    this.sent.add(key);
    const epoch = this.leases.get('fencer')?.token ?? 0;
    if (intent.epoch < epoch)
      this.violate('two-fencers', `${c.fencer} of epoch ${intent.epoch} sent ${c.verb} to ${node} in epoch ${epoch}`);
    if (c.verb === 'on') this.orderedOn.set(node, this.now());
    if (c.verb === 'off') {
      this.judgeIdentity(node, c);
      this.offSent(node, c);
    }
  }

  /**
   * Whose a device is that was moved since it was known, and does not say who it is, nobody can tell before its off; but
   * where it has said so in an earlier attempt it is known.
   */
  private judgeMachine(node: string, { fencer, verb, device, machine, begunMs }: SentCommand): void {
    const agoMs = begunMs - (this.unsaidAt.get(placeOf(device)) ?? -Infinity);
    const record = this.nodes.get(node);
    const isKnown = record?.powerLevels.flat().some((d) => identityStanding(record, d) !== 'unproven') === true;
    const hasDenied = this.denials.get(placeOf(device))?.isKnown === true;
    if (isKnown || hasDenied || agoMs > IDENTITY_FRESH_MS / SLOWEST + LATENCY_MS)
      return this.violate('wrong-machine', `${fencer} sent ${verb} to ${device.id}: ${machine}`);
    this.astray.add(node);
    this.probe('another machine by a device that nobody knows');
  }

  private judgeIdentity(node: string, { fencer, device, begunMs }: SentCommand): void {
    // Where no device was proven by what it says of itself there is nothing to ask for.
    const record = this.nodes.get(node);
    if (record === undefined || !isProvenByWords(record)) return;
    const agoMs = begunMs - (this.identifiedAt.get(node) ?? -Infinity);
    if (agoMs > IDENTITY_FRESH_MS / SLOWEST + LATENCY_MS)
      this.violate(
        'unread-off',
        `${fencer} sent off to ${device.id}, which said ${Math.round(agoMs)} ms before who it is`,
      );
    else this.probe('an off to a device that said who it is');
  }

  /** A fencer has the outcome of its read. */
  readEnded(node: string, fencer: string, outcome: ReadOutcome): void {
    const known = this.reads.get(fencer) ?? new Map<string, ReadOutcome[]>();
    this.reads.set(fencer, known);
    known.set(node, [...(known.get(node) ?? []), outcome].slice(-2));
    if (outcome.told === 'off') this.probe('read as off');
  }

  /** The device was asked at this time who it is, and did not say. */
  unsaid(device: PowerDevice, startedMs: number): void {
    const place = placeOf(device);
    this.unsaidAt.set(place, Math.max(startedMs, this.unsaidAt.get(place) ?? 0));
  }

  /** The device has said to this fencer that it is another machine's: what it says outside of a fencing is inventory's. */
  denies(node: string, device: PowerDevice, fencer: string): void {
    if (this.incidents.get(node)?.phase !== 'fencing' || this.holderOf('fencer') !== fencer) return;
    this.denials.set(placeOf(device), { node, epoch: this.leases.get('fencer')?.token ?? 0, isKnown: false });
  }

  /** The node's own device has said who it is, to whichever fencer asked it at this time. */
  identified(node: string, device: PowerDevice, startedMs: number): void {
    this.denials.delete(placeOf(device));
    this.identifiedAt.set(node, Math.max(startedMs, this.identifiedAt.get(node) ?? 0));
  }

  /** The power of a machine was changed by a command of so long ago. */
  switched(node: string, on: boolean, sentMs: number, by: string): void {
    const proven = this.provenAt.get(node);
    if (!on || proven === undefined || sentMs >= proven) return;
    const agoMs = Math.round(proven - sentMs);
    this.violate('proof-undone', `${node} is on: ${by} had ordered it ${agoMs} ms before it was proven off`);
  }

  /** A playbook of a job begins on its nodes; returns what tells its end. */
  runBegins(job: string, worker: string, step: string): (how: GuardEnd) => void {
    const runs = this.running.get(job) ?? new Set();
    this.running.set(job, runs);
    for (const other of runs)
      this.violate('job-twice', `${worker} runs ${step} of ${job} while ${other.worker} runs ${other.step} of it`);
    const run = { worker, step };
    runs.add(run);
    return (how) => {
      runs.delete(run);
      if (how !== 'exit') this.cutAt.set(job, this.now());
    };
  }

  /** Every accepted job has ended, and no dead machine waits for its power-off. */
  get isSettled(): boolean {
    return this.openJobs().length === 0 && this.stuckIncidents().length === 0 && this.stuckOrders().length === 0;
  }

  /** With faults over for {@link HandsBounds.settledMs}: what has not come to its end. */
  judgeEnd(): void {
    for (const job of this.openJobs())
      this.violate('job-lost', `${job.id} is ${job.status}, taken ${job.generation} times`);
    for (const i of this.stuckOrders())
      this.violate('on-stuck', `the incident of ${i.node} is ${i.phase}: ${JSON.stringify(i.order ?? i.powerOn)}`);
    for (const i of this.stuckIncidents())
      this.violate('fencing-stuck', `the incident of ${i.node} is ${i.phase}: ${i.steps.at(-1)?.detail ?? ''}`);
  }

  protected openJobs(): JobRecord[] {
    return [...this.jobs.values()].filter((job) => !isEndedJob(job));
  }

  private stuckIncidents(): IncidentRecord[] {
    return [...this.incidents.values()].filter(
      (i) => (i.phase === 'fencing' || i.phase === 'failed') && this.chassis.get(i.node)?.lives !== true,
    );
  }

  private stuckOrders(): IncidentRecord[] {
    return [...this.incidents.values()].filter(isPowerOwed);
  }

  /** The last that was there when the command was begun. */
  private intentOf(node: string, c: SentCommand): Intent | undefined {
    const now = this.incidents.get(node);
    const intent = this.intentIn(now, c);
    const before = this.replaced.get(node);
    const late = intent === undefined ? this.intentIn(before, c) : undefined;
    if (late === undefined) return intent;
    this.probe('a command is sent whose incident another has replaced');
    // Whoever proves the node off now must know of it. Of a shutdown it need not.
    const isKnown = now?.onBefore?.incident === before?.id && now?.onBefore?.n === late.n;
    return c.verb === 'soft' || isKnown ? late : undefined;
  }

  private intentIn(i: IncidentRecord | undefined, { fencer, device, verb, begunMs }: SentCommand): Intent | undefined {
    const isIt = (c: PowerCommand): boolean =>
      c.verb === verb &&
      c.device === device.id &&
      c.fencer === fencer &&
      c.endedAt === undefined &&
      (this.intents.get(intentKey(i?.id, c)) ?? Infinity) <= begunMs;
    const found = i?.commands.findLast(isIt);
    return found && { ...found, key: intentKey(i?.id, found) };
  }

  private judgeDeadline(node: string, c: SentCommand): void {
    const now = this.now();
    if (now >= c.deadlineMs)
      this.violate(
        'after-deadline',
        `${c.fencer} sent ${c.verb} to ${node} ${Math.round(now - c.deadlineMs)} ms past its deadline`,
      );
    const led = this.ledAt.get(c.fencer);
    const endsMs = led === undefined ? 0 : led.atMs + (led.ttlMs * VALID) / SLOWEST + LATENCY_MS;
    if (c.deadlineMs > endsMs)
      this.violate(
        'after-deadline',
        `the deadline of ${c.verb} to ${node} is ${Math.round(c.deadlineMs - endsMs)} ms past the lease of ${c.fencer}`,
      );
  }

  private offSent(node: string, { fencer, begunMs }: SentCommand): void {
    const since = this.livesSince.get(node);
    const incident = this.incidents.get(node);
    if (since === undefined || (incident !== undefined && this.isWanted(node, incident, since))) return;
    this.probe('off sent to a machine that lives again');
    // From then on nobody can take it back: opening a session may take a BMC long.
    const forMs = begunMs - since;
    if (forMs > this.bounds.staleRecheckMs)
      this.violate('living-off', `${fencer} gave off to ${node}, which had lived again for ${Math.round(forMs)} ms`);
  }

  /** A person wants it off, alive or not: who orders a machine off that lives knows that it does. */
  protected isWanted(_node: string, i: IncidentRecord, _livesSinceMs: number): boolean {
    return i.cause === 'manual';
  }

  private incidentStored(node: string, i: IncidentRecord): void {
    const before = this.incidents.get(node);
    this.incidents.set(node, i);
    if (before !== undefined && before.id !== i.id) this.replaced.set(node, before);
    if (before?.id === i.id && (i.epoch ?? 0) < (before.epoch ?? 0))
      this.violate('token-back', `${i.id}: epoch ${i.epoch ?? 0} after ${before.epoch}`);
    for (const c of i.commands) {
      const intent = intentKey(i.id, c);
      if (c.verb !== 'status' && !this.intents.has(intent)) this.intents.set(intent, this.now());
    }
    const fresh = freshIntents(before, i);
    if (fresh.some((c) => c.verb === 'off')) this.p.intended(node);
    const isAttemptOver = i.phase === 'failed' || i.phase === 'fenced' || i.level !== before?.level;
    if (before?.phase === 'fencing' && isAttemptOver) this.attemptEnded(node, i.epoch ?? 0);
    this.judgePause(node, fresh);
    if (i.phase !== 'fenced' || before?.phase === 'fenced') return;
    this.probe(`fenced: ${i.proof?.kind ?? 'no proof'}`);
    if (i.proof === undefined || i.proof.kind === 'manual') return;
    // What such a proof leads to is judged by where work runs.
    if (this.astray.delete(node)) return;
    this.provenAt.set(node, this.now());
    const fencer = i.commands.findLast((c) => c.verb === 'status')?.fencer ?? '';
    const last = this.reads.get(fencer)?.get(node) ?? [];
    if (last.length < 2 || last.some((r) => r.told !== 'off' || !r.wasOff))
      this.violate(
        'false-proof',
        `${node} is fenced (${i.proof.kind}), and ${fencer} has not read it as off twice while it was`,
      );
    const chassis = this.chassis.get(node);
    // What a person does after the second read is known to nobody.
    const switched = chassis?.changes.at(-1);
    const byHand = switched?.by === 'by hand' && switched.atMs >= (last.at(-1)?.atMs ?? Infinity);
    if (chassis?.on === true && !byHand) this.violate('false-proof', `${node} is fenced (${i.proof.kind}), and is on`);
    if (this.p.owesOn(node))
      this.violate('false-proof', `${node} is fenced (${i.proof.kind}), and its BMC has yet to carry out an on`);
    if ((this.orderedOn.get(node) ?? -Infinity) > this.now() - 16_000) this.probe('fenced soon after an on');
  }

  private attemptEnded(node: string, epoch: number): void {
    for (const denial of this.denials.values())
      if (denial.node === node && denial.epoch === epoch && !denial.isKnown) {
        denial.isKnown = true;
        this.probe('an attempt ended with a device that had denied it');
      }
  }

  /** A pause is meant for both directions, and for whoever orders. */
  private judgePause(node: string, fresh: readonly PowerCommand[]): void {
    const { pause } = this;
    if (pause === undefined || this.now() >= pause.untilMs) return;
    const forMs = Math.round(this.now() - pause.sinceMs);
    for (const { verb } of fresh)
      this.violate('intent-after-pause', `${verb} of ${node} was written ${forMs} ms after a pause was acknowledged`);
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
    const now = this.now();
    if (key === 'fencer' && before !== undefined && r.holder !== before.holder && this.wasCut(before.holder))
      this.probe('a command cut short, then another fencer took the lease');
    // Who holds by a write that a server has lost is known to nobody else; that two do is judged as one is told so.
    const isKnown = before !== undefined && revision > before.revision;
    if (before !== undefined && !isKnown) this.probe('a lease is taken of which a server had lost a write');
    if (isKnown && before.holder !== '' && before.process !== process) {
      const forMs = before.atMs + before.ttlMs * VALID - now;
      if (forMs > 0)
        this.violate(
          'two-holders',
          `${r.holder} took ${key}, which ${before.holder} held ${Math.round(forMs)} ms more`,
        );
    }
    const highest = Math.max(token, before?.token ?? 0);
    const write = { process, holder: r.holder, token: highest, revision, atMs: now, ttlMs: r.ttlMs };
    this.leases.set(key, write);
    if (key === 'fencer' && r.holder !== '') this.ledAt.set(r.holder, write);
  }

  private wasCut(whose: string): boolean {
    return (this.cutAt.get(whose) ?? -Infinity) > this.now() - JUST_MS;
  }

  private jobStored(id: string, job: JobRecord): void {
    const before = this.jobs.get(id);
    this.jobs.set(id, job);
    if (before === undefined) return;
    if (job.generation < before.generation)
      this.violate('job-twice', `${id} went back from generation ${before.generation} to ${job.generation}`);
    if (isEndedJob(before) && !isEndedJob(job))
      this.violate('job-twice', `${id} had ended, and is ${job.status} again`);
    if (job.generation <= 1 || job.generation === before.generation) return;
    this.probe('a job was taken over');
    if (this.wasCut(id)) this.probe('a playbook cut short, then another took its job over');
  }
}
