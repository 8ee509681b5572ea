/** Every error code of Muster, its HTTP status, and whether trying again later may help. One meaning each. */
export const ErrorCodes = {
  BAD_REQUEST: { status: 400, retry: false },
  UNAUTHORIZED: { status: 401, retry: false },
  FORBIDDEN: { status: 403, retry: false },
  NOT_FOUND: { status: 404, retry: false },
  TOO_LARGE: { status: 413, retry: false },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, retry: false },
  /** Fact `retryAfter`: s. */
  TOO_MANY_TRIES: { status: 429, retry: true },
  NODE_UNKNOWN: { status: 404, retry: false },
  JOB_UNKNOWN: { status: 404, retry: false },
  INCIDENT_UNKNOWN: { status: 404, retry: false },
  WORKLOAD_UNKNOWN: { status: 404, retry: false },
  CLAIM_UNKNOWN: { status: 404, retry: false },
  TOKEN_UNKNOWN: { status: 404, retry: false },
  LAST_ADMIN: { status: 409, retry: false },
  IMPORT_INVALID: { status: 400, retry: false },
  IDEMPOTENCY_MISMATCH: { status: 409, retry: false },
  IDEMPOTENCY_IN_PROGRESS: { status: 409, retry: true },
  ALREADY_EXISTS: { status: 409, retry: false },
  RECORD_UNKNOWN: { status: 404, retry: false },
  RECORD_UNREADABLE: { status: 409, retry: false },
  REVISION_CONFLICT: { status: 409, retry: true },
  NODE_RESERVED: { status: 409, retry: true },
  NODE_BUSY: { status: 409, retry: true },
  NOT_DISCOVERED: { status: 409, retry: true },
  HOST_GROUP_INVALID: { status: 400, retry: false },
  ROLE_RULE: { status: 409, retry: false },
  ILLEGAL_TRANSITION: { status: 409, retry: false },
  WORKLOADS_PRESENT: { status: 409, retry: false },
  WORKLOAD_RUNNING: { status: 409, retry: false },
  TOO_MANY_JOBS: { status: 409, retry: true },
  DRIVER_UNKNOWN: { status: 400, retry: false },
  DRIVER_UNAVAILABLE: { status: 503, retry: true },
  NO_WORKERS: { status: 503, retry: true },
  NO_SERVICEABLE_NODE: { status: 409, retry: true },
  INCIDENT_STATE: { status: 409, retry: false },
  STILL_ALIVE: { status: 409, retry: false },
  FENCING_REFUSED: { status: 409, retry: false },
  SETTINGS_INVALID: { status: 400, retry: false },
  BUS_UNAVAILABLE: { status: 503, retry: true },
  TIMEOUT: { status: 504, retry: true },
  NO_RESPONDER: { status: 503, retry: true },
  NOT_LEADER: { status: 503, retry: true },
  /** Somebody holds the lease `conductor`, and has not answered in time. */
  CONDUCTOR_SLOW: { status: 503, retry: true },
  LEASE_LOST: { status: 503, retry: true },
  STALE_TOKEN: { status: 409, retry: false },
  DEADLINE_PASSED: { status: 504, retry: false },
  COMMAND_FAILED: { status: 502, retry: true },
  BMC_AUTH: { status: 502, retry: false },
  BMC_CIPHER: { status: 502, retry: false },
  BMC_TIMEOUT: { status: 504, retry: true },
  BMC_REFUSED: { status: 502, retry: true },
  /** A power device that was proven to be its node's own did not say who it is, so it is not used. */
  IDENTITY_UNREAD: { status: 502, retry: true },
  /** It says, or was found, to be another machine's. */
  IDENTITY_MISMATCH: { status: 409, retry: false },
  CONFIG_INVALID: { status: 500, retry: false },
  INTERNAL: { status: 500, retry: false },
} as const satisfies Record<string, { status: number; retry: boolean }>;
export type ErrorCode = keyof typeof ErrorCodes;

/** The one error that crosses a service boundary: what happened, to what, what to do; facts for machines. */
export class MusterError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly facts: Record<string, unknown> = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = 'MusterError';
  }
  get status(): number {
    return ErrorCodes[this.code].status;
  }
  /** As it crosses the wire. */
  toJSON(): WireError {
    return { code: this.code, message: this.message, facts: this.facts };
  }
  static from(x: unknown): MusterError {
    if (x instanceof MusterError) return x;
    if (isWireError(x)) return new MusterError(x.code, x.message, x.facts ?? {});
    const message = x instanceof Error ? x.message : String(x);
    return new MusterError('INTERNAL', message, {}, { cause: x });
  }
}

export interface WireError {
  code: ErrorCode;
  message: string;
  facts?: Record<string, unknown>;
}

export const isWireError = (x: unknown): x is WireError =>
  typeof x === 'object' &&
  x !== null &&
  typeof (x as WireError).code === 'string' &&
  Object.hasOwn(ErrorCodes, (x as WireError).code) &&
  typeof (x as WireError).message === 'string';
