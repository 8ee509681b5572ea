import { isOpenIncident, type IncidentRecord, type NodeRecord, type Report, type RunningWorkload } from '#contracts';
import { rulesOut, type LastWord } from './last-word.js';

/** What must be known of every node before a workload may be started on one of them. */
export interface StartFacts {
  workload: string;
  /** Empty: it has no place yet. */
  target: string;
  /** Every node whose agent must have answered: see {@link mustAnswer}. */
  mustAnswer: readonly string[];
  /** Silent nodes that are to be fenced, and are not proven off. They hold nothing but what they named last. */
  unproven: readonly string[];
  /** Reports that are fresh on the asker's clock, of any node whatever its standing: a fenced node that speaks counts. */
  fresh: readonly Pick<Report, 'node' | 'workloads' | 'bootId'>[];
  /** Of a node that does not answer; undefined: nothing is known of it. */
  lastWord: (node: string) => LastWord | undefined;
}

/** It runs on another node, or may soon: the registry is wrong, not the world. */
export interface SeenElsewhere {
  kind: 'elsewhere';
  node: string;
  /** Of that run; undefined: it is only being started there. */
  generation: number | undefined;
  /** It is only being started there: the start gate of that node may still refuse it. */
  starting?: {
    /** The target, while it has not said that it does not run it: its own gate may have let it through before it fell silent. */
    awaits?: string;
  };
}

export type StartCheck =
  | { kind: 'clear' }
  /** It runs on the target already. */
  | { kind: 'there' }
  | SeenElsewhere
  /** It may be on these: they did not say what they run, or named it last and are not proven off. */
  | { kind: 'unknown'; nodes: string[] };

/**
 * Where a workload may be running unknown to us: in service by its records, whatever workers and detector are doing;
 * who leaves service and has not been emptied yet; and whoever counts as off, or soon will, and speaks all the same: a living node that cannot say what it runs.
 */
export const mustAnswer = (
  n: Pick<NodeRecord, 'enrolled' | 'status' | 'state'>,
  isBeingFenced: boolean,
  speaks: boolean,
  hasWork: () => boolean,
): boolean =>
  n.enrolled && (isBeingFenced ? speaks : n.state === 'Discovered' && (n.status === 'Allocated' || hasWork()));

/**
 * Silent in an open incident, and not off by its record: what it said last to run there may go on. What is assigned to it
 * waits for the proof in any case; a copy that it ran beside its own node's must, too. With a proof its record says that it
 * is off, unless it has come back since; between `fenced` and that record nothing is started yet.
 */
export const isUnproven = (
  n: Pick<NodeRecord, 'enrolled' | 'confirmedOff'>,
  incident: IncidentRecord | undefined,
  speaks: boolean,
): boolean =>
  n.enrolled &&
  n.confirmedOff === undefined &&
  !speaks &&
  incident !== undefined &&
  isOpenIncident(incident) &&
  incident.phase !== 'fenced';

/**
 * - Seen running elsewhere is stronger than everything else, and seen on the target than being started elsewhere.
 * - A node without an answer holds the start, unless its last word rules the workload out.
 * - A node that is not proven off holds it where its last word named it.
 * - The target has to answer in any case, since its start gate must be able to ask.
 */
export function checkStart(f: StartFacts): StartCheck {
  const running = new Map(
    f.fresh.flatMap(({ node, workloads }) => {
      const run = workloads?.find((w) => w.name === f.workload);
      return run === undefined ? [] : [[node, run] as const];
    }),
  );
  const isStarting = (node: string): boolean => running.get(node)?.starting === true;
  const others = [...running.keys()].filter((n) => n !== f.target).sort();
  const runsOn = others.find((n) => !isStarting(n));
  if (runsOn !== undefined) return { kind: 'elsewhere', node: runsOn, generation: running.get(runsOn)?.generation };
  const runsThere = running.has(f.target);
  const [startsOn] = others;
  if (startsOn !== undefined && !(runsThere && !isStarting(f.target))) {
    const saysNo = !runsThere && answeredIn(f).has(f.target);
    const starting = saysNo || f.target === '' ? {} : { awaits: f.target };
    return { kind: 'elsewhere', node: startsOn, generation: undefined, starting };
  }
  // A unit that is only being started there says nothing of the others: its gate may have refused it.
  if (runsThere && !isStarting(f.target)) return { kind: 'there' };
  const nodes = unheardOf(f);
  if (nodes.length > 0) return { kind: 'unknown', nodes };
  return { kind: runsThere ? 'there' : 'clear' };
}

/** Nodes on which it may run beside all that is seen: each has to speak, or to be ruled out, before it is started anew. */
export function unheardOf(f: StartFacts): string[] {
  const answered = answeredIn(f);
  const isRuledOut = (node: string): boolean => {
    const word = node === f.target ? undefined : f.lastWord(node);
    return word !== undefined && rulesOut(word, f.workload);
  };
  // A unit that was only at its gate is refused there: the work is assigned to another node.
  const mayGoOn = (w: RunningWorkload): boolean => w.name === f.workload && !(w.starting === true && w.gated === true);
  const silent = f.mustAnswer.filter((n) => !answered.has(n) && !isRuledOut(n));
  const mayRun = f.unproven.filter((n) => {
    const word = n === f.target ? undefined : f.lastWord(n);
    // Of a boot that has not said what it runs: what it starts without asking.
    return word?.workloads?.some(mayGoOn) ?? word?.mayStartByItself(f.workload) ?? false;
  });
  return [...new Set([...silent, ...mayRun])].sort();
}

const answeredIn = ({ fresh }: StartFacts): ReadonlySet<string> =>
  new Set(fresh.filter((r) => r.workloads !== undefined).map((r) => r.node));
