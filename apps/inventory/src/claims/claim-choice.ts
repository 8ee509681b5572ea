import { MusterError, type OutReason } from '#contracts';

/** A node that the request could mean: its host group and the selector fit. */
export interface Candidate {
  name: string;
  failureDomain: string;
  /** Why it is out of service; empty: it is in service. */
  reasons: readonly OutReason['code'][];
}

/**
 * The nodes of a claim: in service, held by nobody, and spread over as many failure domains as there are.
 * @throws MusterError NO_SERVICEABLE_NODE with how many candidates are out for which reason
 */
export function chooseNodes(count: number, candidates: readonly Candidate[]): string[] {
  const fit = candidates.filter((c) => c.reasons.length === 0);
  if (fit.length < count) throw tooFew(count, fit.length, candidates);
  const domains = new Map<string, string[]>();
  for (const c of [...fit].sort((a, b) => (a.name < b.name ? -1 : 1)))
    domains.set(c.failureDomain, [...(domains.get(c.failureDomain) ?? []), c.name]);
  // The largest domain gives first, so that no small one is emptied for a claim that others can serve.
  const queues = [...domains.values()].sort((a, b) => b.length - a.length);
  const chosen: string[] = [];
  while (chosen.length < count)
    for (const queue of queues) {
      const next = chosen.length < count ? queue.shift() : undefined;
      if (next !== undefined) chosen.push(next);
    }
  return chosen.sort();
}

function tooFew(wanted: number, serviceable: number, candidates: readonly Candidate[]): MusterError {
  const reasons: Partial<Record<OutReason['code'], number>> = {};
  for (const c of candidates) for (const code of new Set(c.reasons)) reasons[code] = (reasons[code] ?? 0) + 1;
  const why = Object.entries(reasons).map(([code, nodes]) => `${code} ${nodes}`);
  return new MusterError(
    'NO_SERVICEABLE_NODE',
    `${wanted} node(s) wanted, ${serviceable} of ${candidates.length} that fit are in service and free${why.length > 0 ? `; out: ${why.join(', ')}` : ''}`,
    { wanted, serviceable, candidates: candidates.length, reasons },
  );
}
