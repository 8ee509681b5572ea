import type { WorkloadRecord } from '#contracts';
import type { Bar } from '#domain/workload/bar.js';
import { leftOut } from '#domain/workload/failed-starts.js';
import { placeWorkloads, type Placement } from '#domain/workload/placement.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutWorkload, decideTogether, eachRecord } from '../each-record.js';
import type { FailRecord } from '../intent.js';
import { candidateNodes } from './candidate-nodes.js';
import { startCheck } from './start-check.js';

/** Where these would go, if all of them were placed now. */
export function placesFor(fleet: Fleet, waiting: readonly WorkloadRecord[]): Places {
  // Most rounds: then no host is looked at.
  if (waiting.length === 0) return NO_PLACES;
  const known = placements(fleet);
  const key = waiting.map((w) => w.name).join('/');
  const places = known.get(key) ?? place(fleet, waiting);
  known.set(key, places);
  return places;
}

/** By workload; and the workloads and nodes that could not be judged. */
export interface Places {
  readonly made: ReadonlyMap<string, Placement>;
  readonly failed: readonly FailRecord[];
}

const NO_PLACES: Places = { made: new Map(), failed: [] };

/** Of many workloads and nodes it takes long, and is asked for by who keeps the ages and by who plans. */
const placements = perFleet(() => new Map<string, Places>());

function place(fleet: Fleet, waiting: readonly WorkloadRecord[]): Places {
  const all = candidateNodes(fleet);
  const { made, failed } = decideTogether(
    waiting,
    ({ name: workload }) => ({ workload }),
    (some) =>
      placeWorkloads(
        some.map((w) => ({ ...w, leftOut: leftOut(w, fleet.wallMs) })),
        all.made,
      ),
  );
  return { made: new Map(made.map((p) => [p.workload, p])), failed: [...all.failed, ...failed] };
}

/** One that shall run, and is assigned nowhere: it is placed, unless it is barred. */
export const isUnplaced = (w: WorkloadRecord): boolean =>
  w.desired === 'running' && w.stop === undefined && w.assignment === undefined;

/**
 * Workloads that are placed nowhere for want of room alone: what is seen to run somewhere is no matter of room.
 * @param barred see {@link barred} of barred.ts: these are placed nowhere, whatever room there is
 */
export function withoutRoom(fleet: Fleet, barred: ReadonlyMap<string, Bar>): ReadonlySet<string> {
  // What cannot be judged is told of by who starts it.
  const unplaced = eachRecord(fleet.workloads.list, aboutWorkload, ({ value: w }) =>
    isUnplaced(w) && !barred.has(w.name) ? [w] : [],
  ).made;
  const none = [...placesFor(fleet, unplaced).made.values()].filter((p) => p.to === undefined);
  return new Set(none.map((p) => p.workload).filter((name) => startCheck(fleet, name, '').kind !== 'elsewhere'));
}
