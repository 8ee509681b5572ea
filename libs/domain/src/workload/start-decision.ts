import { isOpenIncident, type GateAnswer, type IncidentRecord, type NodeRecord, type WorkloadRecord } from '#contracts';
import { isBeforeFencing } from '../incident/phases.js';
import { shutdownAwaited } from '../incident/shut-down.js';
import type { Bar } from './bar.js';
import { PUT } from './causes.js';
import { failedStart } from './failed-tries.js';
import { isGivenAnyway } from './owed-start.js';
import { isAnyUnheard, type SeenElsewhere, type StartCheck, type Unheard } from './where-it-runs.js';

/** What stands in the registry of a workload and of the node that it is to start on. */
export interface RegistryFacts {
  node: string;
  workload: WorkloadRecord | undefined;
  record: NodeRecord | undefined;
  incident: IncidentRecord | undefined;
  /** Boot that the node runs, by its agent's word; undefined: not known, which is a no. */
  boot: string | undefined;
}

/** What the nodes say. Reports that are fresh on the asker's clock. */
export interface FleetFacts {
  check: StartCheck;
  /** May the registry follow to where it is seen? Not to a node that counts as off, or is not enrolled. */
  mayFollow: (seenOn: string) => boolean;
  /** ms for which it is seen being started elsewhere, without a break; 0: by one look alone. */
  startingForMs: () => number;
}

/** A node that counts as powered off, or is to be, and that may run it: what was in a job's hands before the doubt is asked, too. */
interface Barred {
  barred: Bar | undefined;
}

/** Who asks, and by what. Which of the reasons stand against each is in {@link startQuestions}. */
export interface StartQuestions {
  /**
   * A unit that is about to start, by its node's agent. The registry is read live for this one question. `seenOn`: another
   * node whose fresh report says that it runs it. It may have begun there after the start was permitted.
   */
  gate: RegistryFacts & Barred & { seenOn: string | undefined };
  /** A provisioner, right before it starts the unit. */
  permission: RegistryFacts &
    Barred &
    FleetFacts & {
      /** Of the order that it carries out. */
      generation: number;
      /** Job that cleans the node up, and was admitted before this start. */
      cleanup: string | undefined;
    };
  /** The conductor, before it looks for a place or a start. */
  round: Barred;
  /** The conductor, before it hands an owed start to a job. */
  order: FleetFacts & {
    workload: WorkloadRecord;
    /** ms since this process first saw that it has left the node that names it. */
    leftForMs: () => number;
    /** Why the node is out of service for what is assigned to it. */
    out: () => string | undefined;
    /** ms until the next try after one that failed. */
    retryInMs: () => number;
  };
  /** The conductor, before it places what is assigned nowhere. */
  place: Pick<StartQuestions['order'], 'workload' | 'leftForMs'> & FleetFacts;
  /** The conductor, before what waits for its node is given to another one. */
  replace: Pick<FleetFacts, 'check' | 'startingForMs'> & {
    /** Its own node, where a boot of that may start it without asking. */
    startsByItselfOn: string | undefined;
  };
  /** An operator's word that it runs on a node, which is taken for a start that is done. */
  put: StartQuestions['put-again'] & Pick<RegistryFacts, 'incident'>;
  /** The same once it is written: whoever deletes, replaces or cleans up a node has made sure before that it has none. */
  'put-again': Pick<RegistryFacts, 'node' | 'record'> & {
    /** Edit that holds the node, or job that cleans it up. */
    holder: string | undefined;
  };
  /** Whoever empties a node, before the first of its workloads is stopped there. */
  move: { name: string; isInIncident: boolean; isSilent: boolean; unheard: Unheard };
}
export type StartAsker = keyof StartQuestions;

/** A look at what a node runs may be 5 s old when it is reported: who has left it is believed to be back after this, ms. */
export const LATE_LIST_MS = 6_000;
/**
 * The gate of a unit that a node starts at its boot refuses it well within this, ms: until then nothing has run there. A
 * unit that is seen being started for longer may try again for ever.
 */
export const GATE_MS = 30_000;

/** A reason against a start: a sentence where it stands, undefined where it does not. */
type Reason<F> = (f: F) => string | undefined;
const when = (stands: boolean, text: () => string): string | undefined => (stands ? text() : undefined);
const elsewhere = (check: StartCheck): SeenElsewhere | undefined => (check.kind === 'elsewhere' ? check : undefined);

