import type { Assignment, Move, StartOwed, StopOwed, WorkloadRecord } from '#contracts';
import { ENDED, PUT, REBOOT, RUN_AGAIN } from './causes.js';
import { isFailing, stillLeftOut } from './failed-starts.js';
import { stageOf, type WorkloadStage } from './stage.js';

/** What an operator registers of a workload; all else in its record is Muster's. */
export type WorkloadSettings = Pick<
  WorkloadRecord,
  'name' | 'desired' | 'priority' | 'weight' | 'recovery' | 'hostGroup'
>;

/**
 * What happens to a workload, with what was decided on. A `generation` is that of the decision: one that is no longer
 * current decides nothing.
 */
export type WorkloadEvent =
  /** Registered, or edited. `node`: an operator's word that it runs there, while it is assigned nowhere. */
  | { kind: 'put'; settings: WorkloadSettings; node?: string }
  /** Back to what it was before a `put` that was refused after it was written. */
  | { kind: 'restored'; was: WorkloadRecord; generation: number }
  /** Placed on a node, which owes it the start from then on. */
  | { kind: 'assigned'; to: string; cause: string; generation: number }
  /** Taken away from a node that cannot run it: its power is proven off, or it has said that it does not. */
  | { kind: 'cleared'; from: string }
  /** From a node that certainly does not run it (its gate refuses, its report says so) to another. */
  | { kind: 'moved'; from: string; to: string; generation: number }
  /**
   * Seen running on another node than the registry says: the registry follows the world, and nothing is started.
   * `followed`: generation of that run.
   */
  | { kind: 'corrected'; seenOn: string; generation: number; followed: number }
  /** The same where it is only being started: its gate refuses it until its start is given, which is owed for this cause. */
  | { kind: 'corrected'; seenOn: string; generation: number; cause: string }
  /** Its start is handed to a job; the start gates open with it. */
  | { kind: 'start-given'; job: string; generation: number }
  /** Its start is done: by its job's word, or seen in the report of its node. */
  | { kind: 'started'; generation: number; boot: string | undefined }
  /** The job did not start it. `seen`: generation of the newer order, where its node refused this one as an older one. */
  | { kind: 'start-failed'; job: string; why: string; seen?: number | undefined }
  /** Its start waits for something: a sentence. While it is held the start gates refuse it. */
  | { kind: 'held'; why: string }
  /** Its node runs another boot than the one it was started under, and does not report it. */
  | { kind: 'lost'; boot: string }
  /** It has ended by itself where it is assigned. `at`: wall clock, for people. */
  | { kind: 'ended'; at: number }
  /** It runs on: how often it has ended before is forgotten. */
  | { kind: 'steady' }
  /** It shall not run, and runs all the same. */
  | { kind: 'stop-needed'; generation: number }
  /** It is to leave its node, also where another move has only just sent it there. */
  | { kind: 'move-ordered'; move: Move; generation: number }
  /** The same, since its node did not get it started. `at`: wall clock. */
  | { kind: 'given-up'; move: Move; generation: number; at: number }
  /** Its stop is handed to a job. */
  | { kind: 'stop-given'; job: string; generation: number }
  /** Its node has read back that nothing of it runs: it is stopped. */
  | { kind: 'stopped'; generation: number }
  /** The same of one that moves: it has left. */
  | { kind: 'left'; generation: number }
  /** The job did not stop it. `seen`: see `start-failed`. */
  | { kind: 'stop-failed'; job: string; why: string; seen?: number | undefined };

type EventOf<K extends WorkloadEvent['kind']> = Extract<WorkloadEvent, { kind: K }>;

/** A change that may be. */
export interface WorkloadChange<K extends WorkloadEvent['kind'] = WorkloadEvent['kind']> {
  /** Stage in which it may happen → those that it may end in. */
  stages: Readonly<Partial<Record<WorkloadStage, readonly WorkloadStage[]>>>;
  /** `raised`: from then on its nodes and gates refuse every order of before. */
  generation: 'kept' | 'raised' | 'either';
  /** What else must be so. */
  may(w: WorkloadRecord, e: EventOf<K>): boolean;
  gives(w: WorkloadRecord, e: EventOf<K>): WorkloadRecord;
}

