import type { Clock } from '#contracts';
import { hostProbes } from '#probe/host-probes.js';
import { answersAt } from '#probe/tcp-sign.js';
import { EchoProbe } from './echo-probe.js';
import type { ProbeNet } from './probe-net.js';
import { systemPing } from './system-ping.js';

/** The network of this machine. */
export const ownProbeNet = (clock: Clock): ProbeNet => ({
  ...hostProbes(clock, systemPing),
  echoes: (o) => new EchoProbe(o, clock),
  answersAt: (hostPort) => answersAt(clock, hostPort),
});
