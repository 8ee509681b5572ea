import type {
  Assignment,
  Move,
  RecoveryAssignment,
  RunningWorkload,
  StartOwed,
  StopOwed,
  WorkloadRecord,
} from '#contracts';

/** Cause of a start that an operator ordered after a stop: the node may still report the run before that stop. */
export const RUN_AGAIN = 'run-again';
/** Cause of a start that is owed since it ended by itself on a node that is well. */
export const ENDED = 'ended';

/** The lawful changes of a workload's record. Each takes the record as it is now, or refuses by undefined. */

const without = <K extends keyof WorkloadRecord>(w: WorkloadRecord, ...keys: K[]): WorkloadRecord => {
  const copy = { ...w };
  for (const key of keys) delete copy[key];
  return copy;
};

/** Takes it away from a node whose power is proven off. Older generations can no longer start it anywhere. */
export const cleared = (w: WorkloadRecord, from: string): WorkloadRecord | undefined =>
  w.assignment?.node !== from
    ? undefined
    : { ...without(w, 'assignment', 'start', 'stop', 'boot', 'held', 'move', 'ended'), generation: w.generation + 1 };

/** Gives it to a node, with the start that it owes. Only what is assigned nowhere, at the generation that was decided on. */
export function assigned(w: WorkloadRecord, to: string, cause: string, generation: number): WorkloadRecord | undefined {
  if (w.assignment !== undefined || w.generation !== generation || w.desired !== 'running') return undefined;
  return {
    ...without(w, 'held', 'boot'),
    assignment: { node: to, generation: generation + 1 },
    generation: generation + 1,
    start: { cause, attempt: 0 },
  };
}

/** From one node that certainly does not run it (its gate refuses, its report says so) to another. */
export function moved(w: WorkloadRecord, from: string, to: string, generation: number): WorkloadRecord | undefined {
  if (w.assignment?.node !== from || w.held === undefined || w.start === undefined) return undefined;
  const free = cleared(w, from);
  return free && w.generation === generation ? assigned(free, to, w.start.cause, generation + 1) : undefined;
}

/**
 * It was seen running on another node than the registry says: the registry follows the world, and nothing is started.
 * @param followed generation of that run; undefined: it is only being started, and its gate has not let it through
 */
export const corrected = (
  w: WorkloadRecord,
  seenOn: string,
  generation: number,
  followed?: number,
): WorkloadRecord | undefined =>
  w.generation !== generation || w.assignment?.node === seenOn
    ? undefined
    : {
        ...without(w, 'start', 'stop', 'boot', 'held', 'move', 'ended'),
        assignment: { node: seenOn, generation: generation + 1, ...(followed !== undefined && { followed }) },
        generation: generation + 1,
      };

/** Hands the owed start to a job; the start gates open with it. */
export const handedTo = (w: WorkloadRecord, job: string, generation: number): WorkloadRecord | undefined =>
  w.start === undefined || w.start.job !== undefined || w.assignment?.generation !== generation
    ? undefined
    : { ...orderedAnew(without(w, 'held'), w.assignment), start: { ...w.start, job } };

/** From now on the order's own generation alone opens the gate: the unit of a run before it is made anew, or left behind. */
const orderedAnew = (w: WorkloadRecord, { node, generation }: Assignment): WorkloadRecord => ({
  ...w,
  assignment: { node, generation },
});

/** The start is done: by its job's word, or seen in the report of its node. What is owed a stop is only not stopped yet. */
export const started = (w: WorkloadRecord, generation: number, boot: string | undefined): WorkloadRecord | undefined =>
  w.stop !== undefined || w.assignment?.generation !== generation
    ? undefined
    : { ...without(w, 'start', 'held', 'move'), ...(boot !== undefined && { boot }) };

/**
 * The job did not start it: it is owed still, on the same node.
 * @param seen where the node refused it as an older order: the generation of the newer one
 */
export const startFailed = (
  w: WorkloadRecord,
  job: string,
  held: string,
  seen?: number,
): WorkloadRecord | undefined => {
  if (w.start?.job !== job) return undefined;
  const start: StartOwed = { cause: w.start.cause, attempt: w.start.attempt + 1 };
  return { ...above(w, seen), start, held };
};

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

