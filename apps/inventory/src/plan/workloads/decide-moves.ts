import type { Move, WorkloadRecord } from '#contracts';
import { shouldReport } from '#domain/node/membership.js';
import type { WorkloadEvent } from '#domain/workload/changes.js';
import { isFailing, leftOut, START_FAILED, TRIES_OF_ONE_ORDER } from '#domain/workload/failed-starts.js';
import { failedStart, failedStop } from '#domain/workload/failed-tries.js';
import { placeWorkloads, type CandidateNode } from '#domain/workload/placement.js';
import { startReasons, startRefusal } from '#domain/workload/start-decision.js';
import type { Unheard } from '#domain/workload/where-it-runs.js';

/** Moves under way over the whole fleet, so that they never keep recoveries waiting. From one node there is one. */
export const MOVES_AT_ONCE = 4;

/** All that is known as of now; reports are those that are fresh on the asker's clock. */
export interface MoveFacts {
  /** Node that is to be emptied → cause of the moves away from it. */
  leaving: ReadonlyMap<string, string>;
  workloads: readonly WorkloadRecord[];
  candidates: readonly CandidateNode[];
  /** What the node's own report names; undefined: it is silent, or cannot say. */
  reported(node: string): ReadonlySet<string> | undefined;
  /** The node has an incident that may yet power it off: what runs there is the incident's. */
  isInIncident(node: string): boolean;
  /** Nodes that must speak, or be proven off, before this workload is started anywhere else. */
  unheard(workload: string): Unheard;
  /** Wall clock. */
  now: number;
}

/** What is written of a workload that begins to leave. `at`: wall clock. */
export const beginning = ({ move, generation }: MovePlan['begin'][number], at: number): WorkloadEvent =>
  move.cause === START_FAILED ? { kind: 'given-up', move, generation, at } : { kind: 'move-ordered', move, generation };

export interface MovePlan {
  begin: { workload: string; generation: number; move: Move }[];
  /** Shall not run, and does not: they only have to be assigned elsewhere than here. */
  release: { workload: string; node: string }[];
  /** Node → what stands in the way, in sentences; nodes that make progress are left out. */
  stuck: Map<string, string[]>;
}

/**
 * Which workloads begin to leave. A workload is stopped only when there is a place for it; the next one of a node
 * follows when the one before runs again, or has failed so often that nothing waits for it any longer. What a node does not
 * get started leaves it too, to one that has not failed to start it.
 */
