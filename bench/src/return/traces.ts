import { MusterError, type JobRecord } from '#contracts';
import type { FeedEvent } from '../../../lab/src/fleet/event-feed.js';

/** How a host comes back: as it left, with a service broken, or with one drifted that may be set up by itself. */
export type ReturnKind = 'check' | 'resetup' | 'partial';

/** The jobs of one return, in order. */
export interface ReturnJobs {
  checks: { job: string; pass: boolean }[];
  resetups: { job: string; ok: boolean }[];
}

/** What the events tell of a node's return. */
export function jobsOf(events: readonly FeedEvent[], node: string): ReturnJobs {
  const own = events.filter((e) => e.key === node);
  const job = (e: FeedEvent): string => String(e.data['job']);
  return {
    checks: own.filter((e) => e.kind === 'check').map((e) => ({ job: job(e), pass: e.data['pass'] === true })),
    resetups: own.filter((e) => e.kind === 'resetup').map((e) => ({ job: job(e), ok: e.data['ok'] === true })),
  };
}

/**
 * What a return did otherwise than one of its kind does; undefined where it did not. Its time would be that of
 * something else.
 * @param only services of its re-setup, as the job's record says
 */
export function oddity(
  kind: ReturnKind,
  { checks, resetups }: ReturnJobs,
  only: JobRecord['services'],
  drifted: string,
): string | undefined {
  const [check, ...moreChecks] = checks;
  if (check === undefined || moreChecks.length > 0) return `${checks.length} checks were told, not one`;
  if (check.pass !== (kind === 'check')) return check.pass ? 'its check passed' : 'its check found something';
  const [resetup, ...moreResetups] = resetups;
  if (kind === 'check') return resetup === undefined ? undefined : 'it was set up again';
  if (resetup === undefined || moreResetups.length > 0) return `${resetups.length} re-setups were told, not one`;
  if (!resetup.ok) return 'its re-setup failed';
  if (kind === 'resetup') return only === undefined ? undefined : `only ${only.join(', ')} was set up again`;
  return only?.length === 1 && only[0] === drifted ? undefined : `set up again was ${only?.join(', ') ?? 'all of it'}`;
}

/**
 * ms for which a job's playbooks ran, from the start of ansible-playbook to its end, as its log says of each.
 * COMMAND_FAILED where it says nothing.
 */
export function ansibleMs(log: string): number {
  const took = [...log.matchAll(/^\[muster\] [a-z]+ took (\d+(?:\.\d+)?) ms$/gm)].map(([, ms]) => Number(ms));
  if (took.length === 0) throw new MusterError('COMMAND_FAILED', 'the log of a job does not say how long Ansible ran');
  return took.reduce((sum, ms) => sum + ms, 0);
}
