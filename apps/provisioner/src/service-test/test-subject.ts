import { MusterError, type JobRecord, type NodeRecord } from '#contracts';
import { ABSENT } from '#contracts/services/service-file.js';
import type { Service } from '../services/service-folder.js';

/** The service that a job tests, and as what. */
export interface TestSubject {
  service: Service;
  hostGroup: string;
  mode: string;
}

/**
 * In the host group that the request names; else in that of the node, where it is set up there; else in the first that
 * `service.yml` names.
 * @throws MusterError CONFIG_INVALID, BAD_REQUEST: there is nothing that could be tested
 */
export function testSubject(
  job: Pick<JobRecord, 'services' | 'hostGroup'>,
  node: Pick<NodeRecord, 'hostGroup'> | undefined,
  services: readonly Service[],
): TestSubject {
  const name = job.services?.[0];
  const service = services.find((s) => s.name === name);
  if (service === undefined)
    throw new MusterError(
      'CONFIG_INVALID',
      `the folder of services (ansible.services) has no ${name ?? 'such service'} here; it has: ${services.map((s) => s.name).join(' ') || 'none'}`,
    );
  const groups = Object.keys(service.groups).filter((group) => service.groups[group] !== ABSENT);
  const own = node?.hostGroup !== undefined && groups.includes(node.hostGroup) ? node.hostGroup : undefined;
  const hostGroup = job.hostGroup ?? own ?? groups[0];
  const mode = hostGroup === undefined || !groups.includes(hostGroup) ? undefined : service.groups[hostGroup];
  if (hostGroup === undefined || mode === undefined)
    throw new MusterError(
      'BAD_REQUEST',
      `${service.name} is not set up in host group ${hostGroup ?? '(none)'}: its service.yml has ${groups.join(', ') || 'no group with a mode'}`,
    );
  return { service, hostGroup, mode };
}
