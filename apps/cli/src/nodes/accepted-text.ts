import type { AcceptedDrift } from '#contracts';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

/** What of a drift, as people name it: services, and the configuration where that is another than was set up. */
export const acceptedParts = (a: Pick<AcceptedDrift, 'findings' | 'configuration'>): string =>
  [
    ...a.findings.map((f) => `${f.service} (${f.why})`),
    ...(a.configuration === true ? ['the effective configuration'] : []),
  ].join(', ');

/** One line of a node: what is wanted so, why, by whom, and until when. */
export function acceptedText(a: AcceptedDrift, terminal: Terminal): string {
  const end =
    a.until === undefined ? '' : `, ${a.until <= Date.now() ? 'ended' : 'until'} ${moment(a.until, terminal)}`;
  return `drift of ${acceptedParts(a)}: ${a.reason} (${a.by}${end})`;
}
