import type { ClustermNode } from '#contracts';
import { indented } from './nested.js';

export type Section = [title: string, facts: object];

export const clustermSections = (node: ClustermNode): Section[] => [
  ['Inventory State', node.inventory_state],
  ['Monitoring State', node.monitoring_state],
  ['Configuration State', node.configuration_state],
];

/** Each line with the name in front, so that grep finds whole facts; an empty one at the end. */
export const sectionLines = (name: string, sections: Section[]): string[] =>
  sections
    .flatMap(([title, facts]) => [title, ...indented(facts, '   ')])
    .map((line) => `${name}: ${line}`)
    .concat('');
