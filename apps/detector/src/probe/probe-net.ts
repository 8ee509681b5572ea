import type { PingSign, PortSign, SshSign } from '#contracts';
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
export interface ProbeNet {
  echoes(o: EchoProbesOptions): EchoProbes;
  /** @param connectLimit ms in which the connection must stand */
  sshSign(host: string, port: number, connectLimit: number): Promise<SshSign>;
  /** @param limit ms */
  ping(host: string, limit: number): Promise<PingSign>;
  /** What the kernel says of a UDP port on which nobody listens. @param limit ms */
  unusedPort(host: string, port: number, limit: number): Promise<PortSign>;
  /** What it says of the agent's. @param bytes what is sent there @param limit ms */
  agentPort(host: string, port: number, bytes: Buffer, limit: number): Promise<PortSign>;
  /** Whether anything at `host:port` answers, be it by refusing. */
  answersAt(hostPort: string): Promise<boolean>;
}
