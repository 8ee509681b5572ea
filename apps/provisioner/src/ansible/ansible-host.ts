import type { AnsibleSettings } from '#contracts';
import type { AnsibleConfig } from '#service';
import type { AgentArchive } from '../agent-archive/agent-archive.js';
import type { Service } from '../services/service-folder.js';
import type { Step } from './ansible-events.js';
import type { AnsibleOutcome, AnsibleRunOptions } from './ansible-run.js';

/**
 * The machine that Ansible runs on: its processes and its files. Everything that a job does outside of the bus, it does
 * through this; a simulation plays it here.
 */
export interface AnsibleHost {
  /** Why this machine cannot run the playbooks: one sentence, or undefined. */
  whyUnfit(config: AnsibleConfig, settings: AnsibleSettings): Promise<string | undefined>;
  /** What is not there of the files for the playbooks of these steps: one sentence, or undefined. */
  missingContent(config: AnsibleConfig, steps: readonly Step[]): string | undefined;
  /** The operator's own services, in the order in which they are set up; undefined: no folder. @throws CONFIG_INVALID */
  services(config: AnsibleConfig): Promise<readonly Service[] | undefined>;
  /** The operator's own known_hosts; undefined: the file is not there. @throws CONFIG_INVALID */
  knownHosts(file: string): string | undefined;
  /**
   * One playbook on the nodes of a job. It is killed at the end of the lease, which is asked again while it runs, also
   * where this process is stopped or gone by then. @throws COMMAND_FAILED where Ansible cannot be started at all
   */
  run(o: AnsibleRunOptions): Promise<AnsibleOutcome>;
  /** The archive of this version's agent in `folder`, with that Node. @throws CONFIG_INVALID */
  agentArchive(folder: string, runtime?: string): Promise<AgentArchive>;
  /** Removes what runs of processes that were killed have left lying about. */
  removeAbandoned(): Promise<void>;
}
