import { NODE_NAME_PATTERN } from '#contracts/names/names.js';
import type { NodeView } from '#contracts';
import type { Run } from '../command/command.js';
import { Failure, UsageFailure } from '../failure/failure.js';

/** Names in one query: a request line holds 16 KB. */
const NAMES_PER_QUERY = 100;

export const nodePath = (name: string): string => `/v1/nodes/${encodeURIComponent(name)}`;

/** Nodes by name, unknown ones left out; by selector; or all. @throws Failure */
export async function fetchNodes(run: Run, names: string[], selector?: string): Promise<NodeView[]> {
  if (names.length > 0 && selector !== undefined) throw new UsageFailure('either names or --selector');
  if (selector !== undefined)
    return run.server.all<NodeView>(`/v1/nodes?${new URLSearchParams({ selector }).toString()}`);
  if (names.length === 0) return run.server.all<NodeView>('/v1/nodes');
  const known = names.filter((name) => NODE_NAME_PATTERN.test(name));
  const found: NodeView[] = [];
  for (let i = 0; i < known.length; i += NAMES_PER_QUERY)
    found.push(...(await run.server.all<NodeView>(`/v1/nodes?names=${known.slice(i, i + NAMES_PER_QUERY).join(',')}`)));
  return found;
}

/** The nodes that a command is to work on: as named, or those of the selector. @throws Failure where there are none */
export async function chosenNodes(run: Run, names: string[], selector?: string): Promise<string[]> {
  if (selector === undefined) {
    if (names.length === 0) throw new UsageFailure('name the nodes, or choose them by --selector');
    return names;
  }
  const chosen = (await fetchNodes(run, names, selector)).map((node) => node.name);
  if (chosen.length === 0) throw new Failure(`no node matches ${selector}`);
  return chosen;
}
