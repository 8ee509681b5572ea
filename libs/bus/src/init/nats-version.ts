import { execaSync } from 'execa';

/**
 * `2.9.10`; undefined where there is no such program, or it says none.
 * @param program a path, or a name that PATH finds
 */
export function natsServerVersion(program = 'nats-server'): string | undefined {
  const { stdout } = execaSync(program, ['--version'], { reject: false });
  return /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
}