/** From any of these to that one. */
const to = (stage: WorkloadStage, ...from: WorkloadStage[]): WorkloadChange['stages'] =>
  Object.fromEntries(from.map((s) => [s, [stage]]));
/** Of those that shall run. */
const WANTED = ['unplaced', 'start-owed', 'starting', 'running', 'leave-owed', 'leaving'] as const;
/** Any of these stays what it is. */
const stay = (...stages: WorkloadStage[]): WorkloadChange['stages'] => Object.fromEntries(stages.map((s) => [s, [s]]));

/**
 * All changes of a workload's record. What is not in it cannot be written. Each write is a compare-and-set on the record
 * that it was decided on.
 */
export const workloadChanges: { readonly [K in WorkloadEvent['kind']]: WorkloadChange<K> } = {
  put: {
    stages: {
      unplaced: ['unplaced', 'idle', 'start-owed', 'stop-owed'],
      idle: ['idle', 'unplaced', 'start-owed', 'stop-owed'],
      'start-owed': ['start-owed', 'stop-owed'],
      starting: ['starting', 'stop-owed'],
      running: ['running', 'stop-owed'],
      'leave-owed': ['leave-owed', 'stop-owed'],
      leaving: ['leaving', 'stop-owed'],
      'stop-owed': ['stop-owed', 'start-owed'],
      stopping: ['stopping', 'start-owed'],
      stopped: ['stopped', 'start-owed'],
    },
    generation: 'either',
    // The first assignment is the operator's; every later one is Muster's.
    may: (w, { node }) => node === undefined || w.assignment === undefined || w.assignment.node === node,
    gives: (w, e) => withSettings(w, e),
  },
  // As it was, but for the generation: its node may have been told of that, and it is never given twice.
  restored: {
    stages: { 'start-owed': ['unplaced', 'idle'], 'stop-owed': ['unplaced', 'idle'] },
    generation: 'raised',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (_w, { was, generation }) => ({ ...was, generation: generation + 1 }),
  },

  assigned: {
    stages: to('start-owed', 'unplaced'),
    generation: 'raised',
    may: (w, { generation }) => w.generation === generation,
    gives: (w, e) => ({ ...again(without(w, 'held', 'boot'), e.to), start: { cause: e.cause, attempt: 0 } }),
  },
  cleared: {
    stages: {
      ...to('unplaced', 'start-owed', 'starting', 'running', 'leave-owed', 'leaving'),
      ...to('idle', 'stop-owed', 'stopping', 'stopped'),
    },
    generation: 'raised',
    may: (w, { from }) => w.assignment?.node === from,
    gives: (w) => ({ ...without(w, 'assignment', ...OF_THE_NODE, 'held'), generation: w.generation + 1 }),
  },
  moved: {
    stages: to('start-owed', 'start-owed'),
    generation: 'raised',
    // Held first: its gate is shut, so that it has not started meanwhile.
    may: (w, { from, generation }) =>
      w.assignment?.node === from && w.held !== undefined && w.generation === generation,
    gives: (w, e) => {
      const free = { ...without(w, ...OF_THE_NODE, 'held'), generation: w.generation + 1 };
      return { ...again(free, e.to), start: { cause: w.start?.cause ?? '', attempt: 0 } };
    },
  },
  corrected: {
    stages: {
      ...Object.fromEntries(WANTED.map((s) => [s, ['running', 'start-owed'] as const])),
      ...to('stopped', 'idle', 'stop-owed', 'stopping', 'stopped'),
    },
    generation: 'raised',
    may: (w, { seenOn, generation }) => w.generation === generation && w.assignment?.node !== seenOn,
    gives: (w, e) => {
      const next = again(without(w, ...OF_THE_NODE, 'held'), e.seenOn);
      if ('followed' in e) return { ...next, assignment: { ...next.assignment, followed: e.followed } };
      return w.desired === 'running' ? { ...next, start: { cause: e.cause, attempt: 0 } } : next;
    },
  },

  'start-given': {
    stages: to('starting', 'start-owed'),
    generation: 'kept',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w, { job }) => ({ ...orderedAnew(without(w, 'held')), start: { ...owedStart(w), job } }),
  },
  started: {
    stages: { ...to('running', 'start-owed', 'starting', 'running'), ...stay('stopped') },
    generation: 'kept',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w, { boot }) => ({ ...without(w, 'start', 'held', 'move'), ...(boot !== undefined && { boot }) }),
  },
  'start-failed': {
    stages: to('start-owed', 'starting'),
    generation: 'either',
    may: (w, { job }) => w.start?.job === job,
    gives: (w, { why, seen }) => {
      const { cause, attempt } = owedStart(w);
      return { ...above(w, seen), start: { cause, attempt: attempt + 1 }, held: why };
    },
  },
  held: {
    stages: stay(
      'unplaced',
      'start-owed',
      'running',
      'leave-owed',
      'leaving',
      'stop-owed',
      'stopping',
      'stopped',
      'idle',
    ),
    generation: 'kept',
    may: (w, { why }) => w.held !== why,
    gives: (w, { why }) => ({ ...w, held: why }),
  },

  lost: {
    stages: to('start-owed', 'running'),
    generation: 'kept',
    may: () => true,
    gives: (w, { boot }) => ({
      ...w,
      start: { cause: `${REBOOT}${boot}`, attempt: 0 },
      held: 'Its node rebooted: it starts there once the node has passed its check.',
    }),
  },
  ended: {
    stages: to('start-owed', 'running'),
    generation: 'kept',
    may: (w) => w.move === undefined,
    // The gate is shut until the start is given.
    gives: (w, { at }) => ({
      ...w,
      start: { cause: ENDED, attempt: 0 },
      held: 'It has ended by itself: it is started again.',
      ended: { times: (w.ended?.times ?? 0) + 1, at },
    }),
  },
  steady: {
    stages: stay('running'),
    generation: 'kept',
    may: (w) => w.ended !== undefined,
    gives: (w) => without(w, 'ended'),
  },

  'stop-needed': {
    stages: to('stop-owed', 'stopped'),
    generation: 'raised',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w) => stopOrdered(w, 'seen'),
  },
  // From this write on the start gates refuse it there, also the order to start it that is on its way.
  'move-ordered': {
    stages: to('leave-owed', 'start-owed', 'starting', 'running'),
    generation: 'raised',
    may: (w, { move, generation }) => w.assignment?.node === move.from && w.generation === generation,
    gives: (w, { move }) => leaving(w, move),
  },
  // What its tries have left there is stopped, and read back as gone, before it is started elsewhere.
  'given-up': {
    stages: to('leave-owed', 'start-owed'),
    generation: 'raised',
    may: (w, { move, generation }) => isFailing(w) && w.assignment?.node === move.from && w.generation === generation,
    gives: (w, { move, at }) => ({
      ...leaving(w, move),
      failedOn: [...stillLeftOut(w, at).filter((f) => f.node !== move.from), { node: move.from, at }],
    }),
  },
  'stop-given': {
    stages: { ...to('stopping', 'stop-owed'), ...to('leaving', 'leave-owed') },
    generation: 'kept',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w, { job }) => ({ ...w, stop: { ...owedStop(w), job } }),
  },
  stopped: {
    stages: to('stopped', 'stop-owed', 'stopping'),
    generation: 'kept',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w) => without(w, 'stop', 'boot'),
  },
  // It is assigned nowhere then, and is placed like any other.
  left: {
    stages: to('unplaced', 'leave-owed', 'leaving'),
    generation: 'raised',
    may: (w, { generation }) => w.assignment?.generation === generation,
    gives: (w) => ({
      ...without(w, 'assignment', 'stop', 'boot', 'held', 'ended'),
      generation: w.generation + 1,
    }),
  },
  'stop-failed': {
    stages: { ...to('stop-owed', 'stopping'), ...to('leave-owed', 'leaving') },
    generation: 'either',
    may: (w, { job }) => w.stop?.job === job,
    gives: (w, { why, seen }) => {
      const { cause, attempt } = owedStop(w);
      return { ...above(w, seen), stop: { cause, attempt: attempt + 1, why } };
    },
  },
};

