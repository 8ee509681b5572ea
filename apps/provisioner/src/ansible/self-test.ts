import { runGuarded } from '#bus';
import { MusterError, type AnsibleSettings, type Clock } from '#contracts';
import type { AnsibleConfig } from '#service';
import { missingContent } from './playbook-files.js';

const LIMIT_MS = 20_000;

/** Can this machine run the playbooks? Undefined, or one sentence that says what is missing. */
export async function whyAnsibleFails(
  config: AnsibleConfig,
  settings: AnsibleSettings,
  clock: Clock,
): Promise<string | undefined> {
  // What was set at run time is a job's own fault: it is told there, and does not take this worker from all the others.
  const missing =
    Object.keys(settings).length > 0 ? undefined : missingContent(config, ['site', 'cleanup', 'check', 'recover']);
  if (missing !== undefined) return missing;
  try {
    const run = runGuarded({
      command: 'ansible-playbook',
      args: ['--version'],
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
      deadlineNs: clock.monotonicNs() + BigInt(LIMIT_MS) * 1_000_000n,
    });
    const { exitCode, stdout, stderr } = await run.done;
    if (exitCode === 0 && /core 2\.(1[2-9]|[2-9]\d)/.test(stdout)) return undefined;
    if (exitCode === 0) return `ansible-core ≥ 2.12 is needed, found: ${stdout.split('\n')[0] ?? ''}`;
    return `ansible-playbook does not work: ${(stderr || stdout).trim().split('\n').at(-1) ?? `exit code ${exitCode}`}`;
  } catch (error) {
    return `ansible-playbook cannot be run: ${MusterError.from(error).message}`;
  }
}
