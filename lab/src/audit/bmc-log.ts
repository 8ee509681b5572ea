/** A line of a BMC's own log, written by its hook on every command that reached it. */
export interface BmcEntry {
  host: string;
  /** At whose address it arrived: another host's where the BMC is wired to the wrong machine. Absent: its own. */
  asked?: string;
  op: 'get' | 'set';
  /** `power` as a rule. */
  what: string;
  /** set: the value that was ordered; get: the answer. `1` on, `0` off. */
  value?: string;
  /** CLOCK_MONOTONIC, ns, when it arrived; wall clock, ms. */
  ns: number;
  at: number;
}

export function parseBmcLine(host: string, line: string): BmcEntry | undefined {
  try {
    const e = JSON.parse(line) as Omit<BmcEntry, 'host'>;
    return (e.op === 'get' || e.op === 'set') && Number.isFinite(e.ns) ? { ...e, host } : undefined;
  } catch {
    return undefined;
  }
}
