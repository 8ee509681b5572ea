import type { NodeRecord } from '#contracts';

/**
 * A node in the shape of a registration: imported again it changes nothing. Passwords stay where they are, and what has
 * its default is left out.
 */
export function exportedRow(n: NodeRecord): Record<string, unknown> {
  return {
    name: n.name,
    label: n.label,
    serial: n.serial,
    ...(n.hostGroup !== undefined && { hostGroup: n.hostGroup }),
    failureDomain: n.failureDomain,
    networks: n.networks,
    ...(n.powerLevels.length > 0 && {
      powerLevels: n.powerLevels.map((level) => level.map(({ secret: _stays, ...device }) => device)),
    }),
    provisionDriver: n.provisionDriver,
    fencing: n.fencing,
    ...(!n.enrolled && { enrolled: false }),
    ...varsOf(n),
  };
}

function varsOf(n: NodeRecord): { vars?: Record<string, unknown> } {
  const vars = Object.entries(n.vars).filter(([, value]) => value !== null);
  return vars.length === 0 ? {} : { vars: Object.fromEntries(vars) };
}
