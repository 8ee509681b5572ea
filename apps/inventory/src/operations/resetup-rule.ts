import { MusterError, type HostGroup, type Hold, type JobKind, type NodeRecord } from '#contracts';

type Grouped = Pick<NodeRecord, 'name' | 'hostGroup' | 'status' | 'state' | 'failureDomain'>;

export interface ResetupFacts {
  nodes: Iterable<Grouped>;
  held: Readonly<Record<string, Hold>>;
  groups: readonly HostGroup[];
}

/** It takes down what serves, and sets it up again. */
export type TakesDown = Extract<JobKind, 'resetup' | 'maintenance'>;
export const takesDown = (kind: JobKind | undefined): kind is TakesDown => kind === 'resetup' || kind === 'maintenance';

/**
 * A re-setup begins with a cleanup: an edit that all of them render differently must not take them down side by side. Of
 * masters one at a time, wherever they stand, and none while no other is there to serve; of a role one at a time in each
 * failure domain. The only master there is has nobody to wait for. A maintenance is the same for masters; whose other
 * nodes go down together is for who lists them. Undefined: it may begin.
 */
export function brokenTurnRule(
  kind: TakesDown,
  requested: readonly Grouped[],
  f: ResetupFacts,
): MusterError | undefined {
  const role = (n: Grouped): HostGroup['role'] => f.groups.find((g) => g.name === n.hostGroup)?.role ?? 'none';
  const names = new Set(requested.map((n) => n.name));
  const others = [...f.nodes].filter((n) => !names.has(n.name));
  const masters = requested.filter((n) => role(n) === 'master');

  const underWay = others.filter((n) => takesDown(f.held[n.name]?.kind));
  const isNear = (n: Grouped, o: Grouped): boolean =>
    kind === 'resetup' && f.held[o.name]?.kind === 'resetup' && o.failureDomain === n.failureDomain;
  for (const n of requested) {
    const other = underWay.find((o) => role(o) === role(n) && (role(n) === 'master' || isNear(n, o)));
    if (other !== undefined) return rule(`${n.name} is set up again after ${other.name}: one at a time`);
  }
  if (masters.length > 1)
    return rule(`masters are set up again one at a time: [${masters.map((n) => n.name).join(' ')}]`);

  const master = masters[0];
  const inUse = others.filter((n) => n.status !== 'Unallocated' && n.status !== 'Decommissioned');
  const otherMasters = inUse.filter((n) => role(n) === 'master');
  if (master === undefined || otherMasters.length === 0 || !inUse.some((n) => role(n) === 'worker')) return undefined;
  // Held by a job that may take it away, or not heard: it does not serve meanwhile.
  const serves = (n: Grouped): boolean =>
    n.status === 'Allocated' && n.state === 'Discovered' && [undefined, 'check'].includes(f.held[n.name]?.kind);
  if (otherMasters.some(serves)) return undefined;
  return rule(`setting ${master.name} up again would leave only worker nodes: no other master is there to serve`);
}

const rule = (message: string): MusterError => new MusterError('ROLE_RULE', message);