/** The record after this; undefined: it may not happen to the record as it is, which is left alone then. */
export function workloadAfter(w: WorkloadRecord, e: WorkloadEvent): WorkloadRecord | undefined {
  // Of which event it is a change the compiler cannot follow through the table.
  const change = workloadChanges[e.kind] as WorkloadChange;
  return change.stages[stageOf(w)] !== undefined && change.may(w, e) ? change.gives(w, e) : undefined;
}

/** What is about the node that it was on. */
const OF_THE_NODE = ['start', 'stop', 'boot', 'move', 'ended'] as const;

const without = <K extends keyof WorkloadRecord>(w: WorkloadRecord, ...keys: K[]): WorkloadRecord => {
  const copy = { ...w };
  for (const key of keys) delete copy[key];
  return copy;
};

type Assigned = WorkloadRecord & { assignment: Assignment };

/** On that node, with a generation of its own: whichever order comes late is refused by the node's lock. */
const again = (w: WorkloadRecord, node: string): Assigned => ({
  ...w,
  assignment: { node, generation: w.generation + 1 },
  generation: w.generation + 1,
});

/** To be stopped where it is, so that it can go elsewhere. */
const leaving = (w: WorkloadRecord, move: Move): WorkloadRecord => ({
  ...again(without(w, 'start', 'held'), move.from),
  stop: { cause: `move:${move.cause}`, attempt: 0 },
  move,
});