/**
 * It shall not run any more. The stop has a generation of its own, and so has the start after it: whichever order comes
 * late is refused by the node's lock.
 */
export function stopOrdered(w: WorkloadRecord, cause: string): WorkloadRecord {
  const next: WorkloadRecord = { ...without(w, 'start', 'stop', 'held', 'move', 'ended'), desired: 'stopped' };
  return w.assignment === undefined ? next : { ...again(next, w.assignment.node), stop: { cause, attempt: 0 } };
}

/** It shall run again, where it is assigned; what is assigned nowhere is placed. */
export function runOrdered(w: WorkloadRecord): WorkloadRecord {
  const next: WorkloadRecord = { ...without(w, 'stop', 'held'), desired: 'running' };
  return w.assignment === undefined
    ? next
    : { ...again(next, w.assignment.node), start: { cause: RUN_AGAIN, attempt: 0 } };
}

const again = (w: WorkloadRecord, node: string): WorkloadRecord => ({
  ...w,
  assignment: { node, generation: w.generation + 1 },
  generation: w.generation + 1,
});

/**
 * It is to leave the node that it is assigned to, also where another move has only just sent it there. From this write on the start gates refuse it there, also the order to
 * start it that is on its way: the stop has a generation of its own.
 */
export const moveOrdered = (w: WorkloadRecord, move: Move, generation: number): WorkloadRecord | undefined =>
  w.desired !== 'running' || w.stop !== undefined || w.assignment?.node !== move.from || w.generation !== generation
    ? undefined
    : { ...again(without(w, 'start', 'held'), move.from), stop: { cause: `move:${move.cause}`, attempt: 0 }, move };

/** It has left the node that it moves from: its stop was read back. It is assigned nowhere, and is placed like any other. */
export const left = (w: WorkloadRecord, generation: number): WorkloadRecord | undefined =>
  w.stop === undefined ||
  w.move === undefined ||
  w.assignment?.node !== w.move.from ||
  w.assignment.generation !== generation
    ? undefined
    : { ...without(w, 'assignment', 'stop', 'boot', 'held', 'ended'), generation: w.generation + 1 };

/** It was stopped, and runs all the same. */
export const stopNeeded = (w: WorkloadRecord, generation: number): WorkloadRecord | undefined =>
  w.desired !== 'stopped' || w.stop !== undefined || w.assignment?.generation !== generation
    ? undefined
    : stopOrdered(w, 'seen');

/** Hands the owed stop to a job. */
export const stopHandedTo = (w: WorkloadRecord, job: string, generation: number): WorkloadRecord | undefined =>
  w.stop === undefined || w.stop.job !== undefined || w.assignment?.generation !== generation
    ? undefined
    : { ...w, stop: { ...w.stop, job } };

/** Its node has read back that nothing of it runs. One that moves has {@link left}. */
export const stopped = (w: WorkloadRecord, generation: number): WorkloadRecord | undefined =>
  w.stop === undefined || w.move !== undefined || w.assignment?.generation !== generation
    ? undefined
    : without(w, 'stop', 'boot');

/** The job did not stop it: the stop is owed still. @param seen see {@link startFailed} */
export const stopFailed = (w: WorkloadRecord, job: string, why: string, seen?: number): WorkloadRecord | undefined => {
  if (w.stop?.job !== job) return undefined;
  const stop: StopOwed = { cause: w.stop.cause, attempt: w.stop.attempt + 1, why };
  return { ...above(w, seen), stop };
};

/** Nothing of it may be running: it is assigned nowhere, or its stop was read back. */
export const isStopped = (w: WorkloadRecord): boolean =>
  w.assignment === undefined || (w.desired === 'stopped' && w.stop === undefined);

/**
 * Does a run that its node reports say that the owed start is done? One that is only being started does not: its gate may
 * refuse it yet. After a stop and after a reboot only a run of that very start does: an older report may still be on its
 * way.
 */
