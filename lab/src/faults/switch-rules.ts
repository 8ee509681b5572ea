import type { Network } from '../plan.js';
import type { End, SwitchFault } from './switch-fault.js';

/** The ports of each switch by the ends of their cables. */
export type SwitchPorts = Record<Network, Record<End, string>>;

/** Table of the bridge family that all faults are in; it is replaced whole. */
const TABLE = 'lab';

/**
 * What nft is to read so that exactly these faults hold, in one transaction: no frame passes between an old ruleset and
 * a new one. Frames are dropped where the bridge would forward them, whatever is in them, so that ARP dies with IP as on
 * a dead cable, and the sender is told nothing (a drop on its way out would give it EPERM). A fault of an end that has
 * no port on that network holds nothing there.
 */
export function switchRules(faults: readonly SwitchFault[], ports: SwitchPorts): string {
  // Declared before it is deleted: there may be none yet.
  const replace = [`table bridge ${TABLE}`, `delete table bridge ${TABLE}`];
  const rules = faults.flatMap((f) => rulesOf(f, ports[f.network]));
  if (rules.length === 0) return `${replace.join('\n')}\n`;
  return [
    ...replace,
    `table bridge ${TABLE} {`,
    '  chain faults {',
    '    type filter hook forward priority 0; policy accept;',
    ...rules.map((r) => `    ${r}`),
    '  }',
    '}',
    '',
  ].join('\n');
}

function rulesOf(f: SwitchFault, ports: Record<End, string>): string[] {
  const some = (ends: readonly End[]): string | undefined => {
    const found = ends.flatMap((e) => (ports[e] === undefined ? [] : [`"${ports[e]}"`]));
    return found.length === 0 ? undefined : `{ ${found.join(', ')} }`;
  };
  const between = (from: readonly End[], to: readonly End[]): string[] => {
    const [i, o] = [some(from), some(to)];
    return i === undefined || o === undefined ? [] : [`iifname ${i} oifname ${o} counter drop`];
  };
  switch (f.kind) {
    case 'cut':
      return between([f.from], [f.to]);
    case 'partition':
      return f.sides.flatMap((a) => f.sides.flatMap((b) => (a === b ? [] : between(a, b))));
    case 'down':
      return [`iifname ${some(Object.keys(ports))} counter drop`];
    case 'loss': {
      // nft takes no comparison that always holds.
      const lost = f.permille < 1000 ? `numgen random mod 1000 < ${f.permille} counter drop` : 'counter drop';
      const set = some(f.end === undefined ? Object.keys(ports) : [f.end]);
      if (set === undefined) return [];
      // What an end has sent comes into the switch at its port.
      const [sent, received] = [`iifname ${set} ${lost}`, `oifname ${set} ${lost}`];
      if (f.end === undefined || f.direction === 'sent') return [sent];
      return f.direction === 'received' ? [received] : [sent, received];
    }
  }
}
