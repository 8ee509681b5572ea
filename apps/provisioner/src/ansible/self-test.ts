import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runGuarded } from '#bus';
import { MusterError } from '#contracts';
import type { AnsibleConfig } from '#service';
import { playbookOf } from './ansible-run.js';

const LIMIT_MS = 20_000;

/** Can this machine run the playbooks? Undefined, or one sentence that says what is missing. */
export async function ansibleTrouble(config: AnsibleConfig): Promise<string | undefined> {
  for (const step of ['site', 'cleanup', 'check', 'recover'] as const) {
    const path = join(config.playbooks, playbookOf(step, config));
    if (!existsSync(path)) return `the playbook ${path} does not exist`;
  }
  if (config.privateKey !== undefined && !existsSync(config.privateKey))
    return `the ssh key ${config.privateKey} does not exist`;
  try {
    const run = runGuarded({
      command: 'ansible-playbook',
      args: ['--version'],
      env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' },
      deadlineNs: process.hrtime.bigint() + BigInt(LIMIT_MS) * 1_000_000n,
    });
    const { exitCode, stdout, stderr } = await run.done;
    if (exitCode === 0 && /core 2\.(1[2-9]|[2-9]\d)/.test(stdout)) return undefined;
    if (exitCode === 0) return `ansible-core ≥ 2.12 is needed, found: ${stdout.split('\n')[0] ?? ''}`;
    return `ansible-playbook does not work: ${(stderr || stdout).trim().split('\n').at(-1) ?? `exit code ${exitCode}`}`;
  } catch (error) {
    return `ansible-playbook cannot be run: ${MusterError.from(error).message}`;
  }
}
