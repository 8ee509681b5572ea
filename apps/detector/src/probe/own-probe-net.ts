import type { Clock } from '#contracts';
import { EchoProbe } from './echo-probe.js';
import { Pings } from './ping-sign.js';
import { portSign } from './port-sign.js';
import type { ProbeNet } from './probe-net.js';
import { answersAt, sshSign } from './tcp-sign.js';

/** There this machine's own kernel answers, whatever became of a host that is played on it. */
const isLoopback = (host: string): boolean => /^127\.|^::1$/.test(host);

/** The network of this machine. */
export const ownProbeNet = (clock: Clock): ProbeNet => {
  const pings = new Pings();
  return {
    echoes: (o) => new EchoProbe(o, clock),
    sshSign: (host, port, connectLimit) => sshSign(clock, host, port, connectLimit),
    ping: (host, limit) => (isLoopback(host) ? Promise.resolve('cannot') : pings.sign(host, limit)),
    agentPort: (host, port, bytes, limit) => portSign(clock, host, port, bytes, limit),
    unusedPort: (host, port, limit) =>
      isLoopback(host) ? Promise.resolve('cannot') : portSign(clock, host, port, Buffer.alloc(1), limit),
    answersAt: (hostPort) => answersAt(clock, hostPort),
  };
};
