import {
  isPaused,
  isSettledJob,
  MusterError,
  PERMITS_KEY,
  RESERVATIONS_KEY,
  unreadableRemedy,
  type FencingSettings,
  type JobRecord,
  type UnreadableRecord,
} from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

/** What a deletion rests on. */
export interface DeletionFacts {
  jobs: readonly Pick<JobRecord, 'id' | 'status' | 'settled'>[];
  fencing: FencingSettings;
  /** Wall clock, ms. */
  now: number;
  /** For how long this process has known that the record cannot be read, ms. */
  knownMs: number;
  /** The node has just said itself what it runs. */
  speaks: (node: string) => boolean;
  /** A person has looked. It lifts {@link refusedDeletion} of an incident alone. */
  force: boolean;
}

/** Contenders overwrite an unreadable lease after 17.5 s at the latest: what stands for longer has none. */
const LEASE_WAIT_MS = 30_000;

/** Alarms of single records; all beyond these share one. */
const ALARMS = 20;

/**
 * Why this record must not be deleted now. What is gone is free for the next one, so it must be known before that
 * nothing goes on under it.
 */
export function refusedDeletion(r: UnreadableRecord, f: DeletionFacts): MusterError | undefined {
  if (r.foreign === true) return undefined;
  const no = (message: string): MusterError => new MusterError('ILLEGAL_TRANSITION', message, { ...r });
  if (r.bucket === 'admission' && r.key === RESERVATIONS_KEY) {
    const open = f.jobs.filter((j) => !isSettledJob(j)).map((j) => j.id);
    if (open.length > 0)
      return no(
        `the reservations hold the nodes of jobs that have not ended (${open.slice(0, 5).join(', ')}): cancel them, or wait for their end`,
      );
  }
  if (r.bucket === 'admission' && r.key === PERMITS_KEY) {
    const paused = f.fencing.mode === 'observe' || isPaused(f.fencing.paused, f.now);
    if (!paused)
      return no(
        'without the permits nobody knows how much was fenced in the last ten minutes: pause fencing for ten minutes first: muster fencing set enforce --pause 10m --reason …',
      );
  }
  // What an incident in doubt has taken is started nowhere while its node is silent. Nobody else knows of the doubt.
  if (r.bucket === 'incidents' && !f.force && !f.speaks(r.key))
    return no(
      `${r.key} is silent, and what its incident has in doubt is gone with the record: see that it is off, or what it runs, then repeat it with force`,
    );
  if (r.bucket === 'leases' && f.knownMs < LEASE_WAIT_MS)
    return no('somebody may still hold this lease: whoever contends for it overwrites it by itself within 18 s');
  return undefined;
}

const consequence: Partial<Record<UnreadableRecord['bucket'], string>> = {
  nodes: 'The node counts as a member that does not report; nothing is done with it.',
  incidents:
    'Its node counts as having an open incident: nothing is started there, and it is not powered off. While it is silent, what it may have run is started nowhere. Before you delete it, see what the node runs, or that it is off: what proved it off, and what was in doubt of that, is gone with it. While the node is silent that takes --force.',
  workloads: 'It is neither started nor moved, and no node is cleaned up: it might run there.',
  jobs: 'Its nodes stay held.',
  leases: 'Nobody acts by it until its contenders have overwritten it, within 18 s.',
  settings: 'Nothing is fenced where these are the settings of the cluster.',
  admission: 'Every request that it decides is refused.',
  tokens: 'The token is refused.',
  secrets: 'What it seals cannot be used.',
};

/** One alarm a record; where there are very many, somebody writes them, and the first of them say so. */
export function recordAlarms(records: readonly UnreadableRecord[]): WantedAlarm[] {
  const sorted = [...records].sort((a, b) => (subjectOf(a) < subjectOf(b) ? -1 : 1));
  const alarms = sorted.slice(0, ALARMS).map((r): WantedAlarm => {
    const remedy = r.bucket === 'leases' && r.foreign !== true ? '' : ` ${unreadableRemedy(r)}`;
    const effect = r.foreign === true ? '' : ` ${consequence[r.bucket] ?? ''}`.trimEnd();
    return {
      code: 'record-unreadable',
      subject: subjectOf(r),
      severity: 'critical',
      message: `The record ${r.bucket}/${r.key} cannot be read: ${r.why}.${effect}${remedy}`,
    };
  });
  const more = records.length - ALARMS;
  if (more > 0)
    alarms.push({
      code: 'record-unreadable',
      subject: 'others',
      severity: 'critical',
      message: `${more} further records cannot be read: muster record list shows them. Somebody may be writing them: see who may write to NATS.`,
    });
  return alarms;
}

/** A key from outside may hold what an alarm's own key cannot. */
const subjectOf = (r: UnreadableRecord): string =>
  `${r.bucket}=${r.key.replaceAll(/[^-_=~.a-zA-Z0-9]/g, '_').slice(0, 120)}`;