export function decideMoves(f: MoveFacts): MovePlan {
  const plan: MovePlan = { begin: [], release: [], stuck: new Map() };
  // Most rounds: nobody leaves, nothing is under way, and all that was started runs.
  if (f.leaving.size === 0 && !f.workloads.some((w) => w.move !== undefined || isFailing(w))) return plan;
  const stuck = (node: string, why: string): void => void plan.stuck.set(node, [...(plan.stuck.get(node) ?? []), why]);
  const moving = f.workloads.filter((w) => w.move !== undefined);
  // What has left an empty node, and has no place elsewhere, no longer hinders that.
  const hasWork = new Set(f.workloads.flatMap(nodeOf));
  for (const w of moving) {
    const from = w.move?.from ?? '';
    const isThere = w.assignment?.node === from;
    const obstacle =
      isThere && f.reported(from) === undefined
        ? `${w.name}: ${startReasons.SOURCE_SILENT({ isSilent: true })}`
        : obstacleOf(w);
    if (obstacle !== undefined && f.leaving.has(from) && hasWork.has(from)) stuck(from, obstacle);
  }
  const waiting: WorkloadRecord[] = [];
  for (const node of f.leaving.keys()) {
    const here = f.workloads.filter((w) => w.assignment?.node === node);
    const reported = f.reported(node);
    for (const w of here)
      if (w.desired === 'stopped' && w.stop === undefined && reported?.has(w.name) === false)
        plan.release.push({ workload: w.name, node });
    // One that has only just been sent here by another move goes on: it would never be started on a node that is out.
    const running = here.filter((w) => w.desired === 'running' && w.stop === undefined);
    const hindrances = running.map((w) => hindranceOf(w.name, node, reported, f));
    waiting.push(...running.filter((_w, i) => hindrances[i] === undefined));
    for (const why of new Set(hindrances)) if (why !== undefined) stuck(node, why);
  }

  const failing = f.workloads.filter((w) => {
    const node = w.assignment?.node;
    return (
      isFailing(w) && node !== undefined && !f.leaving.has(node) && !hindranceOf(w.name, node, f.reported(node), f)
    );
  });
  const byName = new Map([...waiting, ...failing].map((w) => [w.name, w]));
  const busy = new Set(moving.filter((w) => !isGivenUp(w)).map((w) => w.move?.from ?? ''));
  let free = MOVES_AT_ONCE - moving.filter((w) => !isGivenUp(w) && !waits(w, f)).length;
  // Out of service they are too, as soon as every view has followed.
  const candidates = f.candidates.filter((h) => !f.leaving.has(h.name));
  const isLeaving = (node: string): boolean => f.leaving.has(node);
  const lastFor = (w: WorkloadRecord): string[] => [...leftOut(w, f.now), ...(isFailing(w) ? nodeOf(w) : [])];
  const toPlace = [...waiting, ...failing].map((w) => ({ ...w, leftOut: lastFor(w) }));
  for (const p of placeWorkloads(toPlace, candidates)) {
    const w = byName.get(p.workload);
    const from = w?.assignment?.node;
    if (w === undefined || from === undefined) continue;
    // Nowhere else is it any better: it is tried on where it is.
    if (!isLeaving(from) && (p.to === undefined || lastFor(w).includes(p.to))) continue;
    if (p.to === undefined) stuck(from, `${w.name}: ${p.why}`);
    else if (free > 0 && !busy.has(from)) {
      busy.add(from);
      free -= 1;
      const move: Move = { cause: f.leaving.get(from) ?? START_FAILED, from, to: p.to };
      plan.begin.push({ workload: w.name, generation: w.generation, move });
    }
  }
  return plan;
}

const nodeOf = (w: WorkloadRecord): string[] => (w.assignment === undefined ? [] : [w.assignment.node]);

/** Why it cannot be moved away from its node now. */
function hindranceOf(
  workload: string,
  node: string,
  reported: ReadonlySet<string> | undefined,
  f: MoveFacts,
): string | undefined {
  const unheard = f.unheard(workload);
  const facts = {
    name: workload,
    isInIncident: f.isInIncident(node),
    isSilent: reported === undefined,
    unheard: { ...unheard, silent: unheard.silent.filter((n) => n !== node) },
  };
  return startRefusal('move', facts)?.why;
}

const isGivenUp = (w: WorkloadRecord): boolean => (w.stop?.attempt ?? w.start?.attempt ?? 0) >= TRIES_OF_ONE_ORDER;

/** It makes no work as long as its node is silent, or there is no room for it: others need not wait for that. */
const waits = (w: WorkloadRecord, f: MoveFacts): boolean =>
  w.assignment === undefined
    ? w.held !== undefined
    : w.assignment.node === w.move?.from && f.reported(w.assignment.node) === undefined;

/** Of a move that has begun. */
function obstacleOf(w: WorkloadRecord): string | undefined {
  const obstacle = failedStop(w) ?? failedStart(w) ?? w.held;
  return obstacle === undefined ? undefined : `${w.name}: ${obstacle}`;
}

/**
 * What speaks against "everything has left the node"; undefined: nothing. The registry and the node's own word must
 * agree; of a node that runs no agent, or is proven off, the registry's word is enough.
 */
export function notEmptyBecause(
  node: { name: string; enrolled: boolean; confirmedOff?: unknown },
  workloads: readonly WorkloadRecord[],
  reported: ReadonlySet<string> | undefined,
): string | undefined {
  const here = workloads.filter((w) => w.assignment?.node === node.name).map((w) => w.name);
  if (here.length > 0) return `${here.sort().join(', ')} assigned to it.`;
  if (!shouldReport(node)) return undefined;
  if (reported === undefined) return 'It does not say what it runs.';
  return reported.size === 0 ? undefined : `It reports ${[...reported].sort().join(', ')}, assigned elsewhere.`;
}
