import type { JobRecord, NodeRecord, NodeResult, ServiceFinding } from '#contracts';

/**
 * The node with what this job has found of its services, each since when. A look that could not be carried out says
 * nothing: what the last one found stays, with its time. A site run ends well only where each of its services is ok.
 */
export function withFindings(node: NodeRecord, job: Pick<JobRecord, 'id'>, r: NodeResult, at: number): NodeRecord {
  const found =
    r.check?.findings ??
    (r.ok ? (r.services ?? []).map((service) => ({ service, result: 'ok' as const, why: '' })) : []);
  if (found.length === 0) return node;
  const services = found.map(({ service, result, why }): [string, ServiceFinding] => {
    const before = own(node.findings?.services, service);
    const since = before?.result === result ? before.since : at;
    return [service, { result, why, since, ...own(r.declared, service) }];
  });
  return { ...node, findings: { at, job: job.id, services: Object.fromEntries(services) } };
}

/**
 * The node after a job that has failed halfway: of these services (absent: of all) nothing is known any more but that they
 * were there.
 */
export function withUnknownFindings(
  node: NodeRecord,
  job: Pick<JobRecord, 'id' | 'services'>,
  why: string,
  at: number,
): NodeRecord {
  if (node.findings === undefined) return node;
  const services = Object.entries(node.findings.services).map(([name, f]): [string, ServiceFinding] => {
    if (job.services?.includes(name) === false) return [name, f];
    return [name, { ...f, result: 'unknown', why, since: f.result === 'unknown' ? f.since : at }];
  });
  return { ...node, findings: { at, job: job.id, services: Object.fromEntries(services) } };
}

/** Services are named by their authors: `constructor` is one. */
const own = <T>(map: Record<string, T> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
