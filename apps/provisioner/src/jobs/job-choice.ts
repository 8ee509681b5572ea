import type { Entry } from '#bus';
import { assignByRendezvous } from '#bus';
import { waitsForMoves, type JobRecord } from '#contracts';

/** ms that a worker waits before it takes a job which another live one is preferred for. */
export const SECOND_CHOICE_MS = 300;
/** The same for recoveries, where each tenth of a second is downtime. */
const SECOND_CHOICE_RECOVER_MS = 100;
/** ms that a job which runs elsewhere is left alone before its lease is contended for: its worker needs a moment to take it. */
export const STANDBY_MS = 2_000;
/** Recoveries at once in one worker: they do not count against the limit of the others, and must not starve the machine. */
const RECOVERIES_AT_ONCE = 8;

export interface ChoiceInput {
  jobs: readonly Entry<JobRecord>[];
  me: string;
  /** Ids of the live provisioners, this one included. */
  live: readonly string[];
  /** Jobs that this process carries out, or contends for. */
  mine: ReadonlySet<string>;
  /** Job → when this process first saw it as it is now (status, generation), ms, monotonic. */
  seenAt: ReadonlyMap<string, number>;
  now: number;
  /** Jobs at once over all workers, recoveries not counted. */
  parallel: number;
}

export interface Choice {
  /** Queued ones to take now, best first. */
  take: string[];
  /** Running ones whose worker may be gone: contend for their lease. */
  standby: string[];
  /** ms until something may be due although nothing changes; absent: nothing is. */
  wakeIn?: number;
}

/** Which jobs this worker goes for. A hint only: the record's compare-and-set and the job's lease decide. */
export function chooseJobs(input: ChoiceInput): Choice {
  const { me, mine, now } = input;
  const age = (id: string): number => now - (input.seenAt.get(id) ?? now);
  const choice: Choice = { take: [], standby: [] };
  const wake = (ms: number): void => {
    choice.wakeIn = Math.min(choice.wakeIn ?? Infinity, Math.max(1, ms));
  };

  const running = input.jobs.filter((j) => j.value.status === 'Running');
  for (const { key } of running) {
    if (mine.has(key)) continue;
    const left = STANDBY_MS - age(key);
    if (left <= 0) choice.standby.push(key);
    else wake(left);
  }

  let room = input.parallel - running.filter((j) => j.value.kind !== 'recover').length;
  let recoveries = RECOVERIES_AT_ONCE - running.filter((j) => j.value.kind === 'recover' && mine.has(j.key)).length;
  const queued = input.jobs
    // One whose nodes have still to be emptied takes no place.
    .filter((j) => j.value.status === 'Queued' && !waitsForMoves(j.value))
    // By revision: the order in which they were written, which no clock can turn round.
    .sort((a, b) => a.revision - b.revision);
  for (const { key, value } of queued) {
    const recover = value.kind === 'recover';
    if (recover ? recoveries-- <= 0 : room-- <= 0) continue;
    if (mine.has(key)) continue;
    const preferred = assignByRendezvous(input.live, key) ?? me;
    const wait = preferred === me ? 0 : recover ? SECOND_CHOICE_RECOVER_MS : SECOND_CHOICE_MS;
    const left = wait - age(key);
    if (left <= 0) choice.take.push(key);
    else wake(left);
  }
  choice.take.sort((a, b) => Number(isRecover(input.jobs, b)) - Number(isRecover(input.jobs, a)));
  return choice;
}

const isRecover = (jobs: readonly Entry<JobRecord>[], id: string): boolean =>
  jobs.find((j) => j.key === id)?.value.kind === 'recover';