export const provesStart = (w: WorkloadRecord, run: Omit<RunningWorkload, 'name'>, bootId: string): boolean => {
  if (run.starting === true) return false;
  const cause = w.start?.cause ?? '';
  if (cause === RUN_AGAIN) return run.generation >= (w.assignment?.generation ?? Infinity);
  return !cause.startsWith('reboot:') || cause === `reboot:${bootId}`;
};

export const heldBecause = (w: WorkloadRecord, held: string): WorkloadRecord | undefined =>
  w.held === held || w.start?.job !== undefined ? undefined : { ...w, held };

/** Its node runs another boot than the one it was started under, and does not report it. */
export const lost = (w: WorkloadRecord, bootId: string): WorkloadRecord | undefined =>
  w.start !== undefined || w.stop !== undefined || w.assignment === undefined || w.desired !== 'running'
    ? undefined
    : {
        ...w,
        start: { cause: `reboot:${bootId}`, attempt: 0 },
        held: 'Its node rebooted: it starts there once the node has passed its check.',
      };

/** It has ended by itself where it is assigned, and nothing is owed. The gate is shut until the start is given. */
export const ended = (w: WorkloadRecord, at: number): WorkloadRecord | undefined =>
  w.start !== undefined ||
  w.stop !== undefined ||
  w.move !== undefined ||
  w.assignment === undefined ||
  w.desired !== 'running'
    ? undefined
    : {
        ...w,
        start: { cause: ENDED, attempt: 0 },
        held: 'It has ended by itself: it is started again.',
        ended: { times: (w.ended?.times ?? 0) + 1, at },
      };

/** It runs on: how often it has ended before is forgotten. */
export const steady = (w: WorkloadRecord): WorkloadRecord | undefined =>
  w.ended === undefined || w.start !== undefined || w.stop !== undefined ? undefined : without(w, 'ended');

/** Its node itself does not run it: where that is out of service, it may go elsewhere. */
export const maySwitchNode = (w: WorkloadRecord): boolean =>
  w.start?.cause === ENDED || w.start?.cause.startsWith('reboot:') === true;

/** Given also where its node names it: that may be of before, or be a unit that never gets through its start. */
export const isGivenAnyway = (w: WorkloadRecord): boolean => maySwitchNode(w) || w.start?.cause === RUN_AGAIN;

/** What a wait for its node is about: a reboot keeps the generation, and each one has its own wait. */
export const waitKey = (w: WorkloadRecord): string => `node/${w.name}/${w.generation}/${w.start?.cause ?? ''}`;

/** One line of the incident's recovery, as the workload's own record has it now. */
export function recoveryOf(r: RecoveryAssignment, w: WorkloadRecord | undefined, noRoom: boolean): RecoveryAssignment {
  const base: RecoveryAssignment = { workload: r.workload, from: r.from, state: 'waiting' };
  if (w === undefined) return { ...base, state: 'skipped', detail: 'It was deleted.' };
  if (w.assignment?.node === r.from) return base;
  if (w.desired !== 'running') return { ...base, state: 'skipped', detail: 'It shall not run.' };
  const held = w.held === undefined ? {} : { detail: w.held };
  if (w.assignment === undefined) return { ...base, ...held, state: noRoom ? 'no-room' : 'waiting' };
  const to = { ...base, ...held, to: w.assignment.node, generation: w.assignment.generation };
  if (w.start === undefined) return { ...to, state: 'running' };
  // It is tried on for ever, but not under this incident: one bad unit must not keep its old node off, nor the brake on.
  if (w.start.attempt >= TRIES) return { ...to, state: 'held' };
  if (w.start.job !== undefined) return { ...to, job: w.start.job, state: 'starting' };
  return { ...to, state: w.held === undefined || w.start.attempt > 0 ? 'waiting' : 'held' };
}

/** Failed tries after which nothing else waits for it any longer: not the incident of its old node, nor the next move. */
export const TRIES = 3;

/** Nothing more is to be done for it here: it runs, shall not run, or has an alarm of its own (no room, held). */
export const isSettledRecovery = (r: RecoveryAssignment): boolean =>
  r.state === 'running' || r.state === 'skipped' || r.state === 'no-room' || r.state === 'held';
