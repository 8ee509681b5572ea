import { isEndedJob, waitsForMoves, type JobRecord, type JobStatus } from '#contracts';

/** What is Muster's in the record of every job, and what only a later change puts there. */
type Kept = 'status' | 'error' | 'generation' | 'results' | 'settled';
type Later = 'progress' | 'startedAt' | 'endedAt' | 'outranked' | 'worker' | 'cancel';

/** What a job is to be, by whoever asks for it. */
export type JobOrder = Omit<JobRecord, Kept | Later>;

/** What a worker took: a write of its own rests on it. */
export type JobHold = Required<Pick<JobRecord, 'worker' | 'generation'>>;

/** What came of a job, by the worker that carried it out. */
interface JobEnd {
  by: JobHold;
  results: JobRecord['results'];
  /** Something was begun on its nodes. */
  worked: boolean;
  at: number;
}

/** What happens to a job. `at`: wall clock, for people. */
export type JobEvent =
  /** A worker takes it, or takes it over from one that is gone. `seen`: the job that it decided on. */
  | { kind: 'taken'; worker: string; seen: Pick<JobRecord, 'status' | 'generation'>; at: number }
  /** Its worker has carried it out, and it succeeded. */
  | ({ kind: 'completed' } & JobEnd)
  /** It failed, was cancelled, timed out, or cannot be carried out. */
  | ({ kind: 'failed'; error: string } & JobEnd)
  /** It must not be begun. `outranked`: its conductor's token is below this one. */
  | { kind: 'refused'; error: string; outranked?: number; at: number }
  /** By an operator, or by the system: one that waits ends here, one that runs is ended by its worker. */
  | { kind: 'cancelled'; by: string; at: number }
  /** The node on which it starts or stops something died: its worker ends it, or who would take it refuses it. */
  | { kind: 'called-back'; by: string; at: number }
  /** Before the workloads of its nodes have left. `why`: what it would find there. */
  | { kind: 'called-off'; by: string; why: string; at: number }
  /** Its store is of an earlier moment than now. `why`: a sentence without its full stop. */
  | { kind: 'superseded'; why: string; at: number };

type EventOf<K extends JobEvent['kind']> = Extract<JobEvent, { kind: K }>;

/** A change that may be. */
export interface JobChange<K extends JobEvent['kind'] = JobEvent['kind']> {
  /** Status in which it may happen → the one that it gives. */
  statuses: Readonly<Partial<Record<JobStatus, JobStatus>>>;
  /** `raised`: from then on every write of a worker of before is refused, and whoever saw it as it was takes nothing. */
  generation: 'kept' | 'raised';
  /** What else must be so. */
  may(j: JobRecord, e: EventOf<K>): boolean;
  /** All but the status and the generation. */
  gives(j: JobRecord, e: EventOf<K>): JobRecord;
}

/** As what a job's record begins: admitted, or in the place of a record that was lost. */
export const jobBeginnings = { admitted: 'Queued', lost: 'Errored' } as const satisfies Record<string, JobStatus>;

/**
 * All changes of a job's status, and the cancels. What is not in it cannot be written. Each write is a compare-and-set on
 * the record that it was decided on.
 */
