import type { EvidenceRow, LifeObservation, NodeEvidence, OwnProbe } from '#contracts';
import { shortAge } from '../output/times.js';

/** Names in one line; the matrix has them all. */
const NAMES = 8;

const mostOf = (count: number): number => Math.floor(count / 2) + 1;

/**
 * What was counted, in the order in which a verdict needs it: who reports the node down and how many must, who hears it,
 * who has no vote and why, on which networks it is silent, whether the monitor could judge at all, and what it saw
 * itself.
 */
export function evidenceFacts(e: NodeEvidence): [fact: string, text: string][] {
  const c = e.counts;
  if (c === undefined)
    return e.verdict === null
      ? []
      : [['evidence', 'not kept; that of a verdict is, for a day, from when it was given']];
  const by = (stance: EvidenceRow['stance']): EvidenceRow[] => e.observers.filter((o) => o.stance === stance);
  return [
    ['reports down', `${accusers(e, c)}${named(by('accuses'))}`],
    ['hears it', `${by('hears').length}${named(by('hears'))}`],
    ['no vote', `${by('absent').length}${named(by('absent'), (o) => ` (${whyAbsent(o)})`)}`],
    ['silent', silentOn(e)],
    ['monitor', sight(c)],
    ['own probe', c.ownProbe === undefined ? 'none yet' : probeText(c.ownProbe)],
    ...observationsOfOthers(c.lifeLooks ?? []),
    ['own report', c.ownReportAgeMs === undefined ? 'none seen' : `${shortAge(c.ownReportAgeMs)} old`],
  ];
}

/** In a large fleet both majorities must report it down: the assigned, and those that were polled. */
function accusers(e: NodeEvidence, c: NonNullable<NodeEvidence['counts']>): string {
  const share = (is: number, of: number, whom: string): string =>
    of === 0 ? `nobody ${whom}` : `${is} of ${of} ${whom}, ${mostOf(of)} needed`;
  if (!e.observers.some((o) => o.polled)) return share(c.accusers, c.assigned, 'observers');
  const watching = e.observers.filter((o) => o.polled !== true);
  const accusing = watching.filter((o) => o.stance === 'accuses').length;
  return `${share(c.accusers, c.assigned, 'polled')}, and ${share(accusing, watching.length, 'assigned')}`;
}

function named(rows: readonly EvidenceRow[], more: (row: EvidenceRow) => string = () => ''): string {
  if (rows.length === 0) return '';
  const shown = rows.slice(0, NAMES).map((o) => `${o.observer}${more(o)}`);
  return `: ${shown.join(', ')}${rows.length > NAMES ? ` and ${rows.length - NAMES} more` : ''}`;
}

/** Why an observer does not count, in a word or two. */
function whyAbsent(row: EvidenceRow): string {
  const age = row.reportAgeMs === undefined ? '' : ` ${shortAge(row.reportAgeMs)}`;
  switch (row.wordless) {
    case 'never-heard':
      return 'never heard';
    case 'no-word':
      return `no word of it, report${age} old`;
    case 'no-answer':
      return 'no answer';
    case undefined:
  }
  const healths = Object.values(row.networks).map((cell) => cell.health);
  if (healths.includes('stale')) return `stale${age}`;
  if (healths.includes('abstains')) return 'abstains';
  return healths.includes('mute') ? 'cannot send' : 'undecided';
}

/** Assigned observers that miss it there, by network: more than half make it DEGRADED, on all networks SUSPECT. */
function silentOn(e: NodeEvidence): string {
  const watching = e.observers.filter((o) => o.polled !== true);
  const missedOn = (network: string): number =>
    watching.filter((o) => ['silent', 'missing'].includes(o.networks[network]?.health ?? '')).length;
  const texts = e.networks.map((n) => `${n} to ${missedOn(n)} of ${watching.length}`);
  return texts.length === 0 ? 'nobody says so' : texts.join(', ');
}

function sight({ members, sightedReporters: others, sighted }: NonNullable<NodeEvidence['counts']>): string {
  const figures = `${others} of ${members} members report beside it`;
  if (members === 2) {
    const word = sighted === undefined ? '' : sighted ? 'enough: ' : 'not enough, so it calls nobody dead: ';
    return `${word}${figures}, 1 needed, and of two members also the witness`;
  }
  const can = sighted ?? (members > 0 && others >= mostOf(members));
  return `${can ? 'enough' : 'not enough, so it calls nobody dead'}: ${figures}, ${mostOf(members)} needed`;
}

/** What nodes found at its host that were asked to look beside the monitor. */
const observationsOfOthers = (observations: readonly LifeObservation[]): [fact: string, text: string][] => {
  const texts = observations.map(
    (l) => `${l.by} ssh ${l.ssh}, ping ${l.icmp}, closed port ${l.port}, its agent's port ${l.agentPort}`,
  );
  return texts.length === 0 ? [] : [['asked', texts.join('; ')]];
};

const probeText = ({ echo, ssh, ageMs }: OwnProbe): string =>
  `${echo.length === 0 ? 'no echo' : `echo on ${echo.join(', ')}`}, ssh ${ssh}, ${shortAge(ageMs)} old`;
