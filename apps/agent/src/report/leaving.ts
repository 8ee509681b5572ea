import { readFileSync } from 'node:fs';
import type { Leaving } from '#contracts/wire/report.js';
import { musterRoot } from '../config.js';

/** Holds `reboot` or `poweroff`, written before the host's shutdown; for hosts without systemd. */
const leavingFile = (): string => `${musterRoot()}/run/muster/leaving`;
/** Written by systemd-logind for a planned shutdown: `MODE=reboot`. */
const scheduledFile = (): string => `${musterRoot()}/run/systemd/shutdown/scheduled`;

/** Why this agent is being stopped: the host goes down as planned, or only the agent is stopped. */
export function leavingKind(
  read: (file: string) => string | undefined = textOf,
  env: NodeJS.ProcessEnv = process.env,
): Leaving['kind'] {
  const said = env.MUSTER_LEAVING ?? read(leavingFile());
  const scheduled = read(scheduledFile())?.match(/^MODE=(\w+)/m)?.[1];
  for (const text of [said?.trim(), scheduled]) {
    if (text === 'reboot' || text === 'kexec' || text === 'soft-reboot') return 'reboot';
    if (text === 'poweroff' || text === 'halt') return 'poweroff';
  }
  return 'stop';
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (e) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((e as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw e;
  }
}
