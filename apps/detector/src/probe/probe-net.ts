import type { HostProbes } from '#probe/host-probes.js';
import type { ProbeKeys } from './fleet-keys.js';

export interface EchoAnswer {
  node: string;
  network: string;
  echoed: boolean;
}

export interface EchoProbes {
  /** Datagrams that came to the monitor and were not signed by this cluster, since the start. */
  readonly forged: number;
  /**
   * Calls `done` with the echo, or at `limit` ms without one, and then again where it comes late; not at all where we
   * ourselves could not send, or not prove it.
   */
  ask(node: string, network: string, index: number, address: string, port: number, limit: number): void;
  /** A probe to which nobody waits for the echo: what the agent's own port is asked with by another socket. */
  question(node: string, index: number): Buffer;
  close(): void;
}

export interface EchoProbesOptions {
  instance: string;
  keys: ProbeKeys;
  done: (a: EchoAnswer) => void;
  failed: (reason: string) => void;
}

/** The network, as the monitor's own look at nodes and its witness reach through it. A simulation plays it here. */
export interface ProbeNet extends HostProbes {
  echoes(o: EchoProbesOptions): EchoProbes;
  /** Whether anything at `host:port` answers, be it by refusing. */
  answersAt(hostPort: string): Promise<boolean>;
}
