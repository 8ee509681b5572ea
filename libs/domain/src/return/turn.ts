import type { HostGroup, Hold, JobKind, NodeRecord } from '#contracts';
import { isInUse, isServingMaster, roleOf } from '../node/roles.js';

type Grouped = Pick<NodeRecord, 'name' | 'hostGroup' | 'status' | 'state' | 'failureDomain'>;

export interface TurnFacts {
  nodes: Iterable<Grouped>;
  held: Readonly<Record<string, Hold>>;
  groups: readonly HostGroup[];
}

/** It takes down what serves, and sets it up again. */
export type TakesDown = Extract<JobKind, 'resetup' | 'maintenance'>;
export const takesDown = (kind: JobKind | undefined): kind is TakesDown => kind === 'resetup' || kind === 'maintenance';

interface TurnCase extends Pick<TurnFacts, 'held' | 'groups'> {
  kind: TakesDown;
  requested: readonly Grouped[];
  others: readonly Grouped[];
  role: (n: Grouped) => HostGroup['role'];
  masters: readonly Grouped[];
}

export interface TurnRow {
  when: (c: TurnCase) => boolean;
  /** What is done is that they wait; this is why, to whoever asked. */
  why: (c: TurnCase) => string;
  /** For people. */
  reason: string;
}

/** One of the requested nodes, and one that is taken down now and is of its kind. */
function pairUnderWay({ kind, requested, others, held, role }: TurnCase): [Grouped, Grouped] | undefined {
  const underWay = others.filter((n) => takesDown(held[n.name]?.kind));
  const isNear = (n: Grouped, o: Grouped): boolean =>
    kind === 'resetup' && held[o.name]?.kind === 'resetup' && o.failureDomain === n.failureDomain;
  for (const n of requested) {
    const other = underWay.find((o) => role(o) === role(n) && (role(n) === 'master' || isNear(n, o)));
    if (other !== undefined) return [n, other];
  }
  return undefined;
}

function leavesOnlyWorkers({ masters: [master], others, held, groups, role }: TurnCase): boolean {
  const inUse = others.filter(isInUse);
  const otherMasters = inUse.filter((n) => role(n) === 'master');
  if (master === undefined || otherMasters.length === 0 || !inUse.some((n) => role(n) === 'worker')) return false;
  // Held by a job that may take it away: it does not serve meanwhile.
  const isLeftAlone = (n: Grouped): boolean => [undefined, 'check'].includes(held[n.name]?.kind);
  return !otherMasters.some((n) => isServingMaster(n, groups) && isLeftAlone(n));
}

/**
 * A re-setup begins with a cleanup: an edit that all of them render differently must not take them down side by side. Of
 * masters one at a time, wherever they stand, and none while no other is there to serve; of a role one at a time in each
 * failure domain. The only master there is has nobody to wait for. A maintenance is the same for masters; whose other
 * nodes go down together is for who lists them. They wait by the first row that holds; where none does, they begin.
 */
export const turnTable = {
  OTHER_UNDER_WAY: {
    when: (c) => pairUnderWay(c) !== undefined,
    why: (c) => `${(pairUnderWay(c) ?? []).map((n) => n.name).join(' is set up again after ')}: one at a time`,
    reason: 'another master is being set up again; or one of its role, in its failure domain',
  },
  SEVERAL_MASTERS: {
    when: ({ masters }) => masters.length > 1,
    why: ({ masters }) => `masters are set up again one at a time: [${masters.map((n) => n.name).join(' ')}]`,
    reason: 'several masters are asked for at once',
  },
  NO_OTHER_MASTER: {
    when: leavesOnlyWorkers,
    why: ({ masters }) =>
      `setting ${masters[0]?.name ?? ''} up again would leave only worker nodes: no other master is there to serve`,
    reason: 'it is a master, there are workers, and none of the other masters is there to serve',
  },
} as const satisfies Readonly<Record<string, TurnRow>>;

/** Why these nodes may not be taken down now; undefined: their turn has come. */
export function brokenTurn(kind: TakesDown, requested: readonly Grouped[], f: TurnFacts): string | undefined {
  const role = (n: Grouped): HostGroup['role'] => roleOf(f.groups, n.hostGroup);
  const names = new Set(requested.map((n) => n.name));
  const others = [...f.nodes].filter((n) => !names.has(n.name));
  const masters = requested.filter((n) => role(n) === 'master');
  const c: TurnCase = { kind, requested, others, held: f.held, groups: f.groups, role, masters };
  return Object.values<TurnRow>(turnTable)
    .find((row) => row.when(c))
    ?.why(c);
}
