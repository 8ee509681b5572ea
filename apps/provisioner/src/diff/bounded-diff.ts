import type { CheckDiff, PartDiff } from '#contracts';

/** Characters of all diffs of one job together: its record holds them, and NATS takes 8 MB for all that waits there. */
const MOST_OF_JOB = 1_048_576;
/** Of one node. */
const MOST_OF_NODE = 65_536;
/** Of one part. */
const MOST_LINES = 300;
/** Of one line. */
const MOST_OF_LINE = 500;
/** What a part takes beside its lines. */
const OVERHEAD = 64;

/** As much of a diff as the record of a job for so many nodes holds; what is left out is counted. */
export function boundedDiff(diff: CheckDiff, nodes: number): CheckDiff {
  let left = Math.min(MOST_OF_NODE, Math.floor(MOST_OF_JOB / Math.max(1, nodes)));
  let cut = 0;
  const services = diff.services.map((s) => {
    left -= s.service.length + (s.unknown?.length ?? 0) + OVERHEAD;
    const parts: PartDiff[] = [];
    for (const part of s.parts) {
      left -= part.name.length + (part.note?.length ?? 0) + OVERHEAD;
      const lines = left < 0 ? [] : fitting(part.lines, left);
      for (const line of lines) left -= line.length + 1;
      const out = part.lines.length - lines.length;
      cut += out;
      if (left < 0) cut += 1;
      else parts.push({ ...part, lines, ...(out > 0 && { cut: out }) });
    }
    return { ...s, parts };
  });
  return cut > 0 ? { services, cut } : { services };
}

function fitting(lines: readonly string[], most: number): string[] {
  const fit: string[] = [];
  let left = most;
  for (const line of lines.slice(0, MOST_LINES)) {
    const short = line.length > MOST_OF_LINE ? `${line.slice(0, MOST_OF_LINE)}…` : line;
    left -= short.length + 1;
    if (left < 0) break;
    fit.push(short);
  }
  return fit;
}
