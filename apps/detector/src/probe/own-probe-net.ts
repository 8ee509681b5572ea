import type { Clock } from '#contracts';
import { EchoProbe } from './echo-probe.js';
import type { ProbeNet } from './probe-net.js';
import { answersAt, sshSign } from './tcp-sign.js';

/** The network of this machine. */
export const ownProbeNet = (clock: Clock): ProbeNet => ({
  echoes: (o) => new EchoProbe(o, clock),
  sshSign: (host, port, connectLimit) => sshSign(clock, host, port, connectLimit),
  answersAt: (hostPort) => answersAt(clock, hostPort),
});
