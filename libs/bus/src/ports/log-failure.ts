/** Error numbers of the server's JetStream API that decide something here. */
export const ApiErrors = {
  noMessage: 10037,
  streamNotFound: 10059,
  consumerNotFound: 10014,
  wrongRevision: [10071, 10164],
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
  /** The server is up but JetStream is not (yet), e.g. right after its start. */
  get passing(): boolean {
    return this.status === 503;
  }
}
