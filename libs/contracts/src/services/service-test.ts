/** What a service is on one node, by its `service.yml`. */
export interface DeclaredService {
  version: string;
  /** Of the node's host group. */
  mode: string;
}

/** What a run of `tasks/site.yml`, `tasks/check.yml` and `tasks/cleanup.yml` of one service has shown of them. */
export interface ServiceTestResult {
  service: string;
  hostGroup: string;
  mode: string;
  /** In the order in which they were run; one that is not here was not come to. */
  steps: { step: ServiceTestStep; ok: boolean }[];
  /** What is to be mended, by the file of the service and, where it is known, its line (`tasks/site.yml:12`). */
  wrong: { file: string; what: string }[];
}

/**
 * - begin: cleanup, where the service never was; what stands on the node is noted
 * - site, check: it is set up, and must be found ok
 * - again: site once more, which must change nothing
 * - edit: each of its files is changed by hand, one after the other, and the check must find it
 * - resetup, recheck: cleanup and site, and it must be found ok
 * - end: cleanup, and what stands on the node is compared with the beginning
 */
export const ServiceTestSteps = ['begin', 'site', 'check', 'again', 'edit', 'resetup', 'recheck', 'end'] as const;
export type ServiceTestStep = (typeof ServiceTestSteps)[number];
