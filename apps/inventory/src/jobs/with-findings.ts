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

/** Services are named by their authors: `constructor` is one. */
const own = <T>(map: Record<string, T> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
