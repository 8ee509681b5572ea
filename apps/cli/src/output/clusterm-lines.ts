import type { ClustermNode } from '#contracts';

const sections: [title: string, part: keyof ClustermNode][] = [
  ['Inventory State', 'inventory_state'],
  ['Monitoring State', 'monitoring_state'],
  ['Configuration State', 'configuration_state'],
];

/** A node as `clusterctl` printed it, line for line: scripts read this. */
export function clustermLines(node: ClustermNode): string[] {
  const { name } = node.inventory_state;
  return sections
    .flatMap(([title, part]) => [title, ...members(node[part], '   ')])
    .map((line) => `${name}: ${line}`)
    .concat('');
}

function members(value: object, indent: string): string[] {
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, inner]: [string, unknown]) =>
      typeof inner === 'object' && inner !== null
        ? [`${indent}${key}:`, ...members(inner, `${indent}    `)]
        : [`${indent}${key}: ${String(inner)}`],
    );
}
