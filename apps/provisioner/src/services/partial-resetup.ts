import { MusterError, type JobRecord } from '#contracts';
import type { Service } from './service-folder.js';

/** Of these, the services that may be cleaned up and set up again while the node's others go on. */
export const aloneAmong = (services: readonly Service[], names: readonly string[]): string[] =>
  services.filter((s) => s.resetup === 'alone' && names.includes(s.name)).map((s) => s.name);

/**
 * The only services that a re-setup touches; undefined: all. What was ordered by an earlier check counts only while every
 * one of them says that it may be set up by itself: the content may have changed since.
 * @throws MusterError CONFIG_INVALID: one of them is not known here. To set up the rest would leave the node without it.
 */
export function onlyServices(
  job: Pick<JobRecord, 'kind' | 'services'>,
  services: readonly Service[],
): string[] | undefined {
  const asked = job.kind === 'resetup' ? (job.services ?? []) : [];
  const unknown = asked.filter((name) => !services.some((s) => s.name === name));
  if (unknown.length > 0)
    throw new MusterError(
      'CONFIG_INVALID',
      `the folder of services here has no ${unknown.join(', ')}, which the check found: make the folders of all provisioners alike`,
      { services: unknown },
    );
  return asked.length > 0 && aloneAmong(services, asked).length === new Set(asked).size ? asked : undefined;
}
