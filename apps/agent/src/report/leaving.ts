import { readFileSync } from 'node:fs';
import type { Clock } from '#contracts/ports/clock.js';
import type { Leaving } from '#contracts/wire/report.js';
import { musterRoot } from '../config/agent-config.js';
import { systemctl } from '../workload/systemctl.js';

/** Holds `reboot` or `poweroff`, written before the host's shutdown; for hosts without systemd. */
const leavingFile = (): string => `${musterRoot()}/run/muster/leaving`;
/** Written by systemd-logind for a planned shutdown: `MODE=reboot`. */
const scheduledFile = (): string => `${musterRoot()}/run/systemd/shutdown/scheduled`;
/** ms for the host's manager to say what it does; it may be at its own end. */
const ASK_LIMIT = 1_000;

/** What the host's manager says of itself, as `systemctl` prints it. Undefined: it gave no answer. */
export interface ManagerWord {
  /** `is-system-running`. */
  state?: string;
  /** `list-jobs`. */
  jobs?: string;
}

/** Asks both at once. */
export async function askManager(clock: Clock): Promise<ManagerWord> {
  const [state, jobs] = await Promise.all([
    systemctl(clock, ['is-system-running'], ASK_LIMIT),
    systemctl(clock, ['list-jobs', '--no-legend', '--no-pager'], ASK_LIMIT),
  ]);
  const said = state.stdout.trim();
  // It ends with 1 for every state but `running`, and says that state all the same.
  return { ...(said !== '' && { state: said }), ...(jobs.code === 0 && { jobs: jobs.stdout }) };
}

/**
 * Why this agent is being stopped: the host goes down as planned, or only the agent is stopped. The first is believed
 * for long, so it is what an unclear end is taken for: only where the manager says that the host runs, and that nothing
 * ends it, is it the agent alone.
 */
export function leavingKind(
  manager: ManagerWord,
  read: (file: string) => string | undefined = textOf,
  env: NodeJS.ProcessEnv = process.env,
): Leaving['kind'] {
  const said = env.MUSTER_LEAVING ?? read(leavingFile());
  const scheduled = read(scheduledFile())?.match(/^MODE=(\w+)/m)?.[1];
  for (const text of [said?.trim(), scheduled]) {
    if (text === 'reboot' || text === 'kexec' || text === 'soft-reboot') return 'reboot';
    if (text === 'poweroff' || text === 'halt') return 'poweroff';
  }
  const { state, jobs = '' } = manager;
  if (/\b(poweroff|halt)\.target\s+start\b/.test(jobs)) return 'poweroff';
  if (/\b(reboot|kexec|soft-reboot|shutdown)\.target\s+start\b/.test(jobs)) return 'reboot';
  const runs = state === 'running' || state === 'degraded';
  return runs && manager.jobs !== undefined ? 'stop' : 'reboot';
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (e) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((e as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw e;
  }
}
