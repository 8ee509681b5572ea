import { MusterError } from '#contracts';

/** Error numbers of the server's JetStream API that decide something here. */
export const ApiErrors = {
  noMessage: 10037,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  wrongRevision: [10071, 10164],
  /** An earlier try of the same message is not stored yet: a cluster says so while it has no quorum. */
  idInProcess: 10158,
} as const;

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
  /** The server is up but JetStream is not (yet), e.g. right after its start; or it is at it. */
  get passing(): boolean {
    return this.status === 503 || this.errCode === ApiErrors.idInProcess;
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
