import { readFileSync } from 'node:fs';

/** ms of processor time that a process has used. Linux counts in ticks of 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // utime and stime are the 14th and 15th member; the 2nd may contain blanks.
  const [utime, stime] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(utime) + Number(stime)) * 10;
}

/** Resident memory, bytes. */
export const rssOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

export interface Traffic {
  packets: number;
  bytes: number;
}

/** What has gone over these interfaces of the process's own network, both ways, with the headers of Ethernet. */
export function trafficOf(pid: number, interfaces: readonly string[]): Traffic {
  const sum = { packets: 0, bytes: 0 };
  for (const line of readFileSync(`/proc/${pid}/net/dev`, 'utf8').split('\n')) {
    const [name = '', counts = ''] = line.split(':');
    if (!interfaces.includes(name.trim())) continue;
    // Received: bytes, packets, six more; then the same of what was sent.
    const n = counts.trim().split(/\s+/).map(Number);
    sum.bytes += (n[0] ?? 0) + (n[8] ?? 0);
    sum.packets += (n[1] ?? 0) + (n[9] ?? 0);
  }
  return sum;
}
