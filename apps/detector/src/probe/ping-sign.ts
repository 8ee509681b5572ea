import { spawn } from 'node:child_process';
import type { Clock, PingSign } from '#contracts';

/** ms for the program to start, and to end, on a busy machine: one that took longer has asked nobody. */
const START = 2_000;
/** At once; who finds no room is asked in a later round. */
const MOST_PINGS = 32;

/** As it runs: what it says goes to `said`, its end, or that it cannot be had, to `ended`. */
export type StartPing = (
  host: string,
  seconds: number,
  ended: (code: number | null, said: string) => void,
) => { kill(): void };

/** The system's own: it has the privilege, or the kernel gives one to everybody (net.ipv4.ping_group_range). */
export const systemPing: StartPing = (host, seconds, ended) => {
  const child = spawn('ping', ['-n', '-q', '-c', '1', '-W', String(seconds), host], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8').slice(0, 1024)));
  child.on('error', (e) => ended(null, e.message));
  child.on('close', (code) => ended(code, said));
  return { kill: () => child.kill('SIGKILL') };
};

/**
 * What the end of `ping` says of the host: 0 an echo came, 1 none did, 2 that it could not ask. Where its own
 * words name a route that lacks, or it was ended by a signal, it can at another time.
 */
export function pingMeans(code: number | null, said: string): PingSign {
  if (code === 0) return 'reply';
  if (code === 1) return 'silent';
  if (code === null && said === '') return 'not-tried';
  return /unreachable|no route|invalid argument|no buffer/i.test(said) ? 'not-tried' : 'cannot';
}

/** Asks hosts for an echo of ICMP, a few at once. */
export class Pings {
  private running = 0;

  constructor(
    private readonly clock: Clock,
    private readonly start: StartPing = systemPing,
  ) {}

  /** @param limit ms that the echo may take; whole seconds, at least one */
  sign(host: string, limit: number): Promise<PingSign> {
    if (this.running >= MOST_PINGS) return Promise.resolve('not-tried');
    this.running++;
    return new Promise((resolve) => {
      let done = false;
      const end = (sign: PingSign): void => {
        if (done) return;
        done = true;
        this.running--;
        timer.cancel();
        resolve(sign);
      };
      const ping = this.start(host, Math.max(1, Math.ceil(limit / 1000)), (code, said) => end(pingMeans(code, said)));
      const timer = this.clock.after(limit + START, () => {
        ping.kill();
        end('not-tried');
      });
    });
  }
}