export const jobChanges: { readonly [K in JobEvent['kind']]: JobChange<K> } = {
  taken: {
    statuses: { Queued: 'Running', Running: 'Running' },
    generation: 'raised',
    may: (j, { seen }) => j.status === seen.status && j.generation === seen.generation,
    gives: (j, { worker, at }) => ({ ...without(j, 'progress'), worker, startedAt: j.startedAt ?? at }),
  },
  completed: {
    statuses: { Running: 'Complete' },
    generation: 'kept',
    may: (j, { by }) => isHeldBy(j, by),
    gives: (j, e) => ended(j, e, ''),
  },
  failed: {
    statuses: { Running: 'Errored' },
    generation: 'kept',
    may: (j, { by }) => isHeldBy(j, by),
    gives: (j, e) => ended(j, e, e.error),
  },

  // Nothing happened on its nodes: it keeps no time of a start.
  refused: {
    statuses: { Queued: 'Errored' },
    generation: 'raised',
    may: () => true,
    gives: (j, { error, outranked, at }) => ({
      ...j,
      error,
      ...(outranked !== undefined && { outranked }),
      endedAt: at,
    }),
  },
  cancelled: {
    statuses: { Queued: 'Errored', Running: 'Running' },
    generation: 'kept',
    may: (j) => j.cancel === undefined,
    gives: (j, { by, at }) => {
      const cancel = { by, at };
      return j.status === 'Running'
        ? { ...j, cancel }
        : { ...j, cancel, error: `cancelled by ${by} before it began`, endedAt: at };
    },
  },
  'called-back': {
    statuses: { Queued: 'Queued', Running: 'Running' },
    generation: 'kept',
    may: (j) => j.cancel === undefined,
    gives: (j, { by, at }) => ({ ...j, cancel: { by, at } }),
  },
  'called-off': {
    statuses: { Queued: 'Errored' },
    generation: 'kept',
    may: waitsForMoves,
    gives: (j, { by, why, at }) => ({ ...j, cancel: { by, at }, error: why, endedAt: at }),
  },
  // Never run again: its nodes may serve by now.
  superseded: {
    statuses: { Queued: 'Errored', Running: 'Errored' },
    generation: 'kept',
    may: () => true,
    gives: (j, { why, at }) => ({ ...without(j, 'progress', 'moving'), error: `${why}: ask for it anew`, endedAt: at }),
  },
};

/** The record after this; undefined: it may not happen to the job as it is, which is left alone then. */
export function jobAfter(j: JobRecord, e: JobEvent): JobRecord | undefined {
  // Of which event it is a change the compiler cannot follow through the table.
  const change = jobChanges[e.kind] as JobChange;
  const status = change.statuses[j.status];
  if (status === undefined || !change.may(j, e)) return undefined;
  const generation = change.generation === 'raised' ? j.generation + 1 : j.generation;
  return { ...change.gives(j, e), status, generation };
}

/** The record of a job that was admitted. */
export const newJob = (o: JobOrder): JobRecord => begun(o, jobBeginnings.admitted);

/**
 * The record in the place of one that was lost: failed, as one that was begun when it was asked for, since nobody knows
 * that it was not.
 */
export const jobOfLostRecord = (o: JobOrder, error: string, at: number): JobRecord => ({
  ...begun(o, jobBeginnings.lost),
  error,
  startedAt: o.createdAt,
  endedAt: at,
  results: Object.fromEntries(o.nodes.map((n) => [n, { ok: false, step: o.kind, message: error }])),
});

const begun = (o: JobOrder, status: JobStatus): JobRecord => ({
  ...o,
  status,
  error: '',
  generation: 0,
  results: {},
  settled: false,
});

/** It is this worker's still: no other has taken it since, and it has not ended. */
export const isHeldBy = (j: JobRecord, by: JobHold): boolean =>
  !isEndedJob(j) && j.worker === by.worker && j.generation === by.generation;

/** It has ended, and nothing of it ran on its nodes: they are what they were. */
export const neverBegan = (j: Pick<JobRecord, 'status' | 'startedAt'>): boolean =>
  j.status === 'Errored' && j.startedAt === undefined;

const without = <K extends keyof JobRecord>(j: JobRecord, ...keys: K[]): Omit<JobRecord, K> => {
  const copy = { ...j };
  for (const key of keys) delete copy[key];
  return copy;
};

function ended(j: JobRecord, { by, results, worked, at }: JobEnd, error: string): JobRecord {
  const next: JobRecord = { ...without(j, 'progress'), error, results, endedAt: at };
  // Nothing was begun, by no worker: inventory puts the nodes back to where they were.
  if (!worked && by.generation === 1) delete next.startedAt;
  return next;
}