/** From now on the order's own generation alone opens the gate: the unit of a run before it is made anew, or left behind. */
function orderedAnew(w: WorkloadRecord): WorkloadRecord {
  if (w.assignment === undefined) return w;
  const { node, generation } = w.assignment;
  return { ...w, assignment: { node, generation } };
}

const owedStart = (w: WorkloadRecord): StartOwed => w.start ?? { cause: '', attempt: 0 };
const owedStop = (w: WorkloadRecord): StopOwed => w.stop ?? { cause: '', attempt: 0 };

/** A node's file can hold any number: one beyond this would leave none above it that is exact. */
const MOST_SEEN = 2 ** 48;

/**
 * At a generation above the one that its node has seen. The registry went back, or the node's file is another registry's:
 * at its own generation every order would be refused for ever.
 */
function above(w: WorkloadRecord, seen: number | undefined): WorkloadRecord {
  const at = w.assignment;
  if (at === undefined || seen === undefined || seen < at.generation || seen > MOST_SEEN) return w;
  const generation = Math.max(w.generation, seen) + 1;
  return { ...w, generation, assignment: { node: at.node, generation } };
}

/** It shall not run any more. The stop has a generation of its own, and so has the start after it. */
function stopOrdered(w: WorkloadRecord, cause: string): WorkloadRecord {
  const next: WorkloadRecord = { ...without(w, 'start', 'stop', 'held', 'move', 'ended'), desired: 'stopped' };
  return w.assignment === undefined ? next : { ...again(next, w.assignment.node), stop: { cause, attempt: 0 } };
}

/** It shall run again, where it is assigned. */
const runOrdered = (w: WorkloadRecord, node: string): WorkloadRecord => ({
  ...again(without(w, 'stop', 'held', 'move', 'ended'), node),
  desired: 'running',
  start: { cause: RUN_AGAIN, attempt: 0 },
});

function withSettings(w: WorkloadRecord, { settings, node }: EventOf<'put'>): WorkloadRecord {
  const { hostGroup: _was, ...rest } = w;
  const next: WorkloadRecord = { ...rest, ...settings };
  const isWanted = settings.desired === 'running';
  if (w.assignment === undefined) {
    // What held it back may be what was edited.
    const free = without(next, 'held', 'boot', 'ended', 'failedOn', ...(isWanted ? [] : (['move'] as const)));
    if (node === undefined) return free;
    const first = again(without(free, 'move'), node);
    return isWanted ? { ...first, start: { cause: PUT, attempt: 0 } } : { ...first, stop: { cause: PUT, attempt: 0 } };
  }
  if (settings.desired === w.desired) return next;
  return isWanted ? runOrdered(next, w.assignment.node) : stopOrdered(next, PUT);
}
