/** Rows of cells, the head first, as a table that prettier leaves as it is. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...rest] = rows;
  const widths = head.map((_, i) => Math.max(3, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, i) => (cells[i] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

/** Where a machine begins, and where it has ended for good. */
export const OUTSIDE = '[*]';

/** An arrow of a picture. */
export interface Arrow {
  from: string;
  to: string;
  /** Why, in a few words without a colon. */
  label?: string;
}

/** A state diagram of Mermaid; several arrows between the same two states become one, with all labels. */
export function stateDiagram(arrows: readonly Arrow[]): string {
  const labels = new Map<string, Set<string>>();
  for (const { from, to, label } of arrows) {
    const key = `${idOf(from)} --> ${idOf(to)}`;
    const known = labels.get(key) ?? new Set();
    if (label !== undefined) known.add(label);
    labels.set(key, known);
  }
  const named = [...new Set(arrows.flatMap((a) => [a.from, a.to]))].filter((s) => idOf(s) !== s);
  const lines = [
    ...named.map((s) => `state "${s}" as ${idOf(s)}`),
    ...[...labels].map(([arrow, all]) => (all.size === 0 ? arrow : `${arrow}: ${[...all].join(', ')}`)),
  ];
  return ['```mermaid', 'stateDiagram-v2', ...lines.map((text) => `    ${text}`), '```'].join('\n');
}

/** Mermaid takes no hyphen and no space in a name. */
const idOf = (state: string): string => (state === OUTSIDE ? state : state.replaceAll(/[^A-Za-z0-9]+/g, '_'));
