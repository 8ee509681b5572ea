import type { DetectionSettings, EvidenceRow, LinkHealth, ObserverEvidence, WordlessObserver } from '#contracts';

/** Numbers that tell a miss from a silence, and a stale report from a fresh one. */
export type HealthNumbers = Pick<DetectionSettings, 'misses' | 'suspectMisses' | 'freshness'>;

/**
 * What the observers said, a row each, networks beside one another; observers that report it down stand first, and last
 * those that were to speak and have not.
 * @param wordless have no cell in any network
 */
export function evidenceMatrix(
  observers: readonly ObserverEvidence[],
  n: HealthNumbers,
  wordless: readonly WordlessObserver[] = [],
): { networks: string[]; observers: EvidenceRow[] } {
  const rows = new Map<string, EvidenceRow>();
  for (const o of observers) {
    // Whoever watches it by the plan may have been asked as well.
    const id = `${o.observer} ${o.polled === true}`;
    let row = rows.get(id);
    if (row === undefined) {
      const { observer, stance, reportAgeMs } = o;
      row = { observer, stance, ...(o.polled && { polled: true }), reportAgeMs, networks: {} };
      rows.set(id, row);
    }
    row.networks[o.network] = {
      health: healthOf(o, n),
      misses: o.misses,
      ...(o.rttUs !== undefined && { rttUs: o.rttUs }),
      ...(o.lostPermille !== undefined && { lostPermille: o.lostPermille }),
    };
  }
  return {
    networks: [...new Set(observers.map((o) => o.network))].sort(byName),
    observers: [...rows.values(), ...wordless.map(wordlessRow)].sort(byStance),
  };
}

const wordlessRow = ({ observer, why, reportAgeMs, polled }: WordlessObserver): EvidenceRow => ({
  observer,
  stance: 'absent',
  wordless: why,
  ...(polled && { polled }),
  ...(reportAgeMs !== undefined && { reportAgeMs }),
  networks: {},
});

/** What does not count is said before what it would have said. */
function healthOf(o: ObserverEvidence, n: HealthNumbers): LinkHealth {
  if (o.reportAgeMs > n.freshness) return 'stale';
  if (o.abstains === true) return 'abstains';
  if (o.mute === true) return 'mute';
  if (o.polled === true) return polledHealthOf(o.misses);
  if (o.misses >= n.misses) return 'silent';
  if (o.misses >= n.suspectMisses) return 'missing';
  return o.rttUs === undefined ? 'unknown' : 'heard';
}

/** A poll is over in a moment: it has no round trip time, and all that it sent was lost or not. One loss is no silence. */
const polledHealthOf = (misses: number): LinkHealth => (misses === 0 ? 'heard' : misses === 1 ? 'missing' : 'silent');

const order: readonly EvidenceRow['stance'][] = ['accuses', 'hears', 'absent'];

const byStance = (a: EvidenceRow, b: EvidenceRow): number =>
  order.indexOf(a.stance) - order.indexOf(b.stance) ||
  Number(a.wordless !== undefined) - Number(b.wordless !== undefined) ||
  byName(a.observer, b.observer);

/** Management first: it is the one that people know. */
const byName = (a: string, b: string): number =>
  a === b ? 0 : a === 'management' ? -1 : b === 'management' ? 1 : a < b ? -1 : 1;
