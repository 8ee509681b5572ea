import { readFileSync } from 'node:fs';
import { MusterError, type Clock, type Random } from '#contracts';
import { agentArchive } from '../agent-archive/agent-archive.js';
import { missingContent } from './playbook-files.js';
import { readServices } from '../services/service-folder.js';
import type { AnsibleHost } from './ansible-host.js';
import { runAnsible } from './ansible-run.js';
import { RunFolder } from './run-folder.js';
import { whyAnsibleFails } from './self-test.js';

/** This very machine. */
export const ownAnsibleHost = (o: { clock: Clock; random: Random }): AnsibleHost => ({
  whyUnfit: (config, settings) => whyAnsibleFails(config, settings, o.clock),
  missingContent,
  services: readServices,
  knownHosts,
  run: (options) => runAnsible({ ...options, clock: o.clock }),
  agentArchive: (folder, runtime) => agentArchive(folder, runtime, o),
  removeAbandoned: () => RunFolder.removeAbandoned(),
});

function knownHosts(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    // Not there yet: it says nothing of anybody.
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new MusterError('CONFIG_INVALID', `ansible.knownHosts ${file} cannot be read`, {}, { cause });
  }
}
