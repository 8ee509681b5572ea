import type { ClustermNode } from '#contracts';
import { indented } from './nested.js';

const sections: [title: string, part: keyof ClustermNode][] = [
  ['Inventory State', 'inventory_state'],
  ['Monitoring State', 'monitoring_state'],
  ['Configuration State', 'configuration_state'],
];

/** A node as `clusterctl` printed it, line for line: scripts read this. */
export function clustermLines(node: ClustermNode): string[] {
  const { name } = node.inventory_state;
  return sections
    .flatMap(([title, part]) => [title, ...indented(node[part], '   ')])
    .map((line) => `${name}: ${line}`)
    .concat('');
}
