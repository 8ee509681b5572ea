import { execaSync } from 'execa';

/** `2.9.10`, of the nats-server that PATH finds; undefined where there is none. */
export function natsServerVersion(): string | undefined {
  const { stdout } = execaSync('nats-server', ['--version'], { reject: false });
  return /v(\d+\.\d+\.\d+)/.exec(stdout ?? '')?.[1];
}
