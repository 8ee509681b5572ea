import { closeSync, openSync } from 'node:fs';
import { execa, type Options, type Subprocess } from 'execa';

const LONG_LIVED = {
  reject: false,
  buffer: false,
  extendEnv: false,
  // Whoever ends it says how and when. And `cleanup` would patch this process's own signals for as long as it runs.
  cleanup: false,
  forceKillAfterDelay: false,
} as const;

/** A process that runs until somebody ends it. Awaiting it waits for its end, however that comes, and never rejects. */
export type Daemon = Pick<Subprocess, 'pid' | 'kill' | 'unref'> & PromiseLike<DaemonEnd>;

/** Neither of them: it could not be started. */
export interface DaemonEnd {
  exitCode?: number;
  signal?: NodeJS.Signals;
}

/**
 * Starts one. `env`, where given, is its whole environment; output in a pipe that nobody reads is dropped. An async
 * function must not return it alone: it would wait for the end.
 */
export const daemon = <const O extends Options = object>(command: string, args: readonly string[], options?: O) =>
  execa<O & typeof LONG_LIVED>(command, args, { ...options, ...LONG_LIVED } as O & typeof LONG_LIVED);

/**
 * Starts one with its output at the end of a file. The process itself writes there, so that it can outlive this one:
 * `detached`.
 */
export function loggedDaemon(
  command: string,
  args: readonly string[],
  log: string,
  options: Pick<Options, 'cwd' | 'env' | 'detached'>,
): Daemon {
  const fd = openSync(log, 'a', 0o644);
  try {
    // Any descriptor will do; the library's types know those up to 9.
    const output = fd as 3;
    return daemon(command, args, { ...options, stdio: ['ignore', output, output] });
  } finally {
    closeSync(fd);
  }
}