/**
 * All causes at once: who mends the one has the others still before him.
 * @param subject of what "it" is, where that is not said before
 */
const unheardText = ({ silent, named, ungated }: Unheard, mute: (nodes: string) => string, subject = ''): string => {
  const unproven = (nodes: readonly string[], why: string): string[] =>
    nodes.length === 0
      ? []
      : [`${subject}${nodes.join(', ')} ${why}, and ${nodes.length === 1 ? 'is' : 'are'} not proven off.`];
  return [
    ...(silent.length === 0 ? [] : [mute(silent.join(', '))]),
    ...unproven(named, 'named it last'),
    ...unproven(ungated, 'may have started it without asking'),
  ].join(' ');
};

function barText(b: Bar): string {
  switch (b.is) {
    case 'in-doubt':
      return `What proved ${b.node} off is in doubt, or proves nothing: it may run there still.`;
    case 'unreadable':
      return `The incident of ${b.node} cannot be read, and it is silent: it may run there still.`;
    case 'unseen':
      return 'Nobody can say now whether it was taken from a node that may still run it.';
  }
}

type OfWorkload = Pick<RegistryFacts, 'workload'>;
type OfNode = Pick<RegistryFacts, 'record'>;

/** Every reason for which a workload is not started, by its code. */
export const startReasons = {
  WORKLOAD_UNKNOWN: (f: OfWorkload) => when(f.workload === undefined, () => 'There is no such workload.'),
  NOT_WANTED: (f: OfWorkload) => when(f.workload?.desired !== 'running', () => 'It shall not run.'),
  UNASSIGNED: (f: OfWorkload) => when(f.workload?.assignment === undefined, () => 'It is assigned to no node.'),
  ASSIGNED_ELSEWHERE: ({ workload, node }: Pick<RegistryFacts, 'workload' | 'node'>) => {
    const at = workload?.assignment;
    return when(at?.node !== node, () => `It is assigned to ${at?.node}, generation ${at?.generation}.`);
  },
  STOPPING: (f: OfWorkload) =>
    when(f.workload?.stop !== undefined, () => 'It is to leave this node, and is being stopped here.'),
  HELD: (f: OfWorkload) => when(f.workload?.held !== undefined, () => `It is held: ${f.workload?.held}`),
  NOT_DUE: ({ workload: w }: OfWorkload) =>
    when(
      w?.start !== undefined && w.start.job === undefined && w.start.cause !== PUT,
      () => 'Its start here is not yet due: the other nodes are looked at first.',
    ),
  STALE: (f: { workload: WorkloadRecord | undefined; generation: number }) => {
    const current = f.workload?.assignment?.generation;
    return when(current !== f.generation, () => `Generation ${f.generation} is no longer current: it is ${current}.`);
  },
  RETRY: ({ workload, retryInMs }: { workload: WorkloadRecord; retryInMs: () => number }) =>
    retryInMs() > 0 ? failedStart(workload) : undefined,

  NODE_UNKNOWN: (f: OfNode) => when(f.record === undefined, () => 'The node is not known.'),
  REVOKED: ({ record: n }: OfNode) =>
    when(n?.revoked !== undefined, () => `The node's agent was revoked: ${n?.revoked?.reason}.`),
  // A node that is about to be, or was, powered off starts nothing: not between the off and the clearing either.
  INCIDENT: ({ incident: i }: Pick<RegistryFacts, 'incident'>) =>
    when(i !== undefined && isOpenIncident(i) && !isBeforeFencing(i), () => `The node's incident is ${i?.phase}.`),
  // An operator's word would be undone at once.
  OPEN_INCIDENT: ({ incident: i }: Pick<RegistryFacts, 'incident'>) =>
    when(i !== undefined && isOpenIncident(i), () => 'The node has an open incident.'),
  // It would go down with its node.
  SHUTS_DOWN: ({ incident, record }: Pick<RegistryFacts, 'incident' | 'record'>) => {
    const why = shutdownAwaited(incident, record);
    return why === undefined ? undefined : `The node is about to shut down: ${why}.`;
  },
  LEAVES_BY_INCIDENT: (f: { isInIncident: boolean }) =>
    when(f.isInIncident, () => 'It has an open incident, which takes its workloads away once it is proven off.'),
  CONFIRMED_OFF: ({ record: n }: OfNode) =>
    when(n?.confirmedOff !== undefined, () => 'The node counts as powered off.'),
  MAINTENANCE: ({ record: n }: OfNode) =>
    when(n?.maintenance !== undefined, () => `The node is in maintenance: ${n?.maintenance?.reason}.`),
  RETURNED: ({ record: n }: OfNode) =>
    when(
      n?.pendingReturn !== undefined,
      () => `The node has returned (${n?.pendingReturn?.reason}) and waits for its check.`,
    ),
  BOOT_UNKNOWN: ({ record: n, boot }: Pick<RegistryFacts, 'record' | 'boot'>) =>
    when(n?.enrolled === true && boot === undefined, () => 'It is not known which boot the node runs.'),
  REBOOTED: ({ record: n, boot }: Pick<RegistryFacts, 'record' | 'boot'>) =>
    when(n?.enrolled === true && boot !== n.bootId, () => 'The node has rebooted and waits for its check.'),
  CLEANUP: (f: { cleanup: string | undefined; node: string }) =>
    when(f.cleanup !== undefined, () => `Held: ${f.cleanup} cleans up ${f.node}, and was admitted before this start.`),
  RESERVED: (f: { holder: string | undefined; node: string }) =>
    when(f.holder !== undefined, () => `${f.node} is held by ${f.holder}, try again when it has ended`),
  OUT_OF_SERVICE: (f: { out: () => string | undefined }) => f.out(),

  BARRED: ({ barred }: Barred) => barred && barText(barred),
  // Its report may be of before its stop.
  JUST_LEFT: ({ workload, check, leftForMs }: StartQuestions['place']) => {
    const seen = elsewhere(check);
    return when(
      seen !== undefined && workload.move?.from === seen.node && leftForMs() < LATE_LIST_MS,
      () => `${seen?.node}, which it has left, still names it.`,
    );
  },
  RUNS_ON_THE_DEAD: ({ check, mayFollow }: FleetFacts) => {
    const seen = elsewhere(check);
    return when(
      seen !== undefined && !mayFollow(seen.node),
      () => `Held: ${seen?.node} says that it runs it, and counts as powered off or is not enrolled.`,
    );
  },
  NAMED_BY_THE_LEFT: ({ workload, check }: OfWorkload & Pick<FleetFacts, 'check'>) => {
    const seen = elsewhere(check);
    return when(
      seen !== undefined && workload?.move?.from === seen.node,
      () => `Held: ${seen?.node}, which it has left, still names it.`,
    );
  },
  // To follow it would open the gate that is about to refuse it, and take it from where it is to run.
  STARTS_ELSEWHERE: ({ check, startingForMs }: Pick<FleetFacts, 'check' | 'startingForMs'>) => {
    const { node, starting } = elsewhere(check) ?? {};
    if (starting === undefined) return undefined;
    // Its age is asked for in any case: it is counted while the other word lacks, too.
    const forMs = startingForMs();
    const { awaits } = starting;
    if (awaits !== undefined)
      return `Held: it is being started on ${node}, and ${awaits} does not say that it does not run it.`;
    return when(forMs <= GATE_MS, () => `Held: it is being started on ${node}, whose start gate may still refuse it.`);
  },
  RUNS_ELSEWHERE: ({ check }: Pick<FleetFacts, 'check'>) => {
    const seen = elsewhere(check);
    return when(seen !== undefined, () => `It runs on ${seen?.node}: the registry was corrected.`);
  },
  SEEN_RUNNING: ({ seenOn: node }: { seenOn: string | undefined }) =>
    when(node !== undefined, () => `${node} says that it runs it.`),
  // However long it is not seen there: its unit may wait for a disk, or be tried again.
  STARTS_BY_ITSELF: ({ startsByItselfOn: node }: { startsByItselfOn: string | undefined }) =>
    when(node !== undefined, () => `${node} may start it by itself at any time: it has no start gate there.`),
  RUNS_THERE: ({ check }: Pick<FleetFacts, 'check'>) => when(check.kind === 'there', () => 'It runs there already.'),
  // On its own node is no case for a start: the next look at the report notes it.
  RUNS_AS_ORDERED: ({ workload, check }: { workload: WorkloadRecord } & Pick<FleetFacts, 'check'>) =>
    when(check.kind === 'there' && !isGivenAnyway(workload), () => 'It runs there already.'),
  SILENT: ({ check }: Pick<FleetFacts, 'check'>) =>
    check.kind === 'unknown'
      ? `Held: ${unheardText(check, (nodes) => `it is not known what runs on ${nodes}.`)}`
      : undefined,
  SOURCE_SILENT: (f: { isSilent: boolean }) =>
    when(
      f.isSilent,
      () =>
        'Its node does not say what it runs. If that is dead: power it off, then release that incident, or confirm it.',
    ),
  OTHERS_SILENT: ({ name, unheard }: { name: string; unheard: Unheard }) =>
    when(isAnyUnheard(unheard), () =>
      unheardText(unheard, (nodes) => `${nodes} must say what they run before anything starts.`, `${name}: `),
    ),
} satisfies Record<string, Reason<never>>;
export type StartReason = keyof typeof startReasons;

