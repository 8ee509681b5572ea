import type { IdentityStanding, PowerIdentity } from '#contracts';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

/** `proven by guid (2026-01-01 …)`, `unproven: why`. */
export function identityText(standing: IdentityStanding, found: PowerIdentity | undefined, t: Terminal): string {
  if (found === undefined) return 'unproven: not compared yet';
  if (standing === 'proven') return `proven by ${found.by ?? 'an operator'} (${moment(found.at, t)})`;
  const known = found.acknowledged;
  const answered = known === undefined ? '' : ` (acknowledged by ${known.by}: ${known.why})`;
  return `${standing === 'acknowledged' ? 'mismatch' : standing}: ${found.why ?? 'no reason is known'}${answered}`;
}
