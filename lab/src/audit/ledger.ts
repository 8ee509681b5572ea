/** One heartbeat of a workload, as the workload itself wrote it. Services cannot write here. */
export interface Beat {
  workload: string;
  host: string;
  boot: string;
  /** CLOCK_MONOTONIC, ns; all hosts of a lab share the machine's clock. */
  ns: number;
}

/** A workload ran on one boot of one host from its first beat to its last. */
export interface Run {
  host: string;
  boot: string;
  fromNs: number;
  toNs: number;
  beats: number;
}

export interface WorkloadHistory {
  workload: string;
  runs: Run[];
  /** Longest time, ms, during which two hosts (or two boots) both ran it; 0 = never. */
  longestOverlapMs: number;
  /** Longest time, ms, between two beats, whoever wrote them. */
  longestGapMs: number;
}

/** Two beats of the same process lie this far apart at the most; a longer silence ends a run. Beats come every 50 ms; the rest is room for a loaded machine. */
const RUN_BREAK_MS = 1000;
const MS = 1e6;

/** A line of the ledger, or undefined where it is not whole (a host that was cut off in the middle of a write). */
export function parseBeat(line: string): Beat | undefined {
  try {
    const b = JSON.parse(line) as Beat;
    const whole = typeof b.workload === 'string' && typeof b.host === 'string' && typeof b.boot === 'string';
    return whole && Number.isFinite(b.ns) ? b : undefined;
  } catch {
    return undefined;
  }
}

function runsOf(beats: Beat[]): Run[] {
  const runs: Run[] = [];
  const open = new Map<string, Run>();
  for (const b of beats) {
    const key = `${b.host} ${b.boot}`;
    const run = open.get(key);
    if (run !== undefined && b.ns - run.toNs <= RUN_BREAK_MS * MS) {
      run.toNs = b.ns;
      run.beats += 1;
    } else {
      const fresh = { host: b.host, boot: b.boot, fromNs: b.ns, toNs: b.ns, beats: 1 };
      open.set(key, fresh);
      runs.push(fresh);
    }
  }
  return runs;
}

/** What the ledger proves about each workload; beats may come in any order. */
export function historyOf(beats: readonly Beat[]): WorkloadHistory[] {
  const byWorkload = new Map<string, Beat[]>();
  for (const b of beats) {
    const list = byWorkload.get(b.workload) ?? [];
    list.push(b);
    byWorkload.set(b.workload, list);
  }
  return [...byWorkload].map(([workload, list]) => {
    const sorted = list.toSorted((a, b) => a.ns - b.ns);
    const runs = runsOf(sorted);
    let overlap = 0;
    for (const [i, a] of runs.entries())
      for (const b of runs.slice(i + 1))
        overlap = Math.max(overlap, Math.min(a.toNs, b.toNs) - Math.max(a.fromNs, b.fromNs));
    let gap = 0;
    for (const [i, b] of sorted.entries()) if (i > 0) gap = Math.max(gap, b.ns - (sorted[i - 1] as Beat).ns);
    return { workload, runs, longestOverlapMs: overlap / MS, longestGapMs: gap / MS };
  });
}