/** The codes whose reasons can be told by these facts. */
type Answerable<F> = { [C in StartReason]: F extends Parameters<(typeof startReasons)[C]>[0] ? C : never }[StartReason];

const registered = [
  'WORKLOAD_UNKNOWN',
  'NOT_WANTED',
  'UNASSIGNED',
  'ASSIGNED_ELSEWHERE',
  'STOPPING',
  'HELD',
  'NOT_DUE',
  'NODE_UNKNOWN',
  'REVOKED',
  'INCIDENT',
  'SHUTS_DOWN',
  'CONFIRMED_OFF',
  'MAINTENANCE',
  'RETURNED',
  'BOOT_UNKNOWN',
  'REBOOTED',
] as const satisfies readonly Answerable<RegistryFacts>[];

/** Who asks → the reasons that stand against it there, in the order in which they are told. */
export const startQuestions: { readonly [A in StartAsker]: readonly Answerable<StartQuestions[A]>[] } = {
  gate: [...registered, 'BARRED', 'SEEN_RUNNING'],
  permission: [
    ...(['CLEANUP', ...registered, 'STALE', 'BARRED'] as const),
    ...(['RUNS_ON_THE_DEAD', 'NAMED_BY_THE_LEFT', 'STARTS_ELSEWHERE', 'RUNS_ELSEWHERE', 'SILENT'] as const),
  ],
  round: ['BARRED'],
  order: [
    'JUST_LEFT',
    'RUNS_ON_THE_DEAD',
    'STARTS_ELSEWHERE',
    'RUNS_ELSEWHERE',
    'RUNS_AS_ORDERED',
    'OUT_OF_SERVICE',
    'SILENT',
    'RETRY',
  ],
  // Of silent nodes nothing is asked yet: its start is owed then, and looked at once more.
  place: ['JUST_LEFT', 'RUNS_ON_THE_DEAD', 'STARTS_ELSEWHERE', 'RUNS_ELSEWHERE'],
  replace: ['STARTS_BY_ITSELF', 'STARTS_ELSEWHERE', 'RUNS_ELSEWHERE', 'RUNS_THERE', 'SILENT'],
  put: ['NODE_UNKNOWN', 'RESERVED', 'CONFIRMED_OFF', 'OPEN_INCIDENT', 'SHUTS_DOWN'],
  'put-again': ['NODE_UNKNOWN', 'RESERVED'],
  move: ['LEAVES_BY_INCIDENT', 'SOURCE_SILENT', 'OTHERS_SILENT'],
};

