const MIB = 2 ** 20;
const PAGE = 4_096;
const TOUCHED = 64 * MIB;
/** µs of processor time for one page. Machines of their own need less than 1; what was seen of a slow one is 16 to 24. */
const DEAR_US = 8;

/**
 * Processor time that a page of memory costs a process when it touches it first, µs. Each start of a process touches
 * thousands. A virtual machine whose page tables its host keeps in software pays for each of them, and starts nats-server,
 * Ansible and our services several times slower than others.
 */
export function freshPageUs() {
  const before = process.cpuUsage();
  const fresh = Buffer.allocUnsafeSlow(TOUCHED);
  for (let at = 0; at < TOUCHED; at += PAGE) fresh[at] = 1;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (TOUCHED / PAGE);
}

/** Real processes meet their deadlines here only beside few others. */
export const isDear = (us) => us >= DEAR_US;
