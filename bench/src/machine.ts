import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { natsServerVersion } from '#bus/init/nats-version.js';

/** What a result was found on: figures of two machines cannot be compared. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryGb: number;
  node: string;
  /** Distribution and kernel. */
  os: string;
  /** Version of the system's nats-server; `none` where it is not installed. */
  natsServer: string;
}

export const describeMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 2 ** 30),
  node: process.versions.node,
  os: `${distribution()}, Linux ${release()}`,
  natsServer: natsServerVersion() ?? 'none',
});

/** The same in one line, with how busy it is. */
export const machine = (): string => {
  const { cpu, cores, node } = describeMachine();
  return `${cores} × ${cpu}, Node ${node}, load average ${loadavg()[0]?.toFixed(1)}`;
};

function distribution(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown';
  } catch {
    return 'unknown';
  }
}
