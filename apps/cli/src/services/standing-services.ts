import type { NodeView, ServiceFinding } from '#contracts';
import { ABSENT } from '#contracts/services/service-file.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';

/** A service as the nodes know it. */
export interface StandingService {
  name: string;
  /** By their last checks; several while a change is on its way, that of the newest check first. */
  versions: string[];
  /** Host group → mode, of the groups that have nodes. */
  groups: Record<string, string>;
  /** Nodes that have it. */
  nodes: string[];
  /** Nodes that have it or must not have it, and on which the last check found it ok. */
  ok: number;
  /** Where it found something else, or could not check: since when, and when it checked last. */
  findings: ({ node: string; at: number } & Pick<ServiceFinding, 'result' | 'why' | 'since'>)[];
}

interface NodeFinding {
  node: NodeView;
  at: number;
  finding: ServiceFinding;
}

/** By name; from what inventory keeps of the last check, or set-up, of each node. */
export function standingServices(nodes: readonly NodeView[]): StandingService[] {
  const found = new Map<string, NodeFinding[]>();
  const has = new Map<string, Set<string>>();
  const on = (service: string, node: string): void => void has.set(service, (has.get(service) ?? new Set()).add(node));
  for (const node of nodes) {
    for (const [name, finding] of Object.entries(node.findings?.services ?? {})) {
      found.set(name, [...(found.get(name) ?? []), { node, at: node.findings?.at ?? 0, finding }]);
      if (finding.mode !== ABSENT) on(name, node.name);
    }
    for (const name of node.provisioned?.services ?? [])
      if (node.findings === undefined || !Object.hasOwn(node.findings.services, name)) on(name, node.name);
  }
  const names = [...new Set([...found.keys(), ...has.keys()])].sort();
  return names.map((name) => standing(name, found.get(name) ?? [], [...(has.get(name) ?? [])].sort()));
}

function standing(name: string, found: readonly NodeFinding[], nodes: string[]): StandingService {
  const newest = found.toSorted((a, b) => b.at - a.at);
  const modes = newest
    .toReversed()
    .flatMap(({ node, finding }) =>
      node.hostGroup === undefined || finding.mode === undefined ? [] : [[node.hostGroup, finding.mode] as const],
    );
  const bad = found.filter((f) => f.finding.result !== 'ok');
  return {
    name,
    versions: [...new Set(newest.flatMap((f) => f.finding.version ?? []))],
    groups: Object.fromEntries(modes.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))),
    nodes,
    ok: found.length - bad.length,
    findings: bad
      .map(({ node, at, finding: { result, why, since } }) => ({ node: node.name, result, why, since, at }))
      .sort((a, b) => (a.node < b.node ? -1 : 1)),
  };
}

/** So many of one kind stand in a cell. */
const MOST_SHOWN = 8;

export const standingServicesView = (terminal: Terminal): View<StandingService> => ({
  name: (s) => s.name,
  head: ['SERVICE', 'VERSION', 'GROUPS', 'NODES', 'ON', 'LAST FOUND'],
  row: (s) => [
    s.name,
    s.versions.join(', ') || '-',
    shown(Object.entries(s.groups).map(([group, mode]) => `${group}: ${mode}`)) || '-',
    String(s.nodes.length),
    shown(s.nodes, ' '),
    shown([
      ...s.findings.map((f) => `${f.result} on ${f.node} since ${moment(f.since, terminal)}`),
      ...(s.ok > 0 ? [`ok on ${s.ok}`] : []),
    ]) || 'not looked at yet',
  ],
  none: 'no node has been set up yet by this version',
});

const shown = (all: readonly string[], between = ', '): string =>
  all.slice(0, MOST_SHOWN).join(between) + (all.length > MOST_SHOWN ? `${between}… (${all.length})` : '');