/** Why it is not started: a code of the table, and a sentence for people. */
export interface StartRefusal<C extends StartReason = StartReason> {
  code: C;
  why: string;
}

/** May this workload be started there, now? The first reason against it; undefined: it may. */
export function startRefusal<A extends StartAsker>(
  asker: A,
  f: StartQuestions[A],
): StartRefusal<Answerable<StartQuestions[A]>> | undefined {
  for (const code of startQuestions[asker]) {
    // The list names only what these facts can answer.
    const why = (startReasons[code] as Reason<StartQuestions[A]>)(f);
    if (why !== undefined) return { code, why };
  }
  return undefined;
}

/**
 * The answer to a start gate. Everything unknown is a no: a node that nobody vouches for starts nothing.
 * @param asked generation that the unit was made for; undefined: whichever is current
 */
export function askStartGate(f: StartQuestions['gate'], asked?: number): GateAnswer & { code?: StartReason } {
  const refused = startRefusal('gate', f);
  const at = f.workload?.assignment;
  if (refused !== undefined || at === undefined)
    return { allowed: false, reason: refused?.why ?? '', code: refused?.code ?? 'UNASSIGNED' };
  const generation = asked !== undefined && asked === at.followed ? at.followed : at.generation;
  return { allowed: true, generation, reason: `Assigned here, generation ${generation}.` };
}
