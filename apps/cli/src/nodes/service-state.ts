import type { NodeView } from '#contracts';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';
import { acceptedParts } from './accepted-text.js';

/** Whether a node is in service, why not, and who holds it; only what there is. Scripts read these names. */
export function serviceState(n: NodeView, terminal: Terminal): object {
  const { cordon, maintenance, remaining, acceptedDrift: accepted } = n;
  return present({
    in_service: n.inService,
    reasons: n.reasons.length === 0 ? undefined : detailsByCode(n),
    cordon:
      cordon &&
      present({
        reason: cordon.reason,
        by: cordon.by,
        until: cordon.until && moment(cordon.until, terminal),
        drain: cordon.drain,
        drained: cordon.drained && moment(cordon.drained, terminal),
      }),
    remaining: remaining?.join(' ') || undefined,
    maintenance: maintenance && present({ reason: maintenance.reason, incident: maintenance.incident }),
    accepted_drift:
      accepted &&
      present({
        of: acceptedParts(accepted),
        reason: accepted.reason,
        by: accepted.by,
        until: accepted.until && moment(accepted.until, terminal),
      }),
    job: n.job,
    claim: n.claim,
  });
}

/** A code may stand twice, as for two drivers: then its details share a line. */
function detailsByCode({ reasons }: NodeView): Record<string, string> {
  const details: Record<string, string> = {};
  for (const { code, detail } of reasons) details[code] = code in details ? `${details[code]}; ${detail}` : detail;
  return details;
}

const present = (facts: object): object =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
