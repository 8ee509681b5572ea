import type { Clock } from '#contracts/ports/clock.js';
import type { PingSign, PortSign, SshSign } from '#contracts/wire/life-signs.js';
import { Pings, type RunPing } from './ping-sign.js';
import { portSign } from './port-sign.js';
import { sshSign } from './tcp-sign.js';

/** All by which a host can show that it lives although its agent is silent. */
export interface HostProbes {
  /** @param connectLimit ms in which the connection must stand */
  sshSign(host: string, port: number, connectLimit: number): Promise<SshSign>;
  /** @param limit ms */
  ping(host: string, limit: number): Promise<PingSign>;
  /** What the kernel says of a UDP port on which nobody listens. @param limit ms */
  unusedPort(host: string, port: number, limit: number): Promise<PortSign>;
  /** What it says of the agent's. @param bytes what is sent there @param limit ms */
  agentPort(host: string, port: number, bytes: Buffer, limit: number): Promise<PortSign>;
}

/** There this machine's own kernel answers, whatever became of a host that is played on it. */
const isLoopback = (host: string): boolean => /^127\.|^::1$/.test(host);

/** Over the network of this machine. */
export const hostProbes = (clock: Clock, run: RunPing): HostProbes => {
  const pings = new Pings(run);
  return {
    sshSign: (host, port, connectLimit) => sshSign(clock, host, port, connectLimit),
    ping: (host, limit) => (isLoopback(host) ? Promise.resolve('cannot') : pings.sign(host, limit)),
    agentPort: (host, port, bytes, limit) => portSign(clock, host, port, bytes, limit),
    unusedPort: (host, port, limit) =>
      isLoopback(host) ? Promise.resolve('cannot') : portSign(clock, host, port, Buffer.alloc(1), limit),
  };
};
