import type { LinkObservation, VerdictKind } from '#contracts';
import type { Sight, SightedNode } from '../conditions/sight.js';

/** What one observer says of a target on a network; undefined: it hears it well. */
type ObservationOf = (
  observer: string,
  target: string,
  network: string,
) => 'silent' | 'absent' | { lost: number } | undefined;

const NETWORKS = ['backend', 'management'];
const HEARD: LinkObservation = [0, 200];
const SILENT: LinkObservation = [6, -1];

/** Nodes that all watch each other, UP unless said otherwise. */
export function aSight(
  names: readonly string[],
  says: ObservationOf,
  verdicts: Record<string, VerdictKind | readonly string[]> = {},
): Sight {
  const nodes = names.map((name): SightedNode => {
    const v = verdicts[name] ?? 'UP';
    return {
      name,
      networks: NETWORKS,
      verdict: typeof v === 'string' ? v : 'DEGRADED',
      silentOn: typeof v === 'string' ? [] : v,
      watchedBy: names.filter((n) => n !== name),
    };
  });
  return {
    nodes,
    remarked: new Set(names),
    link: (observer, target, network) => {
      const said = says(observer, target, network);
      if (said === 'absent') return undefined;
      if (said === 'silent') return { state: 'silent', link: SILENT };
      return { state: 'heard', link: said ? [0, 200, said.lost] : HEARD };
    },
  };
}
