/** First line that the parent writes to the guard's stdin. Secrets travel in the environment, never here or in argv. */
export interface GuardOrder {
  command: string;
  args: string[];
  cwd?: string;
  /** CLOCK_MONOTONIC, ns, decimal. */
  deadlineNs: string;
}

/** Later lines on stdin. End of file means that the parent is gone: kill at once. */
export type GuardControl = { extend: string } | { kill: true };

/** Lines that the guard writes to its fd 3. */
export type GuardReport =
  | { started: number }
  | { refused: true }
  | { failed: string }
  | { exitCode: number | null; timedOut: boolean; killed: boolean };
