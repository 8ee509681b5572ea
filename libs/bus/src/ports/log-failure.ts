import { MusterError } from '#contracts';

/** Error numbers of the server's JetStream API that decide something here. */
export const ApiErrors = {
  noMessage: 10037,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  wrongRevision: [10071, 10164],
  /** A new stream finds too few servers: see {@link Answers}. */
  noPeers: 10005,
} as const;

type Outlook =
  | 'passes'
  | 'stays'
  /** It passes, unless its description names one of these. */
  | { passesUnless: readonly string[] };

/**
 * What becomes of the same request in a moment, by the server's error number. All other answers pass with status 503
 * (the server is up, but JetStream is not yet, or has no leader: 10008, 10039, 10076, 10163; or its disk is full, and
 * somebody makes room: 10023, 10077), and stay with any other.
 */
const Answers: Readonly<Record<number, Outlook>> = {
  // No suitable peers for placement. A cluster that forms says so until its leader has heard each server ("peer
  // offline", "miscellaneous issue", or nothing more); what it lacks of room or of tags takes a person.
  [ApiErrors.noPeers]: { passesUnless: ['insufficient storage', 'tag'] },
  // The leader has moved on between the question and the work: not assigned to this server, can not handle request.
  10007: 'passes',
  10009: 'passes',
  // Offline: a stream, a consumer, of which no server is there.
  10118: 'passes',
  10119: 'passes',
  // An earlier try of the same message is not stored yet: a cluster says so while it has no quorum.
  10158: 'passes',
  // More requests than a stream's queue holds.
  10167: 'passes',
  // For another kind of server: clustering is required, is not supported in a cluster.
  10010: 'stays',
  10036: 'stays',
};

function passes({ errCode, status, message }: ApiFailure): boolean {
  const outlook = Answers[errCode];
  if (outlook === undefined) return status === 503;
  if (typeof outlook === 'string') return outlook === 'passes';
  return !outlook.passesUnless.some((named) => message.includes(named));
}

/** The server's own refusal: it did not do what was asked. */
export class ApiFailure extends Error {
  constructor(
    readonly errCode: number,
    readonly status: number,
    description: string,
  ) {
    super(description);
    this.name = 'ApiFailure';
  }
  /** The same request may be taken in a moment. */
  get passing(): boolean {
    return passes(this);
  }
}

export const isStreamMissing = (e: unknown): boolean =>
  e instanceof ApiFailure && e.errCode === ApiErrors.streamNotFound;

/** Worth another try with the same message: nothing says that the request was refused. */
export function isPassing(e: unknown): boolean {
  if (e instanceof ApiFailure) return e.passing;
  return (
    e instanceof MusterError && (e.code === 'TIMEOUT' || e.code === 'NO_RESPONDER' || e.code === 'BUS_UNAVAILABLE')
  );
}

/** For a caller who knows nothing of logs: a refusal in our words, all else as it is. */
export const apiError = (e: unknown, subject: string): unknown =>
  e instanceof ApiFailure
    ? new MusterError(
        e.passing ? 'BUS_UNAVAILABLE' : 'INTERNAL',
        `${subject}: ${e.message}`,
        { errCode: e.errCode },
        { cause: e },
      )
    : e;
