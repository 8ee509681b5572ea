import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError, type JobKind } from '#contracts';
import type { AnsibleConfig } from '#service';
import { ownPlaybooks, playbookOf } from './ansible-run.js';
import type { Step } from './ansible-events.js';
import type { Service } from '../services/service-folder.js';
import type { AnsibleHost } from './ansible-host.js';

/** Playbooks of the configured folder that a job may come to need, also for what must follow a failure. */
const needs: Record<JobKind, Step[]> = {
  commission: ['site', 'cleanup'],
  decommission: ['cleanup'],
  maintenance: ['cleanup', 'site'],
  resetup: ['cleanup', 'site'],
  check: ['check'],
  recover: ['recover'],
  discover: [],
  'service-test': ['service-test'],
};

/** What is not there of the files for these playbooks: one sentence, or undefined. */
export function missingContent(config: AnsibleConfig, steps: readonly Step[]): string | undefined {
  if (!existsSync(config.playbooks)) return `the folder of playbooks ${config.playbooks} does not exist`;
  for (const step of steps) {
    const path = join(config.playbooks, playbookOf(step, config));
    if (!existsSync(path)) return `the playbook ${path} does not exist`;
  }
  if (config.privateKey !== undefined && !existsSync(config.privateKey))
    return `the ssh key ${config.privateKey} does not exist`;
  return undefined;
}

/**
 * The operator's own services, where such a job has to do with them; undefined: there is no folder. A recovery does not
 * wait for a slip in one of them.
 * @throws CONFIG_INVALID
 */
export async function servicesFor(
  host: Pick<AnsibleHost, 'services'>,
  config: AnsibleConfig,
  kind: JobKind,
  worker: string,
): Promise<readonly Service[] | undefined> {
  if (kind === 'recover' || kind === 'discover') return [];
  try {
    return await host.services(config);
  } catch (error) {
    const failure = MusterError.from(error);
    throw new MusterError('CONFIG_INVALID', `on ${worker} ${failure.message}: nothing was run`, {}, { cause: error });
  }
}

/**
 * Before a job begins: whatever it may need is there, so that it does not stop half way.
 * @throws CONFIG_INVALID
 */
export function checkContent(
  host: Pick<AnsibleHost, 'missingContent'>,
  config: AnsibleConfig,
  kind: JobKind,
  worker: string,
): void {
  const missing = host.missingContent(
    kind === 'discover' || kind === 'service-test' ? { ...config, playbooks: ownPlaybooks } : config,
    needs[kind],
  );
  if (missing === undefined) return;
  throw new MusterError(
    'CONFIG_INVALID',
    `on ${worker} ${missing}: nothing was run. Put it there, or change the Ansible configuration (PATCH /v1/settings, or config set)`,
  );
}
