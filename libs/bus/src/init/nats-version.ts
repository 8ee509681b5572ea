import { spawnSync } from 'node:child_process';

/** `2.9.10`, of the nats-server that PATH finds; undefined where there is none. */
export function natsServerVersion(): string | undefined {
  const { stdout } = spawnSync('nats-server', ['--version'], { encoding: 'utf8' });
  return /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
}
